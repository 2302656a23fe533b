// Export rows to files (ui.md 8). An export contains all jobs that match the filter. It is read page
// by page and built from the parts of a Blob, which the browser keeps outside of the page's memory.
import type { JobSummary, SearchAnswer, SearchRequest } from "../api/types";

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
  "last_error",
  "payload",
] as const satisfies readonly (keyof JobSummary)[];

function field(value: unknown): string {
  let text = value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
  // A spreadsheet would run a text that begins like this as a formula.
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) {
    text = `'${text}`;
  }
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The text before and after the rows, and how a row is written, with the separator before it if it is not the first. */
interface Format {
  type: string;
  head: string;
  row: (job: JobSummary, first: boolean) => string;
  tail: string;
}

export const FORMATS = {
  csv: {
    type: "text/csv",
    head: COLUMNS.join(",") + "\r\n",
    row: (job) => COLUMNS.map((name) => field(job[name])).join(",") + "\r\n",
    tail: "",
  },
  json: {
    type: "application/json",
    head: "[",
    row: (job, first) => (first ? "\n" : ",\n") + JSON.stringify(job, null, 2),
    tail: "\n]\n",
  },
} as const satisfies Record<string, Format>;

export type ExportFormat = keyof typeof FORMATS;

/** The maximum number of rows per search (http-api.md 1.5). */
const PAGE = 1000;

/** Return all jobs that match the request as a file. Reports progress after each page. */
export async function exportAll(
  format: ExportFormat,
  request: SearchRequest,
  search: (request: SearchRequest) => Promise<SearchAnswer>,
  onProgress: (rows: number, total: number) => void,
): Promise<Blob> {
  const { type, head, row, tail }: Format = FORMATS[format];
  const parts: (string | Blob)[] = [head];
  let cursor: string | undefined;
  let rows = 0;
  do {
    const page = await search({ ...request, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    parts.push(new Blob(page.jobs.map((job, i) => row(job, rows + i === 0))));
    rows += page.jobs.length;
    onProgress(rows, page.total);
    if (page.has_more && (page.cursor === undefined || page.cursor === cursor)) {
      throw new Error("the server returned the same page twice");
    }
    cursor = page.has_more ? page.cursor : undefined;
  } while (cursor !== undefined);
  return new Blob([...parts, tail], { type });
}

export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
