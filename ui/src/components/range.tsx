// The picker for a time range: a preset or a custom range.
import { useState } from "react";

import { moment } from "../lib/format";
import { boundsOf, PRESETS, type useRange } from "../lib/range";
import { Button, Field } from "./parts";

/** Convert a time to local "2026-02-11T10:00", the format of the browser's field. */
const local = (at: number): string => moment(at).slice(0, 16).replace(" ", "T");

export function RangePicker({ range, set, to }: ReturnType<typeof useRange>) {
  const [open, setOpen] = useState(false);
  const [from, setFrom] = useState("");
  const [until, setUntil] = useState("");
  const start = Date.parse(from);
  const end = Date.parse(until);
  const custom = range.preset === null ? `${moment(range.from).slice(5, 16)} – ${moment(range.to).slice(5, 16)}` : "Custom";
  const toggle = () => {
    const shown = boundsOf(range, Date.now());
    setFrom(local(shown.from));
    setUntil(local(shown.to));
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
            data-to={to({ preset })}
            onClick={() => set({ preset })}
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
            set({ from: start, to: end });
            setOpen(false);
          }}
        >
          <Field label="From">
            {(id) => <input id={id} type="datetime-local" value={from} onChange={(e) => setFrom(e.target.value)} />}
          </Field>
          <Field label="To">
            {(id) => <input id={id} type="datetime-local" value={until} onChange={(e) => setUntil(e.target.value)} />}
          </Field>
          <Button type="submit" compact disabled={!(start < end)}>
            Show
          </Button>
        </form>
      )}
    </div>
  );
}
