// Rows as files (ui.md 8).
import type { JobSummary } from "../api/types";

const COLUMNS = [
  "id",
  "queue",
  "state",
  "priority",
  "attempt",
  "max_retries",
  "created_at",
  "started_at",
  "completed_at",
  "failed_at",
] as const satisfies readonly (keyof JobSummary)[];

function field(value: string | number | undefined): string {
  let text = value === undefined ? "" : String(value);
  // A spreadsheet takes a text that begins like this for a formula, and runs it.
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) {
    text = `'${text}`;
  }
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function toCsv(jobs: readonly JobSummary[]): string {
  const lines = jobs.map((job) => COLUMNS.map((name) => field(job[name])).join(","));
  return [COLUMNS.join(","), ...lines].join("\r\n") + "\r\n";
}

export const toJson = (jobs: readonly JobSummary[]): string => JSON.stringify(jobs, null, 2) + "\n";

export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
