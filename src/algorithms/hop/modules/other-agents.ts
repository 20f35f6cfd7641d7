/** The model of other agents: one network for each of them, from what the agent sees and everybody's latest actions to the other's choice among its legal actions. */
import { type LocalPolicy, localPolicy, localPolicyBuffer } from '../../../math/local-policy.ts';
import type { Engine, PolicySave } from '../../../net/types.ts';
import type { HopSettings } from '../settings.ts';
import { clear, Model } from './model.ts';
import type { Planes, StateArray } from './planes.ts';
import { bytes, floats, ints, Ring } from './ring.ts';

/** How well choices are foreseen, on steps that were never trained on. */
export interface OtherAgentsErrors {
  steps: number;
  /** Share of choices that were the likeliest. */
  right: number;
  /** Share that always naming the commonest action would get. */
  majority: number;
  /** The best possible share: the mean largest probability of the true policies. NaN where they are not known. */
  best: number;
  /** Mean negative log-likelihood. */
  loss: number;
}

/** Steps of play in which somebody else acts. */
export type OtherRing = Ring<ReturnType<typeof otherLayout>>;

function otherLayout(planes: Planes) {
  const state = planes.cells < 256 ? bytes : ints;
  return {
    state: { make: state as (size: number) => StateArray, width: planes.stateWidth },
    recent: { make: ints, width: planes.players },
    mask: { make: ints, width: planes.players },
    /** -1 where the player did not act. */
    action: { make: ints, width: planes.players },
  };
}

export function otherRing(planes: Planes, capacity: number): OtherRing {
  return new Ring(capacity, otherLayout(planes));
}

export class OtherAgents {
  /** By how many seats the other is further on, less 1. */
  readonly models: Model[];
  private readonly inputs: number;
  private readonly batch: number;
  private legal = bytes(0);
  /** For each other: legal actions as bits. */
  private readonly bits: Int32Array[];
  private targets = ints(0);
  private rows = ints(0);
  private buffer: LocalPolicy = localPolicyBuffer(0);
  private readonly range = { start: 0, count: 0, at: 0 };
  private shared = floats(0);

  constructor(
    private readonly engine: Engine,
    private readonly planes: Planes,
    settings: HopSettings,
    seed: number,
    name: string,
  ) {
    this.batch = settings.otherAgents.batch;
    this.bits = Array.from({ length: planes.players - 1 }, () => ints(0));
    this.inputs = planes.observation + planes.players * planes.actions;
    // Others never stop changing, so neither does their model.
    const rate = { learningRate: settings.otherAgents.learningRate, settles: false };
    const shape = { inputs: this.inputs, hidden: settings.otherAgents.hidden, outputs: planes.actions };
    this.models = Array.from(
      { length: planes.players - 1 },
      (_, i) => new Model(engine, shape, rate, seed, name, 'other-agents', i),
    );
  }

  /** One optimiser step of every other's network, all on the same rows, drawn by `pick`; returns the mean loss. A network learns from the rows in which its agent acts. */
  learn(ring: OtherRing, pick: () => number): number {
    const { batch, models } = this;
    const { players, stateWidth } = this.planes;
    const x = this.begin(batch);
    this.reserve(batch);
    const { state, recent, mask, action } = ring.columns;
    const { rows } = this;
    for (let i = 0; i < batch; i++) {
      rows[i] = pick();
      this.write(state, rows[i] * stateWidth, recent, rows[i] * players, x, i * this.inputs);
    }
    let sum = 0;
    for (let other = 0; other < players - 1; other++) {
      const [legal, targets] = [this.bits[other], this.targets];
      for (let i = 0; i < batch; i++) {
        const at = rows[i] * players + other + 1;
        legal[i] = mask[at];
        targets[i] = action[at];
      }
      sum += models[other].learn(batch, { kind: 'choice', targets, legal }, x);
    }
    return sum / models.length;
  }

  /**
   * Fills the others' probabilities, (players - 1) x actions for each state: 0 for those that have left. `mask` holds legal actions as bits
   * for every player; 0 for one that is there but whose choices are not known, which allows all.
   */
  predict(
    states: StateArray,
    count: number,
    recent: Int32Array,
    mask: Int32Array,
    out: Float32Array,
    first = 0,
    stride = this.width,
  ): void {
    const { players, actions, stateWidth } = this.planes;
    this.reserve(count);
    this.begin(count);
    for (let i = 0; i < count; i++)
      this.write(states, i * stateWidth, recent, i * players, this.shared, i * this.inputs);
    for (let other = 0; other < players - 1; other++)
      for (let i = 0; i < count; i++) {
        const left = states[i * stateWidth + players + other + 1] === 0;
        this.bits[other][i] = left ? -1 : mask[i * players + other + 1];
      }
    this.engine.forward(
      this.models.map((model, other) => {
        const shares = out.subarray(first + other * actions);
        return model.job(count, this.shared, { legal: this.bits[other], shares, stride });
      }),
    );
  }

