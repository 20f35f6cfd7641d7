/** Labels by which a trainer may wrongly treat rows apart. */
import type { Iteration } from './iteration.ts';

export type Grouping = 'action' | 'place' | 'group';

/** A number per row: the global id of its action (the local one without lists), its place in the row's list, or the recorded group. */
export function groupKeys(iteration: Iteration, by: Grouping): Float64Array | null {
  const { samples } = iteration;
  if (!samples) return null;
  if (by === 'group') {
    const group = samples.column('group');
    return group ? Float64Array.from(group) : null;
  }
  const action = samples.column('action');
  const subset = by === 'action' ? samples.list('subset') : null;
  if (!action) return null;
  return Float64Array.from(action, (local, row) => {
    if (!subset || local < 0) return local;
    const at = subset.offsets[row] + local;
    return at < subset.offsets[row + 1] ? subset.values[at] : local;
  });
}
