import type { AuditEntry } from "../api/types";

/** Return the comment on a decision: POST /jobs/{id}/approve?comment=… */
export const commentOf = ({ metadata: { query } }: AuditEntry): string | null =>
  typeof query === "string" ? new URLSearchParams(query).get("comment") : null;

/** Return the action on a job as a word: the end of the path, or "delete". */
export const actionOf = ({ method, path }: AuditEntry): string =>
  method === "DELETE" ? "delete" : (path.split("/")[5] ?? method.toLowerCase());
