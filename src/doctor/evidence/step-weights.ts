/** How much a row counts in its step, and how exactly its columns were kept. */
import type { Iteration } from './iteration.ts';

/** Weights under which the mean over a step is the mean of its two halves' means. */
export function halfWeights({ replays }: Iteration): Float64Array {
  const epoch = replays!.column('epoch')!;
  const minibatch = replays!.column('minibatch')!;
  const policy = replays!.column('policy');
  const weight = replays!.column('weight');
  const out = new Float64Array(replays!.rows).fill(1);
  if (weight) for (let i = 0; i < out.length; i++) if (!Number.isNaN(weight[i])) out[i] = weight[i];
  for (let from = 0, to = 0; from < out.length; from = to) {
    for (to = from + 1; to < out.length; to++)
      if (epoch[to] !== epoch[from] || minibatch[to] !== minibatch[from] || (policy && policy[to] !== policy[from]))
        break;
    const middle = from + Math.ceil((to - from) / 2);
    const sum = (a: number, b: number) => out.subarray(a, b).reduce((total, w) => total + w, 0);
    const [first, second] = [sum(from, middle), sum(middle, to)];
    if (first === 0 || second === 0) continue;
    for (let i = from; i < to; i++) out[i] *= (first + second) / 2 / (i < middle ? first : second);
  }
  return out;
}

/** A loss is made of ratios, exponentials of differences, and of advantages. */
export function narrowness({ replays, samples }: Iteration): number {
  const grain = Math.max(
    replays!.grain('new_logp'),
    replays!.column('old_logp') ? replays!.grain('old_logp') : (samples?.grain('old_logp') ?? 0),
  );
  let largest = 0;
  const fresh = grain > 0 ? replays!.measured('new_logp')! : [];
  for (let i = 0; i < fresh.length; i++) if (Math.abs(fresh[i]) > largest) largest = Math.abs(fresh[i]);
  return replays!.grain('advantage') + 2 * grain * largest;
}
