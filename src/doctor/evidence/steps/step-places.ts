/** Where each step stands in its policy's order: what the numbers of epochs and minibatches alone do not tell. */
import type { Iteration } from '../iteration.ts';
import { stepKey } from './step-key.ts';

/** The place of each step in its policy's order, other networks' steps counted. */
export function placesOf({ steps }: Iteration): Map<number, number> {
  const places = new Map<number, number>();
  if (!steps) return places;
  const [epoch, minibatch, policy] = [steps.column('epoch')!, steps.column('minibatch')!, steps.column('policy')];
  const counts = new Map<number, number>();
  for (let i = 0; i < steps.rows; i++) {
    const who = policy ? policy[i] : 0;
    const place = counts.get(who) ?? 0;
    counts.set(who, place + 1);
    places.set(stepKey(epoch[i], minibatch[i], who), place);
  }
  return places;
}
