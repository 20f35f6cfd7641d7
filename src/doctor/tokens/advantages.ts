/** Advantages of responses from their rewards: a baseline over some members, a scale over some members. Deviations over n and over n - 1 are both usual, so both are given. */
import type { TokenSettings } from '../../recording/token-settings.ts';

export interface Batch {
  rewards: Float64Array;
  group: Float64Array;
  /** 1 where the response is trained. */
  trained: Uint8Array;
}

export interface Rule {
  baseline: NonNullable<TokenSettings['baseline']>;
  scale: NonNullable<TokenSettings['scale']>;
  epsilon: number;
  /** Whether deviations divide by n - 1. */
  unbiased: boolean;
  members: 'all' | 'trained';
}

/** Members of every group, by what the rule takes for a group. */
export type Grouping = (batch: Batch) => Int32Array;

export const groupings: Record<string, Grouping> = {
  own: ({ group }) => numbered(group),
  batch: ({ group }) => new Int32Array(group.length),
  neighbours: ({ group }) => Int32Array.from(group, (_, i) => Math.floor(i / sizeOf(group))),
  late: ({ group }) =>
    Int32Array.from(group, (_, i) => Math.floor(((i + group.length - 1) % group.length) / sizeOf(group))),
  merged: ({ group }) => numbered(group).map((own) => Math.floor(own / 2)),
  interleaved: ({ group }) => {
    const count = Math.max(1, Math.round(group.length / sizeOf(group)));
    return Int32Array.from(group, (_, i) => i % count);
  },
};

/** The usual size of a group. */
function sizeOf(group: Float64Array): number {
  return Math.max(1, Math.round(group.length / new Set(group).size));
}

export function numbered(values: ArrayLike<number>): Int32Array {
  const known = new Map<number, number>();
  return Int32Array.from(values as Float64Array, (value) => {
    const own = known.get(value) ?? known.size;
    known.set(value, own);
    return own;
  });
}

export function advantagesOf(batch: Batch, rule: Rule, members: Int32Array, firstOnly = false): Float64Array {
  const { rewards, trained } = batch;
  const counts = (i: number) => !Number.isNaN(rewards[i]) && (rule.members === 'all' || trained[i] === 1);
  const stats = new Map<number, { sum: number; squares: number; count: number; first: number }>();
  const whole = { sum: 0, squares: 0, count: 0, first: Number.NaN };
  const add = (own: typeof whole, reward: number) => {
    if (own.count === 0) own.first = reward;
    own.sum += reward;
    own.squares += (reward - own.first) ** 2;
    own.count++;
  };
  for (let i = 0; i < rewards.length; i++) {
    if (!counts(i)) continue;
    const own = stats.get(members[i]) ?? { sum: 0, squares: 0, count: 0, first: Number.NaN };
    stats.set(members[i], own);
    add(own, rewards[i]);
    add(whole, rewards[i]);
  }
  const deviation = ({ sum, squares, count, first }: typeof whole) => {
    // Around the first member, so that equal rewards leave no rounding behind.
    const shift = sum / count - first;
    const variance = Math.max(0, squares / count - shift * shift);
    return Math.sqrt(rule.unbiased && count > 1 ? (variance * count) / (count - 1) : variance);
  };
  const centred = rewards.map((reward, i) => {
    const own = stats.get(members[i]);
    if (!own) return Number.NaN;
    if (firstOnly) return reward - own.first;
    if (rule.baseline === 'group-mean') return reward - own.sum / own.count;
    if (rule.baseline === 'leave-one-out')
      return counts(i)
        ? own.count > 1
          ? reward - (own.sum - reward) / (own.count - 1)
          : 0
        : reward - own.sum / own.count;
    if (rule.baseline === 'batch-mean') return reward - whole.sum / whole.count;
    return reward;
  });
  if (rule.scale === 'none') return centred;
  if (rule.scale === 'group-deviation')
    return centred.map((value, i) => {
      const own = stats.get(members[i]);
      return own ? value / (deviation(own) + rule.epsilon) : Number.NaN;
    });
  const overAll = { sum: 0, squares: 0, count: 0, first: Number.NaN };
  centred.forEach((value, i) => {
    if (counts(i) && !Number.isNaN(value)) add(overAll, value);
  });
  const [centre, width] = [rule.baseline === 'none' ? overAll.sum / overAll.count : 0, deviation(overAll)];
  return centred.map((value) => (value - centre) / (width + rule.epsilon));
}
