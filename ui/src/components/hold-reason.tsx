import { Link } from "react-router-dom";

import { policyOfReason } from "../lib/policy";

/** The reason why a job is held. The name of a policy links to the approval policies. */
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
