/** What the rows of a step add up to, and how exactly their columns were kept. */
import { Pairs } from '../../../math/statistics.ts';
import type { Iteration } from '../iteration.ts';

/** Sums over the rows of a step, each times its weight. */
export class Sums {
  rows = 0;
  weight = 0;
  k1 = 0;
  k2 = 0;
  k3 = 0;
  /** Rows whose ratio the clip would change, and those where it does. */
  beyond = 0;
  binding = 0;
  /** The ratio, or what the clip makes of it, whichever is smaller; and whichever is larger. */
  smaller = 0;
  larger = 0;
  loss = 0;
  unclipped = 0;
  plain = 0;
  logp = 0;
  absolute = 0;
  positive = 0;
  negative = 0;
  entropy = 0;
  logCount = 0;
  value = 0;
  value2 = 0;
  target = 0;
  target2 = 0;
  valueLoss = 0;
  after1 = 0;
  after2 = 0;
  after3 = 0;
  afterWeight = 0;
  largest = 0;
  constructor(
    readonly policy: number,
    readonly epoch: number,
    readonly minibatch: number,
    readonly before: boolean,
    readonly ratioPairs = new Pairs(),
    readonly changePairs = new Pairs(),
  ) {}

  /** Without rows of its own; its pairs are those of this one. */
  part(): Sums {
    return new Sums(this.policy, this.epoch, this.minibatch, this.before, this.ratioPairs, this.changePairs);
  }

  /** Takes in the rows of another, whose weights count so many times. */
  take(other: Sums, times = 1): void {
    this.rows += other.rows;
    this.logp = Math.max(this.logp, other.logp);
    this.largest = Math.max(this.largest, other.largest);
    for (const name of weighed) this[name] += times * other[name];
  }
}

/** Pairs on their way to their sums, which are made in one go. */
export class PairList {
  private x = new Float64Array(0);
  private y = new Float64Array(0);
  private count = 0;

  /** Empty, with room for so many. */
  begin(room: number): this {
    if (this.x.length < room) [this.x, this.y] = [new Float64Array(room), new Float64Array(room)];
    this.count = 0;
    return this;
  }

  /** Unless either is not finite. */
  put(x: number, y: number): void {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    this.x[this.count] = x;
    this.y[this.count++] = y;
  }

  end(into: Pairs): void {
    into.addAll(this.x, this.y, this.count);
  }
}

const weighed = [
  'weight',
  ...(['k1', 'k2', 'k3', 'beyond', 'binding', 'smaller', 'larger', 'loss', 'unclipped', 'plain'] as const),
  ...(['absolute', 'positive', 'negative', 'entropy', 'logCount', 'value', 'value2', 'target', 'target2'] as const),
  ...(['valueLoss', 'after1', 'after2', 'after3', 'afterWeight'] as const),
] as const;

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

/** exp(x) - 1. Most log-ratios are so small that a few terms give every digit. */
export function grownBy(x: number): number {
  if (!(Math.abs(x) < 0.02)) return Math.expm1(x);
  return x * (1 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x * (1 / 720 + x / 5040))))));
}
