/** Rows of a step that only reset its environment, as Gymnasium 1.x makes one after every end: the old episode's last state once more, unpaid. A first row is one only where the update leaves all such rows out, or where a time limit's own last value shows that the state is the old one; the first state of a new episode that was taken for the last of the old shows the same, so pay or the policy's answers must tell as well. */

import type { Iteration } from '../../evidence/iteration.ts';
import { limits } from '../../limits.ts';

export interface Resets {
  /** Rows right after an end, where all of them may be such; none otherwise. */
  readonly rows: readonly number[];
  /** Whether this iteration alone shows that they are. */
  readonly certain: boolean;
}

const none: Resets = { rows: [], certain: false };

export class ResetRows {
  private told = 0;
  private late = 0;
  private earned = false;

  see(iteration: Iteration): Resets {
    const { samples, chains } = iteration;
    const [reward, value, next] = ['reward', 'value', 'next_value'].map((name) => samples?.column(name) ?? null);
    const [terminated, truncated] = ['terminated', 'truncated'].map((name) => samples?.column(name) ?? null);
    if (!chains || !truncated) return none;
    const { leftOut } = iteration;
    const found: number[] = [];
    let [told, same, paid, others, left] = [0, 0, 0, 0, 0];
    for (let row = 0; row < chains.rows; row++) {
      const before = chains.streamPrevious[row];
      const begins = before >= 0 && chains.previous[row] < 0 && (terminated?.[before] === 1 || truncated[before] === 1);
      if (!begins) {
        others++;
        if (reward && reward[row] !== 0) paid++;
        continue;
      }
      found.push(row);
      if (leftOut?.[row] === 1) left++;
      // A first step may earn nothing in any game; one that earns something was a decision.
      if (reward && reward[row] !== 0) this.earned = true;
      if (!value || !next || truncated[before] !== 1 || !Number.isFinite(next[before] + value[row])) continue;
      told++;
      if (Math.abs(next[before] - value[row]) <= limits.rounding.value * (1 + Math.abs(value[row]))) same++;
    }
    // What follows every end and is never learned from was no decision.
    if (left > 0 && left === found.length) return { rows: found, certain: true };
    if (this.earned || told === 0 || same < limits.exactly.value * told) return none;
    this.jumps(iteration, found);
    return {
      rows: found,
      certain: reward !== null && told >= limits.fewestSteps.value && paid > limits.most.value * others,
    };
  }

  /** Where the policy's answers jump: a new episode begins between these rows and those after them, or before them already. */
  private jumps(iteration: Iteration, rows: readonly number[]): void {
    const { streamPrevious, streamNext } = iteration.chains!;
    for (const row of rows) {
      const [before, after] = [streamPrevious[row], streamNext[row]];
      if (before < 0 || after < 0) continue;
      const [into, out] = [apart(iteration, before, row), apart(iteration, row, after)];
      if (!Number.isFinite(into + out) || into === out) continue;
      this.told++;
      if (into < out) this.late++;
    }
  }

  /** Standard errors by which new episodes begin after these rows rather than with them, over all that was seen. */
  private get sigmas(): number {
    return this.earned || this.told === 0 ? 0 : (2 * this.late - this.told) / Math.sqrt(this.told);
  }

  /** Whether the answers show that rows which may only reset do. */
  get shown(): boolean {
    return this.sigmas >= limits.sigmas.value;
  }

  /** Whether they speak for it and do not show it. */
  get likely(): boolean {
    return this.sigmas > 0 && !this.shown;
  }
}

/** How far apart the policy's answers in two states are: its logits, or else its critic's values. */
function apart({ samples }: Iteration, one: number, other: number): number {
  const logits = samples!.list('logits');
  const [from, to] = logits ? [logits.offsets[one], logits.offsets[other]] : [0, 0];
  const width = logits ? logits.offsets[one + 1] - from : 0;
  const value = samples!.column('value')!;
  if (!logits || width === 0 || logits.offsets[other + 1] - to !== width) return Math.abs(value[one] - value[other]);
  let squares = 0;
  for (let k = 0; k < width; k++) squares += (logits.values[from + k] - logits.values[to + k]) ** 2;
  return squares;
}
