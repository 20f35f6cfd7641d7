/** Labels by which a trainer may wrongly treat rows apart. */
import type { Iteration } from './iteration.ts';
import { withAgent } from './keys.ts';

export type Grouping = 'action' | 'place' | 'group' | 'env' | 'step';

/** A number per row: the global id of its action (the local one without lists), its place in the row's list, the recorded group, its environment, or which step of the rollout it is there. */
export function groupKeys(iteration: Iteration, by: Grouping): Float64Array | null {
  const { samples } = iteration;
  if (!samples) return null;
  if (by === 'group' || by === 'env') {
    const group = samples.column(by);
    return group ? Float64Array.from(group) : null;
  }
  if (by === 'step') return steps(iteration);
  const action = samples.column('action');
  const subset = by === 'action' ? samples.list('subset') : null;
  if (!action) return null;
  return Float64Array.from(action, (local, row) => {
    if (!subset || local < 0) return local;
    const at = subset.offsets[row] + local;
    return at < subset.offsets[row + 1] ? subset.values[at] : local;
  });
}

/** Rows of one agent in one environment lie in the order of their steps. */
function steps({ samples }: Iteration): Float64Array | null {
  const [env, agent] = [samples!.column('env'), samples!.column('agent')];
  if (!env || !agent) return null;
  const counts = new Map<number, number>();
  return Float64Array.from(env, (own, row) => {
    const key = withAgent(own, agent[row]);
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return count;
  });
}
