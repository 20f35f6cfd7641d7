/** What one agent saw in one iteration, one row per decision, in the order in which it took them. All columns share the row number; players are numbered as the agent sees them. */
import type { Planes, StateArray } from './planes.ts';
import { bytes, floats, ints } from './ring.ts';

export interface DiaryWidths {
  /** Values of a history's trace, and of a subgoal; 0 without subgoals. */
  readonly trace: number;
  readonly code: number;
}

export class Diary {
  length = 0;
  /** Before and after the step. */
  state: StateArray;
  next: StateArray;
  /** Per player: the action of the step before, the action, legal actions before and after as bits, the reward, and the largest probability of the policy that chose. */
  recent = ints(0);
  action = ints(0);
  mask = ints(0);
  nextMask = ints(0);
  reward = floats(0);
  best = floats(0);
  /** 1 where the step ended the episode for all, other than by running out of time. */
  end = bytes(0);
  /** The history before the decision, and the subgoal that the policy was shown. */
  trace = floats(0);
  code = floats(0);
  value = floats(0);
  seat = ints(0);
  /** The next row of the same life, or -1; and the row that shows this row's subgoal. */
  later = ints(0);
  goal = ints(0);
  /** 1 where the episode is kept from training. */
  held = bytes(0);
  /** Subgoals that were logged. */
  subgoals = 0;

  constructor(
    private readonly planes: Planes,
    private readonly widths: DiaryWidths,
  ) {
    this.state = planes.states(0);
    this.next = planes.states(0);
  }

  clear(): void {
    this.length = 0;
    this.subgoals = 0;
  }

  /** The row to fill. */
  add(): number {
    if (this.length === this.end.length) this.grow();
    this.later[this.length] = -1;
    this.end[this.length] = 0;
    return this.length++;
  }

  /** Rows of episodes that modules are (or are not) trained on. */
  rows(held: 0 | 1): Int32Array {
    const rows = ints(this.length);
    let count = 0;
    for (let row = 0; row < this.length; row++) if (this.held[row] === held) rows[count++] = row;
    return rows.subarray(0, count);
  }

  private grow(): void {
    const { players } = this.planes;
    const { trace, code } = this.widths;
    const room = Math.max(256, 2 * this.length);
    const grown = <T extends { set(from: T): void }>(made: T, old: T): T => {
      made.set(old);
      return made;
    };
    this.state = grown(this.planes.states(room), this.state);
    this.next = grown(this.planes.states(room), this.next);
    this.recent = grown(ints(room * players), this.recent);
    this.action = grown(ints(room * players), this.action);
    this.mask = grown(ints(room * players), this.mask);
    this.nextMask = grown(ints(room * players), this.nextMask);
    this.reward = grown(floats(room * players), this.reward);
    this.best = grown(floats(room * players), this.best);
    this.end = grown(bytes(room), this.end);
    this.trace = grown(floats(room * trace), this.trace);
    this.code = grown(floats(room * code), this.code);
    this.value = grown(floats(room), this.value);
    this.seat = grown(ints(room), this.seat);
    this.later = grown(ints(room), this.later);
    this.goal = grown(ints(room), this.goal);
    this.held = grown(bytes(room), this.held);
  }
}
