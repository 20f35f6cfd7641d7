/** A language model of a few numbers: logits from the token before and from the position, exact in double precision. It exists so that every column of a token recording has a known right value. */
import type { RandomStream } from '../../../src/math/random.ts';

export const vocabulary = 12;

export interface Weights {
  version: number;
  pairs: Float64Array;
  places: Float64Array;
}

export function startWeights(random: RandomStream): Weights {
  const draw = (count: number, size: number) =>
    Float64Array.from({ length: count }, () => size * (random.uniform() - 0.5));
  return { version: 0, pairs: draw(vocabulary * vocabulary, 3), places: draw(64 * vocabulary, 2) };
}

export function moved(weights: Weights, random: RandomStream, size: number): Weights {
  const nudge = (values: Float64Array) => values.map((value) => value + size * (random.uniform() - 0.5));
  return { version: weights.version + 1, pairs: nudge(weights.pairs), places: nudge(weights.places) };
}

/** What was asked of weights before: most of it is asked for half a dozen times. */
const known = new WeakMap<Weights, Map<string, Float64Array>>();

/** Log-probabilities of all tokens after `before`, at a position. Whoever gets them leaves them as they are. */
export function distribution(weights: Weights, before: number, position: number, temperature: number): Float64Array {
  const own = known.get(weights) ?? new Map<string, Float64Array>();
  known.set(weights, own);
  const key = `${before} ${position % 64} ${temperature}`;
  const found = own.get(key) ?? computed(weights, before, position, temperature);
  own.set(key, found);
  return found;
}

function computed(weights: Weights, before: number, position: number, temperature: number): Float64Array {
  const logits = new Float64Array(vocabulary);
  for (let k = 0; k < vocabulary; k++)
    logits[k] =
      (weights.pairs[before * vocabulary + k] + weights.places[(position % 64) * vocabulary + k]) / temperature;
  const most = Math.max(...logits);
  const total = most + Math.log(logits.reduce((sum, value) => sum + Math.exp(value - most), 0));
  return logits.map((value) => value - total);
}

/** Which tokens top-p keeps, and their mass. */
export function kept(logp: Float64Array, topP: number): { keep: Uint8Array; mass: number } {
  const order = [...logp.keys()].sort((a, b) => logp[b] - logp[a]);
  const keep = new Uint8Array(logp.length);
  let mass = 0;
  for (const k of order) {
    if (mass >= topP) break;
    keep[k] = 1;
    mass += Math.exp(logp[k]);
  }
  return { keep, mass };
}
