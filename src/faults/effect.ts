/** What a fault changed in a recording, found by comparing it with that of the same run without it. A fault that changed no row had no effect and proves nothing. */
import type { Column, NumberColumn } from '../recording/column.ts';
import type { Recording } from '../recording/recording.ts';

export interface ColumnEffect {
  table: string;
  column: string;
  /** Rows that differ; all of them where the tables differ in length or one lacks the column. */
  changed: number;
  rows: number;
  /** The first iteration in which a row differs; -1 where the table has none. */
  firstIteration: number;
}

/** The columns that differ, in the order of the tables. `until` looks only at iterations before that one. */
export async function effect(faulty: Recording, clean: Recording, until = Infinity): Promise<ColumnEffect[]> {
  const found: ColumnEffect[] = [];
  for (const table of new Set([...clean.tables, ...faulty.tables])) {
    const [ours, theirs] = await Promise.all([faulty.read(table), clean.read(table)]);
    const iterations = iterationsOf(ours.columns.get('iteration'));
    const expected = iterationsOf(theirs.columns.get('iteration'));
    const own = rowsBefore(iterations, ours.rows, until);
    const other = rowsBefore(expected, theirs.rows, until);
    for (const name of new Set([...theirs.columns.keys(), ...ours.columns.keys()])) {
      const a = ours.columns.get(name);
      const b = theirs.columns.get(name);
      const changed = a && b && own === other ? differing(a, b, own) : allRows(Math.max(own, other));
      if (changed.count > 0)
        found.push({
          table,
          column: name,
          changed: changed.count,
          rows: Math.max(own, other),
          firstIteration: (own >= other ? iterations : expected)?.[changed.first] ?? -1,
        });
    }
  }
  return found;
}

function iterationsOf(column: Column | undefined): ArrayLike<number> | null {
  return column && column.kind !== 'text' ? (column.values as Int32Array) : null;
}

/** Rows of a table come in the order of iterations. */
function rowsBefore(iterations: ArrayLike<number> | null, rows: number, until: number): number {
  if (!iterations) return rows;
  let count = 0;
  while (count < rows && iterations[count] < until) count++;
  return count;
}

const allRows = (rows: number) => ({ count: rows, first: 0 });

function differing(a: Column, b: Column, rows: number): { count: number; first: number } {
  let count = 0;
  let first = -1;
  for (let row = 0; row < rows; row++) {
    if (sameRow(a, b, row)) continue;
    if (count++ === 0) first = row;
  }
  return { count, first };
}

function sameRow(a: Column, b: Column, row: number): boolean {
  if (a.kind === 'text' || b.kind === 'text') return a.values[row] === b.values[row];
  const [from, to] = extent(a, row);
  const [start, end] = extent(b, row);
  if (to - from !== end - start) return false;
  for (let i = 0; i < to - from; i++) if (!Object.is(a.values[from + i], b.values[start + i])) return false;
  return true;
}

function extent(column: NumberColumn, row: number): [number, number] {
  return column.offsets ? [column.offsets[row], column.offsets[row + 1]] : [row, row + 1];
}
