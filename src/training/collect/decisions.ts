/** The decisions that one learner is asked for at once, laid out as the engine reads them. Buffers are kept, nothing is allocated per step. */

import type { Learner } from '../../algorithms/learner.ts';
import type { CriticView } from '../../algorithms/mappo/critic-view.ts';
import type { Asked } from '../../algorithms/play.ts';
import type { Batch } from '../../batch/batch.ts';
import { copyFloatSpan } from '../../batch/gather.ts';
import type { ActionKind } from '../../distributions/distribution.ts';
import { actionKind } from '../../distributions/index.ts';
import type { Game } from '../../games/game.ts';
import type { RandomStream } from '../../math/random.ts';
import type { ActOutputs, DecisionRows, Policy } from '../../net/types.ts';

export class Decisions implements Asked {
  length = 0;
  readonly place: Int32Array;
  readonly uniforms: Float32Array;
  readonly temperatures: Float32Array;
  readonly rows: DecisionRows;
  readonly out: Required<ActOutputs>;
  readonly policy: Policy;
  readonly temperature = 1;
  readonly action: ActionKind;
  private readonly pointer: boolean;

  constructor(
    private readonly game: Game,
    readonly learner: Learner,
    private readonly view: CriticView,
    places: number,
    /** Length of the policy's input: the observation, and what accompanies it. */
    readonly width: number = game.shape.observation,
  ) {
    const { candidates, features } = game.shape;
    this.action = actionKind(game.shape);
    this.pointer = learner.policy.shape.head === 'pointer';
    this.place = new Int32Array(places);
    this.uniforms = new Float32Array(places * this.action.draws);
    this.policy = learner.policy;
    this.temperatures = new Float32Array(places).fill(1);
    const obs = new Float32Array(places * width);
    this.rows = {
      length: 0,
      obs,
      state: view.width > 0 ? new Float32Array(places * view.width) : obs,
      offsets: new Int32Array(places + 1),
      subset: new Int32Array(places * candidates),
      legal: new Uint8Array(places * candidates),
      candidateFeatures: new Float32Array(this.pointer ? places * candidates * features : 0),
    };
    this.out = {
      action: new this.action.array(places * this.action.width),
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
    const { draws } = this.action;
    // 24 bits, so that the draw stays below 1 in single precision.
    for (let k = 0; k < draws; k++) this.uniforms[this.length * draws + k] = (stream.int32() >>> 8) / 16777216;
    this.askValue(place);
  }

  /** Asks only for the critic's value at a place. */
  askValue(place: number): void {
    this.place[this.length++] = place;
    this.rows.length = this.length;
  }

  /** Copies what the asked places see, neighbouring places together. Lists of candidates are for decisions, not for values alone. */
  look(lists: boolean): void {
    const { game, rows, view, place, length, width } = this;
    const { observation } = game.shape;
    for (let i = 0, end = 0; i < length; i = end) {
      end = i + 1;
      // What accompanies an observation comes between it and the next one.
      if (width === observation) while (end < length && place[end] === place[end - 1] + 1) end++;
      copyFloatSpan(game.obs, place[i] * observation, rows.obs, i * width, (end - i) * observation);
    }
    if (view.width > 0) for (let i = 0; i < length; i++) view.write(game, place[i], rows.state, i * view.width);
    if (lists) this.lists();
  }

  /** Appends a row for each decision that was made, with all that it was made from. Returns the first of them. */
  append(batch: Batch): number {
    const { game, rows, view, out, length, width } = this;
    const { candidates, features } = game.shape;
    const first = batch.extend(length);
    copyFloatSpan(rows.obs, 0, batch.obs, first * width, length * width);
    copyFloatSpan(rows.state, 0, batch.state, first * view.width, length * view.width);
    copyFloatSpan(out.logp, 0, batch.oldLogp, first, length);
    copyFloatSpan(out.value, 0, batch.value, first, length);
    copyFloatSpan(this.temperatures, 0, batch.temperature, first, length);
    const { offsets, subset, legal } = rows;
    const { logits } = out;
    const lists = batch.subset;
    const masks = batch.legal;
    const kept = batch.logits;
    const counts = batch.numActions;
    for (let i = 0, to = first * candidates; i < length; i++, to += candidates) {
      const start = offsets[i];
      const count = offsets[i + 1] - start;
      counts[first + i] = count;
      for (let c = 0; c < count; c++) {
        lists[to + c] = subset[start + c];
        masks[to + c] = legal[start + c];
        kept[to + c] = logits[start + c];
      }
      for (let c = count; c < candidates; c++) {
        lists[to + c] = -1;
        masks[to + c] = 0;
      }
      if (features > 0) {
        const place = this.place[i] * candidates * features;
        copyFloatSpan(game.candidateFeatures, place, batch.candidateFeatures, to * features, count * features);
      }
    }
    return first;
  }

  private lists(): void {
    const { game, rows, place, length, pointer } = this;
    const { candidates, features } = game.shape;
    const { offsets, subset, legal } = rows;
    const { numActions: count, subset: lists, legal: masks } = game;
    let at = 0;
    for (let i = 0; i < length; i++) {
      const first = place[i] * candidates;
      const choices = count[place[i]];
      for (let c = 0; c < choices; c++) {
        subset[at + c] = lists[first + c];
        legal[at + c] = masks[first + c];
      }
      if (pointer)
        copyFloatSpan(
          game.candidateFeatures,
          first * features,
          rows.candidateFeatures,
          at * features,
          choices * features,
        );
      at += choices;
      offsets[i + 1] = at;
    }
  }
}
