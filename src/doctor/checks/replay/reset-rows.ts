/** Rows of a step that only reset its environment, as Gymnasium 1.x makes one after every end: the old episode's last state once more, unpaid. A first row is one only where a time limit's own last value shows that the state is the old one. */

import type { Iteration } from '../../evidence/iteration.ts';
import { limits } from '../../limits.ts';

/** Rows right after an end, where all of them are such; none otherwise. */
export function resetRows({ samples, chains }: Iteration): number[] {
  const [reward, value, next] = ['reward', 'value', 'next_value'].map((name) => samples?.column(name) ?? null);
  const terminated = samples?.column('terminated');
  const truncated = samples?.column('truncated');
  if (!chains || !reward || !value || !next || !truncated) return [];
  const found: number[] = [];
  let [told, same, paid, others] = [0, 0, 0, 0];
  for (let row = 0; row < chains.rows; row++) {
    const before = chains.streamPrevious[row];
    const begins = before >= 0 && chains.previous[row] < 0 && (terminated?.[before] === 1 || truncated[before] === 1);
    if (!begins) {
      others++;
      if (reward[row] !== 0) paid++;
      continue;
    }
    // A first step may earn nothing in any game; one that earns something was a decision.
    if (reward[row] !== 0) return [];
    found.push(row);
    if (truncated[before] !== 1 || !Number.isFinite(next[before] + value[row])) continue;
    told++;
    if (Math.abs(next[before] - value[row]) <= limits.rounding.value * (1 + Math.abs(value[row]))) same++;
  }
  const shown = told >= limits.fewestSteps.value && same >= limits.exactly.value * told;
  return shown && paid > limits.most.value * others ? found : [];
}
