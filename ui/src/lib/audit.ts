import type { AuditEntry } from "../api/types";

/** What was said about a decision: POST /jobs/{id}/approve?comment=… */
export const commentOf = ({ metadata: { query } }: AuditEntry): string | null =>
  typeof query === "string" ? new URLSearchParams(query).get("comment") : null;

/** What was done to a job, as a word: the end of the path, or the deletion of the whole. */
export const actionOf = ({ method, path }: AuditEntry): string =>
  method === "DELETE" ? "delete" : (path.split("/")[5] ?? method.toLowerCase());
