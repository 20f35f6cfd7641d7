import { describe, expect, it } from 'vitest';
import type { Learner } from '../../algorithms/learner.ts';
import { ownView } from '../../algorithms/mappo/critic-view.ts';
import { Batch, batchShape } from '../../batch/batch.ts';
import { GameArrays } from '../../games/arrays.ts';
import type { Game } from '../../games/game.ts';
import { ReferenceEngine } from '../../net/reference/engine.ts';
import { cleanStages } from '../stages.ts';
import { Collector, collect } from './collector.ts';
import type { Seating } from './seating.ts';

/** A script of one world: who acts at each step, what the step pays, and how it ends for whom. */
interface Script {
  acting: number[][];
  reward: number[][];
  terminated?: [step: number, seat: number][];
  truncated?: [step: number, seat: number][];
}

/** Plays a script; a seat's observation is the number of steps taken, so that values show where they were taken. */
class ScriptedGame extends GameArrays implements Game {
  readonly name = 'scripted';
  readonly settings = {};
  private taken = 0;

  constructor(private readonly script: Script) {
    const seats = script.acting[0].length;
    super({ seats, observation: 1, state: 1, actions: 2, candidates: 2, features: 0, horizon: 100 }, 1);
    this.fillCandidates();
    this.legal.fill(1);
    this.numActions.fill(2);
  }

  reset(): void {
    this.taken = 0;
    this.over[0] = 0;
    this.show();
  }

  step(): void {
    const { reward, terminated = [], truncated = [] } = this.script;
    const now = this.taken++;
    for (let seat = 0; seat < this.shape.seats; seat++) {
      this.reward[seat] = reward[now][seat];
      this.terminated[seat] = terminated.some(([step, who]) => step === now && who === seat) ? 1 : 0;
      this.truncated[seat] = truncated.some(([step, who]) => step === now && who === seat) ? 1 : 0;
    }
    if (this.taken === reward.length) this.over[0] = 1;
    this.show();
  }

  private show(): void {
    for (let seat = 0; seat < this.shape.seats; seat++) {
      this.acting[seat] = this.script.acting[this.taken]?.[seat] ?? 0;
      this.obs[seat] = this.taken;
    }
  }

  save(): number[] {
    return [];
  }
  load(): void {}
}

/** The critic says 100 plus the observation; the actor always takes the second candidate. */
const stages = {
  ...cleanStages,
  act: ((_engine, asked) => {
    for (const { rows, out } of asked) {
      for (let i = 0; i < rows.length; i++) {
        out.action[i] = 1;
        out.logp[i] = -0.5;
        out.value[i] = 100 + rows.state[i];
      }
    }
  }) satisfies typeof cleanStages.act,
  values: ((_learner, state, count, out) => {
    for (let i = 0; i < count; i++) out[i] = 100 + state[i];
  }) satisfies typeof cleanStages.values,
};

function play(script: Script, rollout: number, scriptedSeat = -1) {
  const game = new ScriptedGame(script);
  const { seats } = game.shape;
  const learner = {
    index: 0,
    name: 'all',
    agents: [],
    policy: { shape: { head: 'fixed' } },
    inputs: 1,
    view: ownView,
  } as unknown as Learner;
  const seating: Seating = {
    names: Array.from({ length: seats }, (_, seat) => `player_${seat + 1}`),
    learnerOf: Int32Array.from({ length: seats }, (_, seat) => (seat === scriptedSeat ? -1 : 0)),
    learning: 1,
    players: Array.from({ length: seats }, () => ({ name: 'first', act: () => 0 })),
    deal: false,
  };
  const engine = new ReferenceEngine();
  const settings = { seed: 1, collect: 'steps' as const, rollout };
  const collector = new Collector(engine, game, seating, [learner], settings, stages);
  const batch = new Batch(batchShape(game, 0));
  collect(collector, batch);
  batch.sort();
  const rows = Array.from({ length: batch.rows }, (_, row) => ({
    agent: batch.agent[row],
    t: batch.t[row],
    reward: batch.reward[row],
    value: batch.value[row],
    next: batch.nextValue[row],
    end: batch.terminated[row] ? 'terminated' : batch.truncated[row] ? 'truncated' : '',
  }));
  return { rows, collector, batch };
}

