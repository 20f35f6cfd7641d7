/** How rows of a batch relate: the next of the same agent, the other agent's at the same step. Works on rows in any order that keeps time. */

import type { Learner } from '../algorithms/learner.ts';
import type { PpoSettings } from '../algorithms/ppo/settings.ts';
import type { LearnerRows } from '../algorithms/ppo/update.ts';
import type { Batch } from '../batch/batch.ts';
import type { Stages } from '../training/stages.ts';
import type { Scope } from './scope.ts';

/** Per row, the next row of the same agent in the same episode, or in the same world whatever the episode; -1 where there is none. */
export function nextRows(batch: Batch, within: 'episode' | 'world'): Int32Array {
  const next = new Int32Array(batch.rows).fill(-1);
  const line = within === 'episode' ? batch.episode : batch.env;
  const latest = new Map<string, number>();
  for (let row = batch.rows - 1; row >= 0; row--) {
    const key = `${line[row]} ${batch.agent[row]}`;
    next[row] = latest.get(key) ?? -1;
    latest.set(key, row);
  }
  return next;
}

export function previousRows(next: Int32Array): Int32Array {
  const previous = new Int32Array(next.length).fill(-1);
  for (let row = 0; row < next.length; row++) if (next[row] >= 0) previous[next[row]] = row;
  return previous;
}

/** Per row, the row `lag` steps earlier (positive) or later (negative) along `next`; -1 where there is none. */
export function laggedRows(next: Int32Array, lag: number): Int32Array {
  const one = lag > 0 ? previousRows(next) : next;
  return Int32Array.from(next, (_, row) => {
    let at = row;
    for (let i = 0; i < Math.abs(lag) && at >= 0; i++) at = one[at];
    return at;
  });
}

/** Per row, the row of agent `other(agent)` at the same episode and step; -1 where there is none. */
export function rowsOfOther(batch: Batch, other: (agent: number) => number): Int32Array {
  const at = new Map<string, number>();
  for (let row = 0; row < batch.rows; row++) at.set(`${batch.episode[row]} ${batch.t[row]} ${batch.agent[row]}`, row);
  return Int32Array.from(
    { length: batch.rows },
    (_, row) => at.get(`${batch.episode[row]} ${batch.t[row]} ${other(batch.agent[row])}`) ?? -1,
  );
}

/** The agent `turn` places further on among those that learn. */
export function turned(learning: readonly number[], turn: number): (agent: number) => number {
  return (agent) => learning[(learning.indexOf(agent) + turn) % learning.length];
}

/** A copy in which the rows that the scope strikes hold what their source row holds. */
export function gathered(column: Float32Array, source: Int32Array, batch: Batch, scope: Scope): Float32Array {
  const changed = column.slice();
  for (let row = 0; row < batch.rows; row++)
    if (source[row] >= 0 && struck(batch, row, scope)) changed[row] = column[source[row]];
  return changed;
}

export function struck(batch: Batch, row: number, scope: Scope): boolean {
  return scope.row(batch.iteration[row], batch.sample[row], batch.agent[row]);
}

/** Puts advantages, and the returns that go with them, into the rows that are struck. */
export function writeCredit(batch: Batch, advantage: ArrayLike<number>, scope: Scope): void {
  for (let row = 0; row < batch.rows; row++) {
    if (!struck(batch, row, scope)) continue;
    batch.advantage[row] = advantage[row];
    batch.return[row] = advantage[row] + batch.value[row];
  }
}

/** Columns of a batch by name. */
export type BatchColumns = { readonly [name in keyof Batch]?: ArrayBufferView };

/** Runs with other columns in the batch, and puts the batch's own back. */
export function withColumns<T>(batch: Batch, columns: BatchColumns, run: () => T): T {
  const kept = Object.fromEntries(Object.keys(columns).map((name) => [name, batch[name as keyof Batch]]));
  Object.assign(batch, columns);
  try {
    return run();
  } finally {
    Object.assign(batch, kept);
  }
}

export interface Prepared {
  batch: Batch;
  /** The batch row of each prepared row, the first `count` in use. */
  rows: Int32Array;
  count: number;
  learner: Learner;
  ppo: PpoSettings;
}

/** A `prepare` that changes the columns of the rows it made. The columns given back must be new arrays. */
export function changePrepared(
  clean: Stages,
  scope: Scope,
  change: (made: LearnerRows, from: Prepared) => Partial<LearnerRows>,
): Pick<Stages, 'prepare'> {
  return {
    prepare(batch, rows, count, learner, ppo, into) {
      const made = clean.prepare(batch, rows, count, learner, ppo, into);
      if (!scope.begun(iterationOf(batch)) || !scope.learner(learner)) return made;
      return { ...made, ...change(made, { batch, rows, count, learner, ppo }) };
    },
  };
}

/** A `prepare` that reads other columns of the batch than its own. */
export function changeBatch(
  clean: Stages,
  scope: Scope,
  columns: (batch: Batch) => BatchColumns,
): Pick<Stages, 'prepare'> {
  return {
    prepare(batch, rows, count, learner, ppo, into) {
      const run = () => clean.prepare(batch, rows, count, learner, ppo, into);
      if (!scope.begun(iterationOf(batch)) || !scope.learner(learner)) return run();
      return withColumns(batch, columns(batch), run);
    },
  };
}

export function iterationOf(batch: Batch): number {
  return batch.rows > 0 ? batch.iteration[0] : 0;
}

/** Whether a prepared row is struck. */
export function preparedStruck(made: LearnerRows, row: number, scope: Scope): boolean {
  return scope.row(made.iteration[row], made.sample[row], made.agent[row]);
}

/** The prepared row of each batch row; -1 where the batch row is not among them. */
export function preparedRowOf({ batch, rows, count }: Prepared): Int32Array {
  const place = new Int32Array(batch.rows).fill(-1);
  for (let i = 0; i < count; i++) place[rows[i]] = i;
  return place;
}

/** The first `length` entries, copied. */
export function copied(column: Float32Array, length: number): Float32Array {
  return column.slice(0, length);
}
