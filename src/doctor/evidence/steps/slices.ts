/** The parts of a step whose gradients are gathered one after another. Which rows a part has is recorded, or follows from how many parts are declared; nothing here guesses it where neither is so. */
import type { Iteration } from '../iteration.ts';
import type { Numbers, Rows } from '../rows.ts';
import type { Run } from '../run.ts';
import { stride } from './step-key.ts';
import { replayedRows } from './step-stats.ts';

/** How many parts a step's rows are declared to come in; 1 where nothing is said. */
export function declaredParts(run: Run): number {
  const parts = run.number('gradient_accumulation');
  return Number.isInteger(parts) && parts > 1 ? parts : 1;
}

/** Where parts of so many rows each end; the last has what is left. */
export function endsOf(rows: number, size: number): number[] {
  const ends: number[] = [];
  for (let end = size; end < rows; end += size) ends.push(end);
  return [...ends, rows];
}

/** The policies of an update whose actor was moved more than once at the place where their first rows are: rows there may follow a step. */
export function movedWithin(run: Run, tensors: Rows | null, first: ReadonlyMap<number, number>): ReadonlySet<number> {
  const found = new Set<number>();
  const delta = tensors?.column('delta');
  if (!tensors || !delta) return found;
  const [tensor, epoch, minibatch] = ['tensor', 'epoch', 'minibatch'].map((name) => tensors.column(name)) as Numbers[];
  const seen = new Set<number>();
  for (let i = 0; i < tensors.rows; i++) {
    const about = run.tensors[tensor[i]];
    if (!about || about.role === 'critic' || !(delta[i] > 0)) continue;
    if (epoch[i] * stride + minibatch[i] !== first.get(about.policy)) continue;
    if (seen.has(tensor[i])) found.add(about.policy);
    seen.add(tensor[i]);
  }
  return found;
}

/** By step, the loss of all pairs of a ratio with an advantage where pairs are made within each part. */
export function pairsWithin(iteration: Iteration, parts: number): Map<number, number> {
  const advantage = iteration.replays?.column('advantage');
  const steps = new Map<number, { log: number; advantage: number; weight: number }[]>();
  if (!advantage) return new Map();
  for (const { key, row, log, weight } of replayedRows(iteration)) {
    const rows = steps.get(key) ?? [];
    steps.set(key, rows);
    rows.push({ log, advantage: advantage[row], weight });
  }
  const found = new Map<number, number>();
  for (const [key, rows] of steps) {
    const clip = iteration.clipOf(key);
    let [loss, whole, from] = [0, 0, 0];
    for (const end of endsOf(rows.length, Math.ceil(rows.length / parts))) {
      let [smaller, larger, gains, losses, total] = [0, 0, 0, 0, 0];
      for (const { log, advantage: a, weight: w } of rows.slice(from, end)) {
        const ratio = Math.exp(log);
        smaller += w * Math.min(ratio, 1 + clip);
        larger += w * Math.max(ratio, 1 - clip);
        if (a > 0) gains += w * a;
        else losses += w * a;
        total += w;
      }
      loss -= (smaller * gains + larger * losses) / total;
      whole += total;
      from = end;
    }
    found.set(key, loss / whole);
  }
  return found;
}
