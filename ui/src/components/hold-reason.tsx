import { Link } from "react-router-dom";

import { policyOfReason } from "../lib/policy";

/** Why a job is held; the policy that held it leads to where policies are. */
export function HoldReason({ reason }: { reason: string }) {
  const policy = policyOfReason(reason);
  return policy === null ? (
    <>{reason}</>
  ) : (
    <>
      approval policy matched:{" "}
      <Link className="in-text" to="/approval-policies">
        {policy}
      </Link>
    </>
  );
}
