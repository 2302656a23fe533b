// Lay out related jobs from left to right: each job is left of the jobs that wait for it.

export interface GraphNode {
  id: string;
  queue: string;
  /** Missing for a job that does not exist yet. */
  state?: string;
  /** "Step 2". */
  label?: string;
}

export interface Edge {
  from: string;
  to: string;
}

export interface Placed<N> {
  node: N;
  column: number;
  row: number;
}

/** Place each node one column to the right of the last node that it waits for. In a cycle, a node that is still being
 *  placed counts as column 0. */
export function layout<N extends GraphNode>(nodes: readonly N[], edges: readonly Edge[]): Placed<N>[] {
  const before = new Map<string, string[]>(nodes.map(({ id }) => [id, []]));
  for (const { from, to } of edges) {
    if (before.has(from)) {
      before.get(to)?.push(from);
    }
  }
  const columns = new Map<string, number>();
  const columnOf = (id: string, path: ReadonlySet<string>): number => {
    const known = columns.get(id);
    if (known !== undefined || path.has(id)) {
      return known ?? 0;
    }
    const further = new Set(path).add(id);
    const column = Math.max(-1, ...(before.get(id) ?? []).map((from) => columnOf(from, further))) + 1;
    columns.set(id, column);
    return column;
  };
  const rows: number[] = [];
  return nodes.map((node) => {
    const column = columnOf(node.id, new Set());
    const row = rows[column] ?? 0;
    rows[column] = row + 1;
    return { node, column, row };
  });
}
