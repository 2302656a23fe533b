// Ctrl-K: type part of a name to open a page, queue, worker, schedule or job, or to run an action.
import { useMemo, useState, type KeyboardEvent } from "react";

import { usePause, useResume } from "../api/actions";
import type { Operation } from "../api/client";
import { useQueues, useSchedules, useWorkers } from "../api/queries";
import { useGoTo } from "../lib/hooks";
import { useRefusals } from "../lib/permissions";
import { recentPlaces } from "../lib/recent";
import { Dialog } from "./dialog";
import { jobPath } from "./job-table";
import { queuePath } from "./queue-table";

export interface Place {
  kind: string;
  name: string;
  to: string;
}

export interface Command {
  kind: "Action";
  name: string;
  /** Offered only to callers that may use this operation. */
  needs?: Operation;
  run: () => void;
}

type Choice = Place | Command;

/** Return the job id if the text can only be one, otherwise null. */
export const asJobId = (text: string): string | null => (/^job_[0-9a-z]{20,}$/i.test(text.trim()) ? text.trim() : null);

const SHOWN = 12;

/** Return the choices whose kind and name contain every word of the text. Names that begin with the first word are first. */
export function matches<C extends { kind: string; name: string }>(places: readonly C[], text: string): C[] {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const rank = (place: C): number => (place.name.toLowerCase().startsWith(words[0] ?? "") ? 0 : 1);
  return places
    .filter(({ kind, name }) => words.every((word) => `${kind} ${name}`.toLowerCase().includes(word)))
    .map((place, i) => ({ place, i }))
    .sort((a, b) => rank(a.place) - rank(b.place) || a.i - b.i)
    .slice(0, SHOWN)
    .map(({ place }) => place);
}

/** True if the first word of the text is the beginning of an action. Actions on queues are listed only then, because each
 *  queue has two. */
const begins = (action: string, text: string): boolean => {
  const word = text.trim().toLowerCase().split(/\s+/)[0] ?? "";
  return word.length >= 2 && action.startsWith(word);
};

interface PaletteProps {
  pages: readonly Place[];
  commands: readonly Command[];
  onClose: () => void;
}

export function Palette({ pages, commands, onClose }: PaletteProps) {
  const goTo = useGoTo();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const queues = useQueues();
  const workers = useWorkers();
  const schedules = useSchedules();
  const refusals = useRefusals();
  const { mutate: pause } = usePause();
  const { mutate: resume } = useResume();
  const places = useMemo(
    (): Choice[] => [
      ...pages,
      ...commands.filter(({ needs }) => needs === undefined || refusals(needs) === undefined),
      ...(queues.data ?? []).map(({ name }) => ({ kind: "Queue", name, to: queuePath(name) })),
      ...(workers.data ?? []).map(({ id }) => ({ kind: "Worker", name: id, to: `/workers/${encodeURIComponent(id)}` })),
      ...(schedules.data ?? []).map(({ name }) => ({ kind: "Schedule", name, to: "/schedules" })),
    ],
    [pages, commands, refusals, queues.data, workers.data, schedules.data],
  );
  const onQueues = useMemo(
    (): Command[] =>
      (queues.data ?? [])
        .filter(({ paused }) => refusals(paused ? "POST /queues/{name}/resume" : "POST /queues/{name}/pause") === undefined)
        .map(({ name, paused }) => ({
          kind: "Action",
          name: `${paused ? "Resume" : "Pause"} ${name}`,
          run: () => (paused ? resume : pause)(name),
        })),
    [queues.data, refusals, pause, resume],
  );
  const found = useMemo((): Choice[] => {
    const id = asJobId(text);
    if (id !== null) {
      return [{ kind: "Job", name: id, to: jobPath(id) }];
    }
    const list = matches(begins("pause", text) || begins("resume", text) ? [...places, ...onQueues] : places, text);
    const query = text.trim();
    return query === ""
      ? [...recentPlaces(), ...list]
      : [...list, { kind: "Search payloads", name: query, to: `/jobs?${new URLSearchParams({ payload_contains: query })}` }];
  }, [places, onQueues, text]);
  const open = (choice: Choice | undefined) => {
    if (choice === undefined) {
      return;
    }
    onClose();
    if ("run" in choice) {
      choice.run();
    } else {
      goTo(choice.to);
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
        aria-label="Page, queue, worker, schedule, action, job ID or payload text"
        placeholder="Page, queue, worker, schedule, action, job ID or payload text"
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
      <ul className="palette" id="palette-list" role="listbox" aria-label="Results">
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
