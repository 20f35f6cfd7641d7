/**
 * The world model: from a state and everybody's actions to the next state, every player's reward, who leaves, whether the episode ends, and
 * the next legal masks. It is a small ensemble: its members differ in their first weights and in what they are trained on, and a rollout is
 * imagined by one of them, so that what they are not sure of is not the same in every rollout.
 */
import type { RandomStream } from '../../../math/random.ts';
import type { Engine, PolicySave } from '../../../net/types.ts';
import type { HopSettings } from '../settings.ts';
import type { Planes, StateArray } from './planes.ts';
import { copyRow } from './ring.ts';
import { emptyPrediction, type Predicted, reservePrediction, type StepColumns } from './world-columns.ts';
import { type WorldModelErrors, WorldTally } from './world-errors.ts';
import { WorldMember } from './world-member.ts';

export class WorldModel {
  readonly members: WorldMember[];
  private readonly predicted: Predicted = emptyPrediction();
  private states: StateArray;
  private actions = new Int32Array(0);
  private rows: Int32Array;

  constructor(
    engine: Engine,
    private readonly planes: Planes,
    settings: HopSettings,
    seed: number,
    name: string,
  ) {
    this.members = Array.from(
      { length: settings.worldModel.members },
      (_, i) => new WorldMember(engine, planes, settings, seed, name, i),
    );
    this.states = planes.states(0);
    this.rows = new Int32Array(settings.worldModel.batch);
  }

  /** One optimiser step of a member on rows drawn by `pick`; returns the loss. */
  learn(member: number, columns: StepColumns, pick: () => number, stream: RandomStream): number {
    for (let i = 0; i < this.rows.length; i++) this.rows[i] = pick();
    return this.members[member].learn(columns, this.rows, this.rows.length, stream);
  }

  step(member: number, states: StateArray, count: number, action: Int32Array, out: Predicted): void {
    reservePrediction(out, this.planes, count);
    this.members[member].step(states, count, action, out);
  }

  /** Compares predictions with what happened, on the given rows. */
  test(columns: StepColumns, rows: ArrayLike<number>): WorldModelErrors {
    const { planes, predicted } = this;
    const { players, stateWidth } = planes;
    const count = rows.length;
    if (this.actions.length < count * players) {
      this.states = planes.states(count);
      this.actions = new Int32Array(count * players);
    }
    for (let i = 0; i < count; i++) {
      copyRow(columns.state, rows[i], this.states, i, stateWidth);
      copyRow(columns.action, rows[i], this.actions, i, players);
    }
    const tally = new WorldTally(planes);
    for (let member = 0; member < this.members.length; member++) {
      this.step(member, this.states, count, this.actions, predicted);
      for (let i = 0; i < count; i++) tally.compare(columns, rows[i], predicted, i);
    }
    return tally.errors(count);
  }

  save(): PolicySave[] {
    return this.members.flatMap((member) => member.models.map((model) => model.save()));
  }

  load(saved: readonly PolicySave[]): void {
    this.members
      .flatMap((member) => member.models)
      .forEach((model, i) => {
        model.load(saved[i]);
      });
  }
}
