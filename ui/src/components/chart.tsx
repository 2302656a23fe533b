// Charts drawn as SVG: stacked areas or lines, with a tooltip at the pointer.
import { memo, useLayoutEffect, useRef, useState, type CSSProperties, type PointerEvent } from "react";

import { count, span } from "../lib/format";
import type { Mark } from "../lib/marks";

export interface Series {
  name: string;
  colour: string;
  /** null for a point without a value: the line has a gap there. */
  values: readonly (number | null)[];
}

interface ChartProps {
  label: string;
  series: readonly Series[];
  /** A label for each point of the x axis. */
  times: readonly string[];
  format: (value: number) => string;
  /** Returns a round value at or above the highest one, for the upper edge. */
  round?: (value: number) => number;
  stacked?: boolean;
  /** Called with the first and the last point of a range that was selected by dragging. */
  onZoom?: (first: number, last: number) => void;
  /** Called when a point was clicked. */
  onPick?: (index: number) => void;
  /** Marks of what happened at some points. */
  marks?: readonly Mark[];
  height?: number;
}

const NO_MARKS: readonly Mark[] = [];

const PAD = { left: 54, right: 8, top: 8, bottom: 22 };

/** Round up to 1, 2 or 5 times a power of ten. */
export function roundUp(value: number): number {
  if (value <= 0) {
    return 1;
  }
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((n) => n * power >= value) ?? 10;
  return step * power;
}

/** Round up a count. Its half, which is also at the axis, is a whole number. */
export const roundUpCount = (n: number): number => (n <= 10 ? Math.max(2, 2 * Math.ceil(n / 2)) : roundUp(n));

/** For a chart of counts. */
export const COUNTS = { format: count, round: roundUpCount };

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
/** Round time spans whose halves are round, too. */
const ROUND_SPANS = [
  ...[1, 2, 4, 10, 20, 30].map((n) => n * SECOND),
  ...[1, 2, 4, 10, 20, 30].map((n) => n * 60 * SECOND),
  ...[1, 2, 4, 8, 12, 24].map((n) => n * HOUR),
];

/** Round up a time span in milliseconds, which is shown in minutes and hours. */
export const roundUpSpan = (ms: number): number =>
  ms <= SECOND ? roundUp(ms) : (ROUND_SPANS.find((span) => span >= ms) ?? 24 * HOUR * roundUp(ms / (24 * HOUR)));

/** For a chart of time spans, in milliseconds. */
export const SPANS = { format: span, round: roundUpSpan };

/** Return the line of each series. Stacked series are added up. */
export function tops(series: readonly Series[], stacked: boolean): (number | null)[][] {
  if (!stacked) {
    return series.map(({ values }) => [...values]);
  }
  const base: number[] = [];
  return series.map((s) => s.values.map((value, i) => (base[i] = (base[i] ?? 0) + (value ?? 0))));
}

type Line = readonly (number | null)[];

/** Return the points between two gaps. They have no line, and are drawn as dots. */
export const lonePoints = (line: Line): { i: number; value: number }[] =>
  line.flatMap((value, i) => (value === null || (line[i - 1] ?? line[i + 1] ?? null) !== null ? [] : [{ i, value }]));

/** Return the path of a line with gaps. */
export function linePath(line: Line, x: (i: number) => number, y: (value: number) => number): string {
  return line
    .map((value, i) => {
      if (value === null) {
        return "";
      }
      const begins = (line[i - 1] ?? null) === null;
      return `${begins ? "M" : "L"}${x(i).toFixed(1)},${y(value).toFixed(1)}`;
    })
    .join("");
}

/** The width of the last chart measured. Most charts of a page are equally wide, so a new one is rendered only once. */
let lastWidth = 600;

function useWidth() {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(lastWidth);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) {
      return;
    }
    const measure = () => {
      lastWidth = element.clientWidth;
      setWidth(lastWidth);
    };
    measure();
    if (typeof ResizeObserver === "undefined") {
      return;
    }
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}

const innerWidth = (width: number): number => Math.max(1, width - PAD.left - PAD.right);

const xOf = (i: number, count: number, width: number): number =>
  PAD.left + innerWidth(width) * (count > 1 ? i / (count - 1) : 1);

interface DrawingProps extends Required<Pick<ChartProps, "series" | "times" | "format" | "round" | "stacked" | "marks">> {
  width: number;
  height: number;
}

