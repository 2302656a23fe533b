// An HTML table. If it has many rows, only the rows in view are in the document.
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  memo,
  useCallback,
  useDeferredValue,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type MouseEvent,
  type ReactNode,
} from "react";
import { useNavigate } from "react-router-dom";

import { messageOf } from "../api/client";
import { capitalise } from "../lib/format";
import { useLast } from "../lib/hooks";

export interface Column<T> {
  id: string;
  header: ReactNode;
  cell: (row: T) => ReactNode;
  /** Class of the cells: "num", "check", "brief", "name" (truncated if long), "wide" (remaining width), "wrap", "spare"
   * (hidden where a laptop has no space for it), "minor" (hidden on phones). */
  className?: string;
  /** Returns the sort key. A column without it cannot be sorted. */
  sort?: (row: T) => string | number;
}

interface TableProps<T> {
  label: string;
  rows: readonly T[] | undefined;
  columns: readonly Column<T>[];
  /** Headers that replace those of columns, by column id. If only a header changes, no row is rendered again. */
  heads?: Readonly<Record<string, ReactNode>>;
  rowKey: (row: T) => string;
  empty: string;
  error?: unknown;
  /** Returns the address that a click on the row opens. */
  opens?: (row: T) => string;
  rowClass?: (row: T, index: number) => string;
  /** The row to keep in view, by its index. */
  focused?: number | null;
}

interface Order {
  column: string;
  down: boolean;
}

/** The estimated height of a row that has not been rendered yet. */
const ROW_PX = 42;
/** Tables with fewer rows are rendered completely. */
const VIRTUAL_FROM = 150;
/** Rows of such a table in the first paint: as many as fit on a screen. */
const FIRST_ROWS = 20;
/** Rows above and below those in view. */
const MARGIN_ROWS = 12;

function sortRows<T>(rows: readonly T[], columns: readonly Column<T>[], order: Order | null): readonly T[] {
  const value = columns.find((c) => c.id === order?.column)?.sort;
  if (order === null || value === undefined) {
    return rows;
  }
  const sign = order.down ? -1 : 1;
  return [...rows].sort((a, b) => {
    const x = value(a);
    const y = value(b);
    return x === y ? 0 : sign * (x < y ? -1 : 1);
  });
}

