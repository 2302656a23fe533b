// The operations that the server refuses to the caller. Their buttons are disabled and explain which roles are required.
import { createContext, useContext } from "react";

import type { Operation } from "../api/client";
import type { Permissions } from "../api/types";

type Refusal = Permissions["refused"][number];

function whoMay({ roles, resource, action, whole_server }: Refusal): string {
  const names = roles.length === 0 ? "" : `the role ${roles.join(" or ")}, or `;
  const where = whole_server ? ", in the default namespace and without a queue scope" : "";
  return `Requires ${names}a custom role that grants ${resource}: ${action}${where}`;
}

/** Returns why the caller may not use an operation. Undefined if it may, or if that is not known yet. */
export type RefusalOf = (operation: Operation) => string | undefined;

const BASE = "/api/v1";

/** Remove the parameter names: two operations on the same path may have different names for its parameters. */
const nameless = (operation: string): string => operation.replace(/\{\w+\}/g, "{}");

export function refusalsOf(permissions: Permissions | undefined): RefusalOf {
  const refused = permissions?.refused ?? [];
  const reasons = new Map(refused.map((one) => [nameless(`${one.method} ${one.path.slice(BASE.length)}`), whoMay(one)]));
  return (operation) => reasons.get(nameless(operation));
}

const RefusalContext = createContext<RefusalOf>(() => undefined);
export const RefusalProvider = RefusalContext.Provider;
export const useRefusals = (): RefusalOf => useContext(RefusalContext);
