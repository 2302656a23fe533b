// The picker for a time range: a preset or a custom range.
import { useState } from "react";

import { moment, toField } from "../lib/format";
import { boundsOf, PRESETS, type useRange } from "../lib/range";
import { Button, Field } from "./parts";

export function RangePicker({ range, set, to }: ReturnType<typeof useRange>) {
  const [open, setOpen] = useState(false);
  const [from, setFrom] = useState("");
  const [until, setUntil] = useState("");
  const start = Date.parse(from);
  const end = Date.parse(until);
  const custom = range.preset === null ? `${moment(range.from).slice(5, 16)} – ${moment(range.to).slice(5, 16)}` : "Custom";
  const toggle = () => {
    const shown = boundsOf(range, Date.now());
    setFrom(toField(shown.from));
    setUntil(toField(shown.to));
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