/** Everything that stays the same while the pointer moves. */
const Drawing = memo(function Drawing({ series, times, format, round, stacked, marks, width, height }: DrawingProps) {
  const count = times.length;
  const lines = tops(series, stacked);
  const measured = lines.flat().some((value) => value !== null);
  const high = round(Math.max(0, ...lines.flat().map((value) => value ?? 0)));
  const x = (i: number) => xOf(i, count, width);
  const y = (value: number) => PAD.top + (height - PAD.top - PAD.bottom) * (1 - value / high);
  const path = (line: Line) => linePath(line, x, y);
  const area = (line: Line, below: Line | undefined) => {
    const back = line.map((_, i) => count - 1 - i).map((i) => `L${x(i).toFixed(1)},${y(below?.[i] ?? 0).toFixed(1)}`);
    return `${path(line)}${back.join("")}Z`;
  };
  const every = Math.max(1, Math.ceil(count / Math.max(2, Math.floor(width / 110))));
  return (
    <>
      {[0, 0.5, 1].map((part) => (
        <g key={part}>
          <line className="rule" x1={PAD.left} x2={width - PAD.right} y1={y(high * part)} y2={y(high * part)} />
          <text className="axis" x={PAD.left - 7} y={y(high * part) + 4} textAnchor="end">
            {measured ? format(high * part) : ""}
          </text>
        </g>
      ))}
      {times.map((time, i) =>
        (count - 1 - i) % every === 0 ? (
          <text key={i} className="axis" x={x(i)} y={height - 5} textAnchor={i === count - 1 ? "end" : "middle"}>
            {time}
          </text>
        ) : null,
      )}
      {stacked &&
        series.map((s, i) => (
          <path key={s.name} d={area(lines[i] ?? [], lines[i - 1])} fill={s.colour} fillOpacity={0.35} />
        ))}
      {series
        // The first series on top: where the others add nothing, its line stays visible.
        .map((s, i) => (
          <path key={s.name} d={path(lines[i] ?? [])} fill="none" stroke={s.colour} strokeWidth={1.7} />
        ))
        .reverse()}
      {marks.map(({ index, text }) => (
        <g key={index} className="mark">
          <line x1={x(index)} x2={x(index)} y1={PAD.top} y2={height - PAD.bottom} />
          <path d={`M${x(index) - 4},${PAD.top}h8l-4,6Z`}>
            <title>{text}</title>
          </path>
        </g>
      ))}
      {series
        .flatMap((s, n) =>
          lonePoints(lines[n] ?? []).map(({ i, value }) => (
            <circle key={`${s.name} ${i}`} cx={x(i)} cy={y(value)} r={3} fill={s.colour} />
          )),
        )
        .reverse()}
    </>
  );
});

export function Chart(props: ChartProps) {
  const { label, series, times, format, round = roundUp, stacked = false, onZoom, onPick, marks = NO_MARKS, height = 190 } = props;
  const { ref, width } = useWidth();
  const [at, setAt] = useState<number | null>(null);
  const [begun, setBegun] = useState<number | null>(null);
  const count = times.length;
  const shown = (value: number | null | undefined) => (value === null || value === undefined ? "-" : format(value));
  const x = (i: number) => xOf(i, count, width);
  const pointAt = (event: PointerEvent): number => {
    const box = event.currentTarget.getBoundingClientRect();
    const part = (event.clientX - box.left - PAD.left) / innerWidth(width);
    return Math.min(count - 1, Math.max(0, Math.round(part * (count - 1))));
  };
  const onMove = (event: PointerEvent) => setAt(pointAt(event));
  const onDown = (event: PointerEvent) => {
    if (event.button === 0 && onZoom !== undefined) {
      setBegun(pointAt(event));
    }
  };
  const onUp = (event: PointerEvent) => {
    const end = pointAt(event);
    setBegun(null);
    if (begun === end) {
      onPick?.(end);
    } else if (begun !== null) {
      onZoom?.(Math.min(begun, end), Math.max(begun, end));
    }
  };
  const leave = () => {
    setAt(null);
    setBegun(null);
  };
  return (
    <div className="stack">
      <div className="chart" ref={ref} onPointerMove={onMove} onPointerDown={onDown} onPointerUp={onUp} onPointerLeave={leave}>
        <svg height={height} role="img" aria-label={label}>
          <Drawing {...{ series, times, format, round, stacked, marks, width, height }} />
          {begun !== null && at !== null && (
            <rect
              className="brush"
              x={Math.min(x(begun), x(at))}
              width={Math.abs(x(at) - x(begun))}
              y={PAD.top}
              height={height - PAD.top - PAD.bottom}
            />
          )}
          {at !== null && <line className="rule" x1={x(at)} x2={x(at)} y1={PAD.top} y2={height - PAD.bottom} />}
        </svg>
        {at !== null && count > 0 && (
          <div className="chart-tip" style={x(at) > width / 2 ? { right: width - x(at) + 10 } : { left: x(at) + 10 }}>
            <strong>{times[at]}</strong>
            {series.map((s) => (
              <div key={s.name} className="chart-value" style={{ "--swatch": s.colour } as CSSProperties}>
                {s.name}: {shown(s.values[at])}
              </div>
            ))}
            {marks
              .filter(({ index }) => index === at)
              .map(({ text }) => (
                <div key={text}>▾ {text}</div>
              ))}
          </div>
        )}
      </div>
      <div className="legend">
        {series.map((s) => (
          <span key={s.name} style={{ "--swatch": s.colour } as CSSProperties}>
            {s.name}
          </span>
        ))}
      </div>
    </div>
  );
}
