/** Chances of moves among the legal ones, from nothing and from logits, and moves drawn from them. */
import type { RandomStream } from '../../math/random.ts';

export function randomMove(legal: ArrayLike<number>, at: number, actions: number, stream: RandomStream): number {
  let count = 0;
  for (let a = 0; a < actions; a++) count += legal[at + a];
  let wanted = stream.below(count);
  for (let a = 0; a < actions; a++) if (legal[at + a] === 1 && wanted-- === 0) return a;
  return 0;
}

export function softmax(
  logits: Float32Array,
  legal: Uint8Array,
  from: number,
  count: number,
  out: Float32Array,
  to: number,
): void {
  let most = Number.NEGATIVE_INFINITY;
  for (let a = 0; a < count; a++) if (legal[from + a] === 1) most = Math.max(most, logits[from + a]);
  let sum = 0;
  for (let a = 0; a < count; a++) {
    out[to + a] = legal[from + a] === 1 ? Math.exp(logits[from + a] - most) : 0;
    sum += out[to + a];
  }
  for (let a = 0; a < count; a++) out[to + a] /= sum;
}

export function drawn(probabilities: ArrayLike<number>, count: number, uniform: number): number {
  let left = uniform;
  let last = 0;
  for (let a = 0; a < count; a++) {
    if (probabilities[a] <= 0) continue;
    last = a;
    left -= probabilities[a];
    if (left < 0) return a;
  }
  return last;
}
