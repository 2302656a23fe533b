import { useEffect, useRef, useState } from "react";

import { JOB_STATES, PRIORITIES, type JobState } from "../api/types";
import { advancedCount, SORTS, type Filters } from "../lib/filters";
import { capitalise, toField, toInstant } from "../lib/format";
import { useHotkeys } from "../lib/hooks";
import { Button, Field } from "./parts";

interface SearchPanelProps {
  filters: Filters;
  defaults: Filters;
  /** typed: the change was typed, so the next key may change it again. */
  onChange: (filters: Filters, typed?: boolean) => void;
  /** The page fixes the state, so the states cannot be chosen. */
  fixedState?: boolean;
  /** The server's error about the jq filter. */
  jqError?: string | null;
}

const TEXT_FIELDS = [
  ["error_contains", "Error contains"],
  ["error_fingerprint", "Error fingerprint"],
  ["job_id_prefix", "Job ID prefix"],
  ["batch_id", "Batch ID"],
  ["worker_id", "Worker ID"],
  ["unique_key", "Unique key"],
] as const;

function StateChips({ filters, onChange }: SearchPanelProps) {
  const toggle = (state: JobState) => {
    const on = filters.state.includes(state);
    onChange({ ...filters, state: on ? filters.state.filter((s) => s !== state) : [...filters.state, state] });
  };
  return (
    <div className="chips" role="group" aria-label="States">
      {JOB_STATES.map((state) => {
        const on = filters.state.includes(state);
        return (
          <button key={state} type="button" className="chip" aria-pressed={on} onClick={() => toggle(state)}>
            {capitalise(state)}
            {on && <span aria-hidden="true">×</span>}
          </button>
        );
      })}
    </div>
  );
}

function TagField({ filters, onChange }: SearchPanelProps) {
  const [text, setText] = useState("");
  const add = () => {
    const pair = text.trim();
    const key = pair.slice(0, pair.indexOf("=") + 1);
    if (key.length > 1 && !filters.tag.includes(pair)) {
      // Each tag can be filtered by one value only.
      onChange({ ...filters, tag: [...filters.tag.filter((t) => !t.startsWith(key)), pair] });
      setText("");
    }
  };
  return (
    <Field label="Tag (key=value, then Enter)">
      {(id) => (
        <>
          <input
            id={id}
            placeholder="tenant=acme"
            value={text}
            onChange={(e) => setText(e.target.value)}
            onBlur={add}
            onKeyDown={(e) => {
              if (e.key === "Enter") {
                add();
              }
            }}
          />
          {filters.tag.length > 0 && (
            <div className="chips">
              {filters.tag.map((pair) => (
                <button
                  key={pair}
                  type="button"
                  className="chip"
                  aria-pressed="true"
                  aria-label={`Remove tag ${pair}`}
                  onClick={() => onChange({ ...filters, tag: filters.tag.filter((t) => t !== pair) })}
                >
                  {pair} <span aria-hidden="true">×</span>
                </button>
              ))}
            </div>
          )}
        </>
      )}
    </Field>
  );
}

type TextName = Exclude<keyof Filters, "state" | "tag">;

export function SearchPanel(props: SearchPanelProps) {
  const { filters, defaults, onChange, fixedState = false, jqError = null } = props;
  const hidden = advancedCount(filters, defaults);
  const [open, setOpen] = useState(hidden > 0);
  const payload = useRef<HTMLInputElement>(null);
  const [wantsFocus, setWantsFocus] = useState(false);
  useEffect(() => {
    if (wantsFocus && open) {
      payload.current?.focus();
      setWantsFocus(false);
    }
  }, [wantsFocus, open]);
  useHotkeys({
    "/": (event) => {
      event.preventDefault();
      setOpen(true);
      setWantsFocus(true);
    },
  });
  const field = (name: TextName, typed: boolean) => ({
    value: filters[name],
    onChange: (event: { target: { value: string } }) => onChange({ ...filters, [name]: event.target.value }, typed),
  });
  const text = (name: TextName) => field(name, true);
  const time = (name: "created_after" | "created_before") => ({
    type: "datetime-local",
    value: toField(filters[name]),
    onChange: (event: { target: { value: string } }) => onChange({ ...filters, [name]: toInstant(event.target.value) }, true),
  });
  return (
    <section className="card card-body stack" aria-label="Search">
      <div className="card-row">
        {!fixedState && <StateChips {...props} />}
        <Button compact aria-expanded={open} onClick={() => setOpen(!open)}>
          Advanced filters{hidden > 0 && <span aria-hidden="true"> ({hidden})</span>}
        </Button>
        <Button compact kind="ghost" onClick={() => onChange(defaults)}>
          Reset
        </Button>
      </div>
      {open && (
        <div className="form-grid">
          {defaults.queue === "" && <Field label="Queue">{(id) => <input id={id} {...text("queue")} />}</Field>}
          <Field label="Priority">
            {(id) => (
              <select id={id} {...field("priority", false)}>
                <option value="">All</option>
                {PRIORITIES.map((name) => (
                  <option key={name} value={name}>
                    {capitalise(name)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Payload contains">
            {(id) => <input id={id} ref={payload} placeholder="user@example.com" {...text("payload_contains")} />}
          </Field>
          <Field label="jq filter" error={jqError}>
            {(id) => (
              <input id={id} className="mono" placeholder='.template == "welcome"' {...text("payload_jq")} spellCheck={false} />
            )}
          </Field>
          {TEXT_FIELDS.map(([name, label]) => (
            <Field key={name} label={label}>
              {(id) => <input id={id} {...text(name)} />}
            </Field>
          ))}
          <TagField {...props} />
          <Field label="Created after">{(id) => <input id={id} {...time("created_after")} />}</Field>
          <Field label="Created before">{(id) => <input id={id} {...time("created_before")} />}</Field>
          <Field label="Sort by">
            {(id) => (
              <select
                id={id}
                value={`${filters.sort} ${filters.order}`}
                onChange={(event) => {
                  const [sort = "", order = ""] = event.target.value.split(" ");
                  onChange({ ...filters, sort, order });
                }}
              >
                {SORTS.flatMap(([name, label]) => [
                  <option key={`${name} desc`} value={`${name} desc`}>{`${label}, descending`}</option>,
                  <option key={`${name} asc`} value={`${name} asc`}>{`${label}, ascending`}</option>,
                ])}
              </select>
            )}
          </Field>
        </div>
      )}
    </section>
  );
}
