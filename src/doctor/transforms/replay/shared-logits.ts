/** Without a recorded list: ids that two lists share must have the same logits in the update as in sampling. */
import { limits } from '../../limits.ts';
import type { ReplayRows } from './replay-rows.ts';

const same = limits.logp.value;

/** Whether the update's logits are those of the ids that `id` names, as far as the row's own list names them too. */
export function sharesLogits({ sampled, replayed, row }: ReplayRows, id: (candidate: number) => number): boolean {
  const count = replayed.count(row.replay);
  let shared = 0;
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < sampled.count(row.sample); j++) {
      if (sampled.id(row.sample, j) !== id(i)) continue;
      if (Math.abs(sampled.logit(row.sample, j) - replayed.logit(row.replay, i)) > same) return false;
      shared++;
    }
  }
  return shared > 0;
}

/** The update recorded logits and no list, and they are not those of the row's own list. */
export function listUnknown(rows: ReplayRows): boolean {
  const { sampled, replayed, row, hasLists } = rows;
  if (hasLists || !replayed.logits || !sampled.subset || !sampled.logits) return false;
  const own = sampled.count(row.sample) === replayed.count(row.replay);
  return !(own && sharesLogits(rows, (candidate) => sampled.id(row.sample, candidate)));
}

/** Whether sampling took the logits of ids 0, 1, 2 and so on; null where the row's list neither proves nor disproves it. */
export function sampledPrefix({ sampled, replayed, row }: ReplayRows): boolean | null {
  const count = sampled.count(row.sample);
  if (replayed.count(row.replay) !== count) return false;
  let shared = 0;
  let moved = false;
  for (let place = 0; place < count; place++) {
    const id = sampled.id(row.sample, place);
    if (id !== place) moved = true;
    if (!(id >= 0 && id < count)) continue;
    // An id below K that the list names has the same logit in the update, at its place in the list.
    if (Math.abs(sampled.logit(row.sample, id) - replayed.logit(row.replay, place)) > same) return false;
    shared++;
  }
  if (!moved) return false;
  return shared > 0 ? true : null;
}
