// Ctrl-K: go to a page, a queue, a worker, a schedule or a job by typing a part of its name.
import { useMemo, useState, type KeyboardEvent } from "react";

import { useQueues, useSchedules, useWorkers } from "../api/queries";
import { useGoTo } from "../lib/hooks";
import { Dialog } from "./dialog";
import { jobPath } from "./job-table";
import { queuePath } from "./queue-table";

export interface Place {
  kind: string;
  name: string;
  to: string;
}

/** What a text can only mean: the id of a job. */
export const asJobId = (text: string): string | null => (/^job_[0-9a-z]{20,}$/i.test(text.trim()) ? text.trim() : null);

const SHOWN = 12;

/** Those whose name has every word of the text; names that begin with it come first. */
export function matches(places: readonly Place[], text: string): Place[] {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const rank = (place: Place): number => (place.name.toLowerCase().startsWith(words[0] ?? "") ? 0 : 1);
  return places
    .filter(({ kind, name }) => words.every((word) => `${kind} ${name}`.toLowerCase().includes(word)))
    .map((place, i) => ({ place, i }))
    .sort((a, b) => rank(a.place) - rank(b.place) || a.i - b.i)
    .slice(0, SHOWN)
    .map(({ place }) => place);
}

export function Palette({ pages, onClose }: { pages: readonly Place[]; onClose: () => void }) {
  const goTo = useGoTo();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const queues = useQueues();
  const workers = useWorkers();
  const schedules = useSchedules();
  const places = useMemo(
    (): Place[] => [
      ...pages,
      ...(queues.data ?? []).map(({ name }) => ({ kind: "Queue", name, to: queuePath(name) })),
      ...(workers.data ?? []).map(({ id }) => ({ kind: "Worker", name: id, to: `/workers/${encodeURIComponent(id)}` })),
      ...(schedules.data ?? []).map(({ name }) => ({ kind: "Schedule", name, to: "/schedules" })),
    ],
    [pages, queues.data, workers.data, schedules.data],
  );
  const found = useMemo((): Place[] => {
    const id = asJobId(text);
    if (id !== null) {
      return [{ kind: "Job", name: id, to: jobPath(id) }];
    }
    const list = matches(places, text);
    const query = text.trim();
    return query === ""
      ? list
      : [...list, { kind: "Search payloads", name: query, to: `/jobs?${new URLSearchParams({ payload_contains: query })}` }];
  }, [places, text]);
  const open = (place: Place | undefined) => {
    if (place !== undefined) {
      onClose();
      goTo(place.to);
    }
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setAt((old) => Math.min(found.length - 1, Math.max(0, old + (event.key === "ArrowDown" ? 1 : -1))));
    } else if (event.key === "Enter") {
      event.preventDefault();
      open(found[at]);
    }
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        aria-label="Page, queue, worker, schedule, job id or text in a payload"
        placeholder="Page, queue, worker, schedule, job id, or text in a payload"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${at}` : undefined}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKey}
        autoFocus
      />
      <ul className="palette" id="palette-list" role="listbox" aria-label="Places">
        {found.map((place, i) => (
          <li
            key={`${place.kind} ${place.name}`}
            id={`palette-${i}`}
            role="option"
            aria-selected={i === at}
            onMouseEnter={() => setAt(i)}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => open(place)}
          >
            <span className="break">{place.name}</span>
            <span className="muted small">{place.kind}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
