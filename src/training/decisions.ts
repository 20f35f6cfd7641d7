/** The decisions that one learner is asked for at once, laid out as the engine reads them. Buffers are kept, nothing is allocated per step. */
import type { CriticView } from '../agents/mappo.ts';
import type { Learner } from '../agents/ppo.ts';
import type { Game } from '../games/game.ts';
import type { RandomStream } from '../math/random.ts';
import type { ActOutputs, DecisionRows } from '../net/types.ts';
import type { Batch } from './batch.ts';

export class Decisions {
  length = 0;
  readonly place: Int32Array;
  readonly uniforms: Float32Array;
  readonly temperature: Float32Array;
  readonly rows: DecisionRows;
  readonly out: Required<ActOutputs>;
  private readonly pointer: boolean;

  constructor(
    private readonly game: Game,
    readonly learner: Learner,
    private readonly view: CriticView,
    places: number,
  ) {
    const { observation, candidates, features } = game.shape;
    this.pointer = learner.policy.shape.head === 'pointer';
    this.place = new Int32Array(places);
    this.uniforms = new Float32Array(places);
    this.temperature = new Float32Array(places).fill(1);
    const obs = new Float32Array(places * observation);
    this.rows = {
      length: 0,
      obs,
      state: view.width > 0 ? new Float32Array(places * view.width) : obs,
      offsets: new Int32Array(places + 1),
      subset: new Int32Array(places * candidates),
      legal: new Uint8Array(places * candidates),
      features: new Float32Array(this.pointer ? places * candidates * features : 0),
    };
    this.out = {
      action: new Int32Array(places),
      logp: new Float32Array(places),
      entropy: new Float32Array(places),
      value: new Float32Array(places),
      logits: new Float32Array(places * candidates),
    };
  }

  clear(): void {
    this.length = 0;
    this.rows.length = 0;
  }

  /** Asks for a decision at an acting place. */
  ask(place: number, stream: RandomStream): void {
    const { game, rows } = this;
    const { candidates, features } = game.shape;
    const count = game.count[place];
    const i = this.askValue(place);
    // 24 bits, so that the draw stays below 1 in single precision.
    this.uniforms[i] = (stream.int32() >>> 8) / 16777216;
    let at = rows.offsets[i];
    const first = place * candidates;
    for (let c = 0; c < count; c++) {
      rows.subset[at + c] = game.candidates[first + c];
      rows.legal[at + c] = game.legal[first + c];
    }
    if (this.pointer) {
      let feature = at * features;
      for (let f = first * features; f < (first + count) * features; f++) rows.features[feature++] = game.features[f];
    }
    at += count;
    rows.offsets[i + 1] = at;
  }

  /** Asks only for the critic's value at a place. */
  askValue(place: number): number {
    const { game, rows, view } = this;
    const { observation } = game.shape;
    const i = this.length++;
    rows.length = this.length;
    this.place[i] = place;
    for (let k = 0; k < observation; k++) rows.obs[i * observation + k] = game.observation[place * observation + k];
    if (view.width > 0) view.write(game, place, rows.state, i * view.width);
    return i;
  }

  copyCriticState(i: number, batch: Batch, row: number): void {
    const { width } = this.view;
    for (let k = 0; k < width; k++) batch.criticState[row * width + k] = this.rows.state[i * width + k];
  }
}
