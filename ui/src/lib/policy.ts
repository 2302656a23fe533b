// What an approval policy checks in an agent's job (http-api.md 17.4).
import type { Policy, PolicyInput } from "../api/types";

/** The fields of the form. Blank means not set. */
export interface PolicyForm {
  name: string;
  queue: string;
  tagKey: string;
  tagValue: string;
  mode: "any" | "all";
  enabled: boolean;
  allNamespaces: boolean;
}

export const formOf = (policy: Policy | null): PolicyForm => ({
  name: policy?.name ?? "",
  queue: policy?.queue ?? "",
  tagKey: policy?.tag_key ?? "",
  tagValue: policy?.tag_value ?? "",
  mode: policy?.mode === "all" ? "all" : "any",
  enabled: policy?.enabled ?? true,
  allNamespaces: policy?.all_namespaces ?? false,
});

/** Convert the form to a request. A value without a tag has no meaning and is left out. */
export function toInput(form: PolicyForm): PolicyInput {
  const queue = form.queue.trim();
  const key = form.tagKey.trim();
  return {
    name: form.name.trim(),
    mode: form.mode,
    enabled: form.enabled,
    ...(form.allNamespaces ? { all_namespaces: true } : {}),
    ...(queue === "" ? {} : { queue }),
    ...(key === "" ? {} : { tag_key: key, tag_value: form.tagValue.trim() }),
  };
}

type Checked = Pick<PolicyInput, "queue" | "tag_key" | "tag_value">;

export function checksOf({ queue = "", tag_key = "", tag_value = "" }: Checked): string[] {
  return [
    ...(queue === "" ? [] : [`queue is ${queue}`]),
    ...(tag_key === "" ? [] : [`tag ${tag_key} is ${tag_value === "" ? "missing or empty" : tag_value}`]),
  ];
}

/** The word that joins the checks. */
export const joiner = (mode: string | undefined): string => (mode === "all" ? "and" : "or");

const MATCHED = "approval policy matched: ";

/** Return the name of the policy in a hold reason. Null if the job is held for another reason. */
export const policyOfReason = (reason: string): string | null =>
  reason.startsWith(MATCHED) ? reason.slice(MATCHED.length) : null;
