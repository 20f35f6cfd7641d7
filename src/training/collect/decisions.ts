/** The decisions that one learner is asked for at once. What they are made from lies in the batch alone: the engine reads a window of it, good for one step. */

import type { Learner } from '../../algorithms/learner.ts';
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
  /** Length of the policy's input: the observation, and what accompanies it. */
  readonly width: number;
  /** The batch row of the first decision, and the slot of what it sees. */
  first = 0;
  private slot = 0;
  /** What the policy sees, where that is less than a row of the batch has room for. */
  private narrow = new Float32Array(0);

  constructor(
    private readonly game: Game,
    readonly learner: Learner,
    places: number,
  ) {
    this.width = learner.inputs;
    const { candidates } = game.shape;
    this.action = actionKind(game.shape);
    this.place = new Int32Array(places);
    this.uniforms = new Float32Array(places * this.action.draws);
    this.policy = learner.policy;
    this.temperatures = new Float32Array(places).fill(1);
    const none = new Float32Array(0);
    this.rows = {
      length: 0,
      obs: none,
      state: none,
      offsets: new Int32Array(places + 1),
      subset: new Int32Array(0),
      legal: new Uint8Array(0),
      candidateFeatures: none,
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

  /** Writes what the asked places see where the batch's next rows have it, neighbouring places together. */
  look(batch: Batch): void {
    const { game, place, length, width } = this;
    const { view } = this.learner;
    const { observation } = game.shape;
    const room = batch.shape.observation;
    batch.reserve(batch.rows + length);
    const slot = batch.nextSlot;
    this.slot = slot;
    for (let i = 0, end = 0; i < length; i = end) {
      end = i + 1;
      // What accompanies an observation comes between it and the next one.
      if (room === observation) while (end < length && place[end] === place[end - 1] + 1) end++;
      copyFloatSpan(game.obs, place[i] * observation, batch.obs, (slot + i) * room, (end - i) * observation);
    }
    if (width < room)
      for (let i = 0; i < length; i++) batch.obs.fill(0, (slot + i) * room + width, (slot + i + 1) * room);
    if (view.width > 0)
      for (let i = 0; i < length; i++) view.write(game, place[i], batch.state, (slot + i) * view.width);
  }

  /** Looks, and makes the batch's next rows of what was seen and of the lists to choose from. */
  enter(batch: Batch): void {
    const { game, rows, place, length } = this;
    const { candidates, features } = game.shape;
    this.look(batch);
    this.first = batch.extend(length);
    let total = 0;
    for (let i = 0; i < length; i++) total += game.numActions[place[i]];
    const start = batch.extendLists(total);
    const { subset, legal, first, numActions } = batch;
    for (let i = 0, at = start; i < length; i++) {
      const from = place[i] * candidates;
      const choices = game.numActions[place[i]];
      first[this.first + i] = at;
      numActions[this.first + i] = choices;
      for (let c = 0; c < choices; c++) {
        subset[at + c] = game.subset[from + c];
        legal[at + c] = game.legal[from + c];
      }
      copyFloatSpan(
        game.candidateFeatures,
        from * features,
        batch.candidateFeatures,
        at * features,
        choices * features,
      );
      at += choices;
      rows.offsets[i + 1] = at - start;
    }
  }

  /** Points the engine to what was looked at. A batch that grows moves, so everybody looks before anybody is shown. */
  show(batch: Batch): void {
    const { rows, slot, length, width, first } = this;
    const { view } = this.learner;
    const { features, observation: room } = batch.shape;
    if (width === room) rows.obs = batch.obs.subarray(slot * width, (slot + length) * width);
    else {
      if (this.narrow.length < length * width) this.narrow = new Float32Array(this.place.length * width);
      for (let i = 0; i < length; i++) copyFloatSpan(batch.obs, (slot + i) * room, this.narrow, i * width, width);
      rows.obs = this.narrow;
    }
    rows.state = view.width > 0 ? batch.state.subarray(slot * view.width, (slot + length) * view.width) : rows.obs;
    const start = batch.first[first];
    const end = start + rows.offsets[length];
    rows.subset = batch.subset.subarray(start, end);
    rows.legal = batch.legal.subarray(start, end);
    rows.candidateFeatures = batch.candidateFeatures.subarray(start * features, end * features);
  }

  /** What was decided, into the rows that were entered for it. */
  keep(batch: Batch): void {
    const { rows, out, length, first, width } = this;
    // What accompanies the observation was written beside the batch.
    if (rows.obs === this.narrow && width > this.game.shape.observation)
      for (let i = 0; i < length; i++) batch.see(first + i, rows.obs, i * width, width);
    copyFloatSpan(out.logp, 0, batch.oldLogp, first, length);
    copyFloatSpan(out.value, 0, batch.value, first, length);
    copyFloatSpan(this.temperatures, 0, batch.temperature, first, length);
    copyFloatSpan(out.logits, 0, batch.logits, batch.first[first], rows.offsets[length]);
  }
}
