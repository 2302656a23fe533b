// Small parts shared by all pages.
import { useDeferredValue, useId, useState, type ButtonHTMLAttributes, type ReactNode } from "react";

import { messageOf, type Operation } from "../api/client";
import { capitalise, fullTime, priorityName, relativeTime, shortId } from "../lib/format";
import { copyText } from "../lib/copy";
import { useNow } from "../lib/hooks";
import { useRefusals } from "../lib/permissions";
import { Icon, type IconName } from "./icons";

type ButtonKind = "plain" | "primary" | "danger" | "danger-solid" | "ghost" | "ghost link" | "ghost icon-only";

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: ButtonKind;
  compact?: boolean;
  /** Its operation. For callers that may not use it, the button is disabled, and its title names the roles that may. */
  needs?: Operation | undefined;
}

export function Button({ kind = "plain", compact = false, needs, disabled, title, ...rest }: ButtonProps) {
  const refusals = useRefusals();
  const refusal = needs === undefined ? undefined : refusals(needs);
  return (
    <button
      type="button"
      className={`button ${kind}${compact ? " compact" : ""}`}
      disabled={disabled === true || refusal !== undefined}
      title={refusal ?? title}
      {...rest}
    />
  );
}

interface IconButtonProps extends Omit<ButtonProps, "children" | "kind" | "compact"> {
  icon: IconName;
  label: string;
}

export function IconButton({ icon, label, ...rest }: IconButtonProps) {
  return (
    <Button kind="ghost icon-only" aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </Button>
  );
}

export const Badge = ({ tone, children, plain = false }: { tone?: string; children: ReactNode; plain?: boolean }) => (
  <span className={`badge ${tone ?? ""}${plain ? " plain" : ""}`}>{children}</span>
);

export const StateBadge = ({ state }: { state: string }) => <Badge tone={state}>{capitalise(state)}</Badge>;

export const EnabledBadge = ({ enabled }: { enabled: boolean }) => (
  <Badge tone={enabled ? "green" : "cancelled"}>{enabled ? "Enabled" : "Disabled"}</Badge>
);

const PRIORITY_TONES = ["red", "orange", ""];

export const PriorityBadge = ({ priority }: { priority: number }) => (
  <Badge tone={PRIORITY_TONES[priority] ?? ""} plain>
    {priorityName(priority)}
  </Badge>
);

/** A titled part of a page. The title is not a heading, because a page has only one: a test that looks
 * for the heading "Queues" must not also find "All Queues (3)". */
export function Card({ title, aside, children }: { title?: ReactNode; aside?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <section className="card" {...(title === undefined ? {} : { "aria-labelledby": id })}>
      {title !== undefined && (
        <div className="card-head">
          <div className="card-title" id={id}>
            {title}
          </div>
          {aside}
        </div>
      )}
      {children}
    </section>
  );
}

export const Stat = ({ label, children }: { label: string; children: ReactNode }) => (
  <dl className="card stat">
    <dt>{label}</dt>
    <dd>{children}</dd>
  </dl>
);

export function Field({
  label,
  error,
  children,
}: {
  label: string;
  error?: string | null | undefined;
  children: (id: string) => ReactNode;
}) {
  const id = useId();
  return (
    <div className="field">
      <label className="label" htmlFor={id}>
        {label}
      </label>
      {children(id)}
      {error !== undefined && error !== null && (
        <span className="error" role="alert">
          {error}
        </span>
      )}
    </div>
  );
}

/** The server's error about a form as a whole. */
export const FormError = ({ error }: { error: Error | null }) =>
  error === null ? null : (
    <p className="form-error" role="alert">
      {messageOf(error)}
    </p>
  );

export const Check = ({ label, value, onChange }: { label: string; value: boolean; onChange: (on: boolean) => void }) => (
  <label className="check-line">
    <input type="checkbox" checked={value} onChange={(e) => onChange(e.target.checked)} />
    {label}
  </label>
);

/** A relative time, with the full time on hover. */
export function Ago({ at }: { at: string }) {
  const now = useNow(10_000);
  return (
    <time dateTime={at} title={fullTime(at)}>
      {relativeTime(at, now)}
    </time>
  );
}

const TAIL = 8;

/** The beginning of an id, as text. Its end is shown too, because ids created at the same time begin alike. */
export function ShortId({ id }: { id: string }) {
  return (
    <span className="mono short-id" title={id} data-end={id.length > 12 + TAIL ? id.slice(-TAIL) : undefined}>
      {shortId(id)}
    </span>
  );
}

/** Content that is expensive or below the fold, rendered after the first paint. Until then "first" is shown. */
export const Later = ({ first, children }: { first: ReactNode; children: ReactNode }) =>
  useDeferredValue(true, false) ? children : first;

/** Shown instead of a missing number: it is being read, or cannot be read. */
export const unknown = ({ isError }: { isError: boolean }): string => (isError ? "-" : "…");

/** Shown instead of missing data: "Loading..." or the error. */
export function Pending({ error, what }: { error: unknown; what?: string }) {
  if (error !== null && error !== undefined) {
    return (
      <div className="notice bad" role="alert">
        {what === undefined ? capitalise(messageOf(error)) : `${what}: ${messageOf(error)}`}
      </div>
    );
  }
  return <p className="muted">Loading...</p>;
}

export const Notice = ({ children }: { children: ReactNode }) => <div className="notice">{children}</div>;

export function Bar({ value, tone = "", label }: { value: number | null; tone?: string; label: string }) {
  return (
    <div
      className={`bar ${value === null ? "unknown" : tone}`}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(value === null ? {} : { "aria-valuenow": value })}
    >
      <div style={value === null ? {} : { width: `${value}%` }} />
    </div>
  );
}

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [done, setDone] = useState(false);
  const copy = () => {
    void copyText(text).then(() => {
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    });
  };
  return (
    <Button kind="ghost" compact onClick={copy} aria-label={label}>
      <Icon name="copy" size={14} />
      {done ? "Copied" : "Copy"}
    </Button>
  );
}

export function PageHead({ title, badges, children }: { title: ReactNode; badges?: ReactNode; children?: ReactNode }) {
  return (
    <div className="page-head">
      <div className="page-title">
        <h1>{title}</h1>
        {badges}
      </div>
      {children !== undefined && <div className="card-row">{children}</div>}
    </div>
  );
}
