import type { ReactNode } from "react";

import { inOrder } from "../lib/format";
import { CopyButton } from "./parts";

const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Longer texts are not highlighted, because that would slow down the browser. */
const COLOURED_MAX = 50_000;

/** Mark the tokens of formatted JSON. The text itself does not change. */
function coloured(text: string): ReactNode[] {
  const out: ReactNode[] = [];
  let done = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [whole, string, colon] = match;
    const kind = string === undefined ? (/^[-\d]/.test(whole) ? "number" : "word") : colon === undefined ? "string" : "key";
    out.push(text.slice(done, match.index));
    out.push(
      <span key={match.index} className={kind}>
        {string ?? whole}
      </span>,
    );
    if (colon !== undefined) {
      out.push(colon);
    }
    done = match.index + whole.length;
  }
  out.push(text.slice(done));
  return out;
}

export function JsonBlock({ title, value, open = false }: { title: string; value: unknown; open?: boolean }) {
  const text = inOrder(JSON.stringify(value, null, 2));
  return (
    <details className="card card-body json-block" open={open}>
      <summary>{title}</summary>
      <CopyButton text={text} label={`Copy ${title.toLowerCase()}`} />
      <pre className="json" tabIndex={0} aria-label={title}>
        {text.length > COLOURED_MAX ? text : coloured(text)}
      </pre>
    </details>
  );
}
