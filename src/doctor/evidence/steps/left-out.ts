/** Samples that enter no loss, so that nobody learns from their credit. */
import type { Iteration } from '../iteration.ts';

/** 1 for every sample that the update gave no weight whenever it saw it, or that it never saw and whose credit is 0, as that of an agent who has left; null where there is none. */
export function leftOut({ samples, replays, own }: Pick<Iteration, 'samples' | 'replays' | 'own'>): Uint8Array | null {
  const sample = replays?.column('sample');
  if (!samples || !sample || !own.includes(1)) return null;
  const [weight, credit] = [replays!.column('weight'), samples.column('advantage')];
  const out = new Uint8Array(samples.rows);
  if (credit) for (let row = 0; row < out.length; row++) out[row] = credit[row] === 0 ? 1 : 0;
  else if (!weight) return null;
  for (let i = 0; i < own.length; i++) if (own[i] === 1) out[sample[i]] = weight?.[i] === 0 ? 1 : 0;
  for (let i = 0; i < own.length; i++) if (own[i] === 1 && weight?.[i] !== 0) out[sample[i]] = 0;
  return out.includes(1) ? out : null;
}

/** What such rows were given as credit, which those before them may carry; NaN for all others. */
export function givenCredit({ samples, leftOut }: Pick<Iteration, 'samples' | 'leftOut'>): Float64Array | null {
  const credit = samples?.column('advantage');
  return leftOut && credit ? Float64Array.from(leftOut, (left, row) => (left === 1 ? credit[row] : Number.NaN)) : null;
}
