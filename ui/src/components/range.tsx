// Choosing a range of time: a few that one wants often, or any.
import { useState } from "react";

import { moment } from "../lib/format";
import { PRESETS, type Range } from "../lib/range";
import { Button, Field } from "./parts";

type Next = { preset: string } | { from: number; to: number };

/** "2026-02-11T10:00" of a moment, local: what the browser's field takes. */
const local = (at: string): string => moment(at).slice(0, 16).replace(" ", "T");

export function RangePicker({ range, onChange }: { range: Range; onChange: (next: Next) => void }) {
  const [open, setOpen] = useState(false);
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const start = Date.parse(from);
  const end = Date.parse(to);
  const custom = range.preset === null ? `${moment(range.from).slice(5, 16)} – ${moment(range.to).slice(5, 16)}` : "Custom";
  const toggle = () => {
    setFrom(range.preset === null ? local(range.from) : "");
    setTo(range.preset === null ? local(range.to) : "");
    setOpen(!open);
  };
  return (
    <div className="stack-tight">
      <div className="chips" role="group" aria-label="Time range">
        {PRESETS.map(([preset, label]) => (
          <button
            key={preset}
            type="button"
            className="chip"
            aria-pressed={range.preset === preset}
            onClick={() => onChange({ preset })}
          >
            {label}
          </button>
        ))}
        <button type="button" className="chip" aria-pressed={range.preset === null} aria-expanded={open} onClick={toggle}>
          {custom}
        </button>
      </div>
      {open && (
        <form
          className="card-row"
          onSubmit={(event) => {
            event.preventDefault();
            onChange({ from: start, to: end });
            setOpen(false);
          }}
        >
          <Field label="From">
            {(id) => <input id={id} type="datetime-local" value={from} onChange={(e) => setFrom(e.target.value)} />}
          </Field>
          <Field label="To">
            {(id) => <input id={id} type="datetime-local" value={to} onChange={(e) => setTo(e.target.value)} />}
          </Field>
          <Button type="submit" compact disabled={!(start < end)}>
            Show
          </Button>
        </form>
      )}
    </div>
  );
}