/** Return the rows in view and the heights of the rows that are left out above and below. */
function useWindow(count: number, focused: number | null) {
  const body = useRef<HTMLTableSectionElement>(null);
  const virtual = count >= VIRTUAL_FROM;
  const [margin, setMargin] = useState(0);
  const scroller = useCallback(() => document.getElementById("content"), []);
  // The first paint contains only the rows in view.
  const overscan = useDeferredValue(MARGIN_ROWS, virtual ? 0 : undefined);
  const drawn = useDeferredValue(count, 0);
  // The content above the table can change its height, for example when a chart is loaded or a warning disappears. The
  // page then changes its height, too.
  useLayoutEffect(() => {
    const content = scroller();
    const page = content?.firstElementChild ?? null;
    if (!virtual || content === null || page === null) {
      return undefined;
    }
    const place = () => {
      if (body.current !== null) {
        const top = body.current.getBoundingClientRect().top - content.getBoundingClientRect().top;
        setMargin(Math.round(top + content.scrollTop));
      }
    };
    place();
    const watch = new ResizeObserver(place);
    watch.observe(page);
    return () => watch.disconnect();
  }, [virtual, scroller]);
  const virtualizer = useVirtualizer({
    count: virtual ? count : 0,
    getScrollElement: scroller,
    estimateSize: () => ROW_PX,
    overscan,
    scrollMargin: margin,
  });
  useLayoutEffect(() => {
    if (focused === null) {
      return;
    }
    if (virtual) {
      virtualizer.scrollToIndex(focused);
    } else {
      body.current?.rows[focused]?.scrollIntoView({ block: "nearest" });
    }
    // Only when the focus moves: the user may scroll away from it.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [focused]);
  if (!virtual) {
    return { body, first: 0, last: Math.max(drawn, FIRST_ROWS, (focused ?? -1) + 1), before: 0, after: 0, measure: undefined };
  }
  const items = virtualizer.getVirtualItems();
  const first = items[0];
  const last = items.at(-1);
  return {
    body,
    first: first?.index ?? 0,
    last: (last?.index ?? -1) + 1,
    before: first === undefined ? 0 : first.start - margin,
    after: virtualizer.getTotalSize() - (last === undefined ? 0 : last.end - margin),
    measure: virtualizer.measureElement,
  };
}

const Space = ({ height, columns }: { height: number; columns: number }) =>
  height > 0 ? (
    <tr className="space" aria-hidden="true">
      <td colSpan={columns} style={{ height }} />
    </tr>
  ) : null;

interface RowProps<T> {
  row: T;
  index: number;
  measure: ((row: HTMLTableRowElement | null) => void) | undefined;
  columns: readonly Column<T>[];
  className: string;
  opens: ((row: T) => string) | undefined;
  onClick: (event: MouseEvent, row: T) => void;
}

function RowView<T>({ row, index, measure, columns, className, opens, onClick }: RowProps<T>) {
  return (
    <tr
      ref={measure}
      data-index={index}
      // The header is row 1. If only some rows are rendered, screen readers need their numbers.
      aria-rowindex={measure === undefined ? undefined : index + 2}
      className={className}
      data-to={opens?.(row)}
      onClick={(event) => onClick(event, row)}
    >
      {columns.map((column) => (
        <td key={column.id} className={column.className}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

/** Rendered again only when the row itself changes. A refresh of a list changes few rows. */
const Row = memo(RowView) as typeof RowView;

export function Table<T>(props: TableProps<T>) {
  const { label, columns, heads, rowKey, empty, error, opens, rowClass, focused = null } = props;
  const navigate = useNavigate();
  const [order, setOrder] = useState<Order | null>(null);
  // The header reacts to a click at once. The sorted rows, perhaps a thousand, follow in the next frame.
  const sorted = useDeferredValue(order);
  const rows = useMemo(() => sortRows(props.rows ?? [], columns, sorted), [props.rows, columns, sorted]);
  const view = useWindow(rows.length, focused);
  const virtual = view.measure !== undefined;
  const click = useLast((event: MouseEvent, row: T) => {
    const inner = event.target instanceof Element && event.target.closest("a, button, input, label") !== null;
    if (!inner && opens !== undefined && window.getSelection()?.toString() === "") {
      navigate(opens(row));
    }
  });
  const failed = props.rows === undefined && error !== null && error !== undefined;
  let message: string | null = rows.length === 0 ? empty : null;
  if (props.rows === undefined) {
    message = failed ? capitalise(messageOf(error)) : "Loading...";
  }
  return (
    <div className="table-wrap" role="group" aria-label={label} tabIndex={0}>
      <table aria-label={label} aria-rowcount={virtual ? rows.length + 1 : undefined}>
        <thead>
          <tr aria-rowindex={virtual ? 1 : undefined}>
            {columns.map((column) => (
              <HeaderCell key={column.id} column={column} head={heads?.[column.id]} order={order} onOrder={setOrder} />
            ))}
          </tr>
        </thead>
        <tbody ref={view.body}>
          {message !== null && (
            <tr>
              <td className={failed ? "message danger-text" : "message"} colSpan={columns.length}>
                {message}
              </td>
            </tr>
          )}
          <Space height={view.before} columns={columns.length} />
          {rows.slice(view.first, view.last).map((row, i) => (
            <Row
              key={rowKey(row)}
              row={row}
              index={view.first + i}
              measure={view.measure}
              columns={columns}
              className={`${opens === undefined ? "" : "opens"} ${rowClass?.(row, view.first + i) ?? ""}`}
              opens={opens}
              onClick={click}
            />
          ))}
          <Space height={view.after} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

interface HeaderProps<T> {
  column: Column<T>;
  head: ReactNode;
  order: Order | null;
  onOrder: (order: Order | null) => void;
}

function HeaderCell<T>({ column, head, order, onOrder }: HeaderProps<T>) {
  const mine = order?.column === column.id ? order : null;
  if (column.sort === undefined) {
    return (
      <th scope="col" className={column.className}>
        {head ?? column.header}
      </th>
    );
  }
  // The first click sorts in one direction, the second in the other, the third not at all.
  const next = () => {
    const numbers = column.className?.startsWith("num") === true;
    if (mine === null) {
      onOrder({ column: column.id, down: numbers });
    } else {
      onOrder(mine.down === numbers ? { column: column.id, down: !numbers } : null);
    }
  };
  const direction = mine?.down === true ? "descending" : "ascending";
  return (
    <th scope="col" className={column.className} aria-sort={mine === null ? "none" : direction}>
      <button type="button" className="sort" onClick={next}>
        {column.header}
        {mine !== null && <span aria-hidden="true">{mine.down ? " ↓" : " ↑"}</span>}
      </button>
    </th>
  );
}
