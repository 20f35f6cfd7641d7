/** How the others play, given their goals: one network for all others of an agent, from what the other sees, its goal and who it is to its choice. It learns from moves whose goal became known later. */
import { RandomStream } from '../../math/random.ts';
import type { Engine, PolicySave } from '../../net/types.ts';
import { Model } from '../hop/modules/model.ts';
import { copyRow, floats, ints, Ring } from '../hop/modules/ring.ts';
import { drawn } from './moves.ts';
import type { OthersModel } from './order.ts';
import type { PlannerSettings } from './settings.ts';

export const movesRing = (observation: number, capacity: number) =>
  new Ring(capacity, {
    obs: { make: floats, width: observation },
    agent: { make: ints, width: 1 },
    goal: { make: ints, width: 1 },
    action: { make: ints, width: 1 },
    mask: { make: ints, width: 1 },
  });
export type MovesRing = ReturnType<typeof movesRing>;

/** A move is never believed to be quite impossible. */
const surprise = 0.02;
export const neverImpossible = (chance: number, legalMoves: number) => (1 - surprise) * chance + surprise / legalMoves;

export class GoalModel implements OthersModel {
  private readonly model: Model;
  private readonly inputs: number;
  private targets = ints(0);
  private legal = ints(0);
  /** Of the row that was asked about last. */
  readonly probabilities: Float64Array;

  constructor(
    private readonly engine: Engine,
    private readonly size: { observation: number; actions: number; goals: number; agents: number },
    private readonly settings: PlannerSettings['models'],
    private readonly seed: number,
    /** Names its random streams. */
    private readonly name: string,
    private readonly agent: number,
  ) {
    this.inputs = size.observation + size.goals + size.agents - 1;
    const shape = { inputs: this.inputs, hidden: settings.hidden, outputs: size.actions };
    const rate = { learningRate: settings.learningRate, settles: false };
    this.model = new Model(engine, shape, rate, seed, name, 'goals');
    this.probabilities = new Float64Array(size.actions);
  }

  begin(rows: number): void {
    this.model.begin(rows);
  }

  /** Row i: what `other` sees, and its goal. */
  put(i: number, obs: Float32Array, at: number, goal: number, other: number): void {
    const { observation, goals, agents } = this.size;
    const { x } = this.model;
    const to = i * this.inputs;
    for (let k = 0; k < observation; k++) x[to + k] = obs[at + k];
    x[to + observation + goal] = 1;
    x[to + observation + goals + ((other - this.agent + agents) % agents) - 1] = 1;
  }

  forward(rows: number): void {
    if (rows > 0) this.model.forward(rows);
  }

  /** The chance of a move in row i, among the legal ones. */
  chance(i: number, legal: ArrayLike<number>, at: number, action: number): number {
    const legalMoves = this.distribution(i, legal, at);
    return neverImpossible(this.probabilities[action], legalMoves);
  }

  /** A move drawn in row i; `uniform` lies in [0, 1). */
  draw(i: number, legal: ArrayLike<number>, at: number, uniform: number): number {
    this.distribution(i, legal, at);
    return drawn(this.probabilities, this.size.actions, uniform);
  }

  private distribution(i: number, legal: ArrayLike<number>, at: number): number {
    const { actions } = this.size;
    const { y } = this.model;
    const { probabilities } = this;
    let most = Number.NEGATIVE_INFINITY;
    for (let a = 0; a < actions; a++) if (legal[at + a] === 1) most = Math.max(most, y[i * actions + a]);
    let sum = 0;
    let count = 0;
    for (let a = 0; a < actions; a++) {
      probabilities[a] = legal[at + a] === 1 ? Math.exp(y[i * actions + a] - most) : 0;
      count += legal[at + a];
      sum += probabilities[a];
    }
    for (let a = 0; a < actions; a++) probabilities[a] /= sum;
    return count;
  }

  /** The mean cross-entropy of an iteration's steps; NaN where too little was seen. */
  learn(ring: MovesRing, iteration: number): number {
    const { batch, updates } = this.settings;
    const { agent, goal, action, mask, obs } = ring.columns;
    const stream = RandomStream.of(this.seed, 'hop-planner', this.name, 'models', iteration);
    if (this.targets.length < batch) {
      this.targets = ints(batch);
      this.legal = ints(batch);
    }
    let others = 0;
    for (let row = 0; row < ring.size; row++) if (agent[row] !== this.agent) others++;
    if (others < batch) return Number.NaN;
    let sum = 0;
    for (let update = 0; update < updates; update++) {
      this.begin(batch);
      for (let i = 0; i < batch; ) {
        const row = stream.below(ring.size);
        if (agent[row] === this.agent) continue;
        this.put(i, obs, row * this.size.observation, goal[row], agent[row]);
        this.targets[i] = action[row];
        this.legal[i] = mask[row];
        i++;
      }
      sum += this.model.learn(batch, { kind: 'choice', targets: this.targets, legal: this.legal });
    }
    return sum / updates;
  }

  /** A model that stays as this one is now. */
  copy(): GoalModel {
    const copy = new GoalModel(this.engine, this.size, this.settings, this.seed, this.name, this.agent);
    copy.load(this.save());
    return copy;
  }

  save(): PolicySave {
    return this.model.save();
  }

  load(saved: PolicySave): void {
    this.model.load(saved);
  }
}

/** The latest moves of every place, which wait for their goal. */
export class OpenMoves {
  readonly count: Int32Array;
  private readonly obs: Float32Array;
  private readonly action: Int32Array;
  private readonly mask: Int32Array;

  constructor(
    places: number,
    private readonly observation: number,
    private readonly window: number,
  ) {
    this.count = ints(places);
    this.obs = floats(places * window * observation);
    this.action = ints(places * window);
    this.mask = ints(places * window);
  }

  add(place: number, obs: Float32Array, at: number, action: number, mask: number): void {
    const row = place * this.window + (this.count[place]++ % this.window);
    for (let k = 0; k < this.observation; k++) this.obs[row * this.observation + k] = obs[at + k];
    this.action[row] = action;
    this.mask[row] = mask;
  }

  /** The place has reached a goal: its moves towards it are known. */
  label(place: number, agent: number, goal: number, into: MovesRing): void {
    const { columns } = into;
    const known = Math.min(this.count[place], this.window);
    for (let k = this.count[place] - known; k < this.count[place]; k++) {
      const from = place * this.window + (k % this.window);
      const to = into.push();
      copyRow(this.obs, from, columns.obs, to, this.observation);
      columns.agent[to] = agent;
      columns.goal[to] = goal;
      columns.action[to] = this.action[from];
      columns.mask[to] = this.mask[from];
    }
    this.count[place] = 0;
  }

  save() {
    const { count, obs, action, mask } = this;
    return { count: count.slice(), obs: obs.slice(), action: action.slice(), mask: mask.slice() };
  }

  load(saved: ReturnType<OpenMoves['save']>): void {
    this.count.set(saved.count);
    this.obs.set(saved.obs);
    this.action.set(saved.action);
    this.mask.set(saved.mask);
  }
}
