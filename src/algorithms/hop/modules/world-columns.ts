/** What the world model learns from and what it predicts, as columns: one state after the other, and in each one entry for each player. */
import type { Planes, StateArray } from './planes.ts';

/** Steps of play as one agent saw them; per player columns have one entry for each player in the order in which the agent sees them. */
export interface StepColumns {
  readonly state: StateArray;
  readonly next: StateArray;
  /** -1 where the player did not act. */
  readonly action: Int32Array;
  /** Legal actions as bits, before and after the step; 0 where the player does not act. */
  readonly mask: Int32Array;
  readonly nextMask: Int32Array;
  readonly reward: Float32Array;
  /** 1 where the episode ended for all, other than by running out of time. */
  readonly end: Uint8Array;
}

/** What one step of imagination gives, per state and player. */
export interface Predicted {
  next: StateArray;
  reward: Float32Array;
  nextMask: Int32Array;
  end: Uint8Array;
}

export function emptyPrediction(): Predicted {
  return { next: new Uint8Array(0), reward: new Float32Array(0), nextMask: new Int32Array(0), end: new Uint8Array(0) };
}

export function reservePrediction(out: Predicted, planes: Planes, count: number): void {
  if (out.end.length >= count) return;
  out.next = planes.states(count);
  out.reward = new Float32Array(count * planes.players);
  out.nextMask = new Int32Array(count * planes.players);
  out.end = new Uint8Array(count);
}