describe('collecting', () => {
  it("adds a reward to the place's latest decision, even when another's move brings it about", () => {
    const script = {
      acting: [
        [1, 0],
        [0, 1],
        [0, 1],
        [1, 0],
      ],
      reward: [
        [1, 0],
        [2, 5],
        [4, 7],
        [8, 9],
      ],
      terminated: [
        [3, 0],
        [3, 1],
      ] as [number, number][],
    };
    expect(play(script, 4).rows).toEqual([
      { agent: 0, t: 0, reward: 7, value: 100, next: 103, end: '' },
      { agent: 1, t: 1, reward: 5, value: 101, next: 102, end: '' },
      { agent: 1, t: 2, reward: 16, value: 102, next: 0, end: 'terminated' },
      { agent: 0, t: 3, reward: 8, value: 103, next: 0, end: 'terminated' },
    ]);
  });

  it('bootstraps a truncated row with the value of its final observation', () => {
    const script = { acting: [[1], [1]], reward: [[1], [1]], truncated: [[1, 0]] as [number, number][] };
    expect(play(script, 2).rows[1]).toEqual({ agent: 0, t: 1, reward: 1, value: 101, next: 102, end: 'truncated' });
  });

  it('closes rows at the end of the rollout with the value of what the place sees then', () => {
    const script = {
      acting: [
        [1, 1],
        [1, 0],
        [1, 1],
      ],
      reward: [
        [0, 0],
        [0, 3],
        [0, 0],
      ],
    };
    expect(play(script, 2).rows).toEqual([
      { agent: 0, t: 0, reward: 0, value: 100, next: 101, end: '' },
      { agent: 1, t: 0, reward: 3, value: 100, next: 102, end: '' },
      { agent: 0, t: 1, reward: 0, value: 101, next: 102, end: '' },
    ]);
  });

  it('makes no row for an agent that has left, even if the game still lets it act', () => {
    const script = {
      acting: [
        [1, 1],
        [1, 1],
      ],
      reward: [
        [1, 1],
        [9, 1],
      ],
      terminated: [
        [0, 0],
        [1, 1],
      ] as [number, number][],
    };
    const { rows, collector } = play(script, 2);
    expect(rows.filter((row) => row.agent === 0)).toEqual([
      { agent: 0, t: 0, reward: 1, value: 100, next: 0, end: 'terminated' },
    ]);
    expect(Array.from(collector.results.return.subarray(0, 2))).toEqual([1, 2]);
  });

  it('makes no row for a scripted player, but keeps its result', () => {
    const script = {
      acting: [[1, 1]],
      reward: [[2, 3]],
      terminated: [
        [0, 0],
        [0, 1],
      ] as [number, number][],
    };
    const { rows, collector } = play(script, 1, 1);
    expect(rows.map((row) => row.agent)).toEqual([0]);
    expect(collector.results.means(2).map((agent) => agent.mean)).toEqual([2, 3]);
  });

  it('stores the very observation, list and action of the decision', () => {
    const { batch } = play({ acting: [[1], [1]], reward: [[0], [0]], terminated: [[1, 0]] }, 2);
    expect(Array.from(batch.obs.subarray(0, 2))).toEqual([0, 1]);
    expect(Array.from(batch.subset.subarray(0, 4))).toEqual([0, 1, 0, 1]);
    expect(Array.from(batch.action.subarray(0, 2))).toEqual([1, 1]);
    expect(batch.oldLogp[0]).toBe(-0.5);
  });

  it('refuses a game that is over without saying how it ended', () => {
    expect(() => play({ acting: [[1]], reward: [[0]] }, 1)).toThrow(/neither terminated nor truncated/);
  });
});