  /** Room for the inputs of so many rows, which all networks share, with zeros. */
  private begin(rows: number): Float32Array {
    const values = rows * this.inputs;
    if (this.shared.length < values) this.shared = this.engine.room.column(Float32Array, values);
    else clear(this.shared, values);
    return this.shared;
  }

  /** Values that `predict` writes for each state. */
  get width(): number {
    return (this.planes.players - 1) * this.planes.actions;
  }

  /** Compares predictions with choices. `best` holds the largest probability of the true policy for each row and player, NaN where it is not known. */
  test(
    columns: { state: StateArray; recent: Int32Array; mask: Int32Array; action: Int32Array; best: Float32Array },
    rows: ArrayLike<number>,
  ): OtherAgentsErrors {
    const { players, actions, stateWidth } = this.planes;
    this.reserve(rows.length);
    const { buffer } = this;
    let steps = 0;
    let right = 0;
    let majority = 0;
    let loss = 0;
    let best = 0;
    let known = 0;
    for (let other = 0; other < players - 1; other++) {
      const model = this.models[other];
      const x = model.begin(rows.length);
      const chosen = new Int32Array(actions);
      const used: number[] = [];
      for (let i = 0; i < rows.length; i++) {
        const at = rows[i] * players + other + 1;
        if (columns.action[at] < 0) continue;
        this.write(
          columns.state,
          rows[i] * stateWidth,
          columns.recent,
          rows[i] * players,
          x,
          used.length * this.inputs,
        );
        this.allow(columns.mask[at], used.length * actions);
        used.push(at);
      }
      if (used.length === 0) continue;
      model.forward(used.length);
      for (let i = 0; i < used.length; i++) {
        const action = columns.action[used[i]];
        const first = i * actions;
        this.distribution(model.y, first);
        let likeliest = 0;
        for (let a = 1; a < actions; a++)
          if (buffer.probabilities[first + a] > buffer.probabilities[first + likeliest]) likeliest = a;
        if (likeliest === action) right++;
        loss -= buffer.logProbabilities[first + action];
        chosen[action]++;
        const top = columns.best[used[i]];
        if (!Number.isNaN(top)) {
          best += top;
          known++;
        }
      }
      steps += used.length;
      majority += Math.max(...chosen);
    }
    const share = (sum: number, of: number) => (of > 0 ? sum / of : Number.NaN);
    return {
      steps,
      right: share(right, steps),
      majority: share(majority, steps),
      best: share(best, known),
      loss: share(loss, steps),
    };
  }

  save(): PolicySave[] {
    return this.models.map((model) => model.save());
  }

  load(saved: readonly PolicySave[]): void {
    this.models.forEach((model, i) => {
      model.load(saved[i]);
    });
  }

  private write(states: StateArray, at: number, recent: Int32Array, first: number, x: Float32Array, to: number): void {
    const { planes } = this;
    planes.write(states, at, x, to, false);
    for (let p = 0; p < planes.players; p++)
      if (recent[first + p] >= 0) x[to + planes.observation + p * planes.actions + recent[first + p]] = 1;
  }

  private allow(bits: number, at: number): void {
    for (let a = 0; a < this.planes.actions; a++) this.legal[at + a] = bits === 0 ? 1 : (bits >> a) & 1;
  }

  private distribution(logits: Float32Array, at: number): void {
    const { range } = this;
    range.start = at;
    range.at = at;
    range.count = this.planes.actions;
    localPolicy(logits, null, this.legal, 1, this.buffer, range);
  }

  private reserve(rows: number): void {
    const { actions } = this.planes;
    if (this.targets.length >= rows) return;
    this.targets = ints(rows);
    this.rows = ints(rows);
    this.legal = bytes(rows * actions);
    for (let other = 0; other < this.bits.length; other++) this.bits[other] = ints(rows);
    this.buffer = localPolicyBuffer(rows * actions);
  }
}
