/** How wrong the world model is, counted step by step. An error counts once however many figures of the step it spoils. */
import type { Planes } from './planes.ts';
import type { Predicted, StepColumns } from './world-columns.ts';

/** Shares of wrong predictions on steps that were never trained on, averaged over the members. */
export interface WorldModelErrors {
  steps: number;
  /** Steps in which anything that imagination uses is wrong. */
  any: number;
  /** Steps in which a player's next cell is wrong. */
  cells: number;
  /** Of the steps in which something is caught, or is predicted to be: those in which who leaves or what is gone is wrong. */
  catches: number;
  /** Mean absolute error over players, and over players that are paid. */
  reward: number;
  paid: number;
  /** Steps in which a next legal mask, or the end, is wrong. */
  masks: number;
  ends: number;
}

/** A reward that is off by more than this would be credited wrongly. */
const rewardTolerance = 0.25;

/** Counts what is wrong. */
export class WorldTally {
  private compared = 0;
  private any = 0;
  private cells = 0;
  private caught = 0;
  private catches = 0;
  private masks = 0;
  private ends = 0;
  private reward = 0;
  private rewards = 0;
  private paid = 0;
  private paidCount = 0;

  constructor(private readonly planes: Planes) {}

  compare(columns: StepColumns, row: number, predicted: Predicted, i: number): void {
    const { players, stateWidth, firstCell } = this.planes;
    const truth = row * stateWidth;
    const guess = i * stateWidth;
    let cells = false;
    let changed = false;
    let catches = false;
    let masks = false;
    let reward = false;
    for (let p = 0; p < players; p++) {
      const before = columns.state[truth + players + p];
      const stays = columns.next[truth + players + p];
      const thought = predicted.next[guess + players + p];
      if (before !== stays || before !== thought) changed = true;
      if (stays !== thought) catches = true;
      else if (columns.next[truth + p] !== predicted.next[guess + p]) cells = true;
      if (columns.action[row * players + p] < 0) continue;
      const paid = columns.reward[row * players + p];
      const off = Math.abs(paid - predicted.reward[i * players + p]);
      this.reward += off;
      this.rewards++;
      if (paid !== 0) {
        this.paid += off;
        this.paidCount++;
      }
      if (off > rewardTolerance) reward = true;
      // After the last step nobody chooses, however the episode ended.
      const bits = columns.nextMask[row * players + p];
      if (bits !== 0 && stays === 1 && thought === 1 && predicted.end[i] === 0)
        masks ||= bits !== predicted.nextMask[i * players + p];
    }
    for (let j = firstCell; j < stateWidth; j++) {
      const after = columns.next[truth + j];
      const thought = predicted.next[guess + j];
      if (columns.state[truth + j] !== after || columns.state[truth + j] !== thought) changed = true;
      if (after !== thought) catches = true;
    }
    const end = columns.end[row] !== predicted.end[i];
    this.compared++;
    if (cells) this.cells++;
    if (changed) this.caught++;
    if (catches) this.catches++;
    if (masks) this.masks++;
    if (end) this.ends++;
    if (cells || catches || masks || end || reward) this.any++;
  }

  errors(steps: number): WorldModelErrors {
    const share = (count: number, of: number) => (of > 0 ? count / of : 0);
    return {
      steps,
      any: share(this.any, this.compared),
      cells: share(this.cells, this.compared),
      catches: share(this.catches, this.caught),
      reward: share(this.reward, this.rewards),
      paid: share(this.paid, this.paidCount),
      masks: share(this.masks, this.compared),
      ends: share(this.ends, this.compared),
    };
  }
}
