import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gameMaker } from '../../games/index.ts';
import { RandomStream } from '../../math/random.ts';
import { createEngine } from '../../net/engine.ts';
import type { Engine } from '../../net/types.ts';
import { evaluate } from '../../training/collect/evaluate.ts';
import type { SettingsInput } from '../../training/settings.ts';
import { Trainer } from '../../training/trainer.ts';
import { Beliefs } from './beliefs.ts';
import type { PlannerCrew } from './crew.ts';
import { Search } from './search.ts';
import { plannerSchema } from './settings.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await createEngine({ kernel: 'simd', threads: 1 });
});
afterAll(() => engine.dispose());

const small: SettingsInput = {
  game: 'stag-hunt',
  algorithm: 'hop-planner',
  worlds: 4,
  rollout: 8,
  network: { hidden: [16] },
  ppo: { epochs: 2, minibatches: 2 },
  planner: { simulations: 12, samples: 2, models: { batch: 16, updates: 2, hidden: [8], capacity: 128, window: 4 } },
  guard: 'strict',
};
const make = (more: SettingsInput = {}) => new Trainer({ ...small, ...more }, { engine });

describe('beliefs', () => {
  it("follow Bayes' rule within an episode", () => {
    const beliefs = new Beliefs(1, 2, 2, 0.8);
    const at = beliefs.at(0, 0, 1);
    beliefs.see(at, [0.6, 0.2], 0);
    expect(beliefs.now[at]).toBeCloseTo(0.75, 12);
    beliefs.see(at, [0.1, 0.5], 0);
    // 0.75 x 0.1 against 0.25 x 0.5
    expect(beliefs.now[at]).toBeCloseTo(0.375, 12);
    expect(beliefs.now[at] + beliefs.now[at + 1]).toBeCloseTo(1, 12);
    expect(beliefs.now[beliefs.at(0, 1, 0)]).toBe(0.5);
  });

  it('begin an episode with a prior that keeps alpha of what it was and learns the goal that was reached', () => {
    const beliefs = new Beliefs(2, 3, 2, 0.8);
    beliefs.reached(1, 2, 0);
    beliefs.reached(1, 2, 0);
    const at = beliefs.at(1, 0, 2);
    expect(beliefs.prior[at]).toBeCloseTo(0.8 * (0.8 * 0.5 + 0.2) + 0.2, 12);
    beliefs.see(at, [0, 1], 0);
    expect(beliefs.now[at]).toBe(0);
    beliefs.begin(1);
    expect(beliefs.now[at]).toBe(beliefs.prior[at]);
    // Another world has had another history.
    expect(beliefs.prior[beliefs.at(0, 0, 2)]).toBe(0.5);
  });

  it('are drawn from in proportion', () => {
    const beliefs = new Beliefs(1, 2, 3, 0.8);
    beliefs.now.set([0.2, 0.5, 0.3], beliefs.at(0, 0, 1));
    expect([0, 0.19, 0.21, 0.69, 0.71, 0.99].map((u) => beliefs.draw(beliefs.at(0, 0, 1), u))).toEqual([
      0, 0, 1, 1, 2, 2,
    ]);
  });
});

describe('the search', () => {
  /** Player 1 stands on a hare; the stag is a step away, with player 2 on it, who hunts the stag at once or walks about, by its model. */
  function values(others: 'hunt' | 'wander', simulations = 1000): Float64Array {
    const maker = gameMaker('stag-hunt', { players: 2, width: 3, height: 3, stags: 1, hares: 1 });
    const game = maker(1) as import('../../games/grid/grid.ts').GridGame;
    game.reset(0, RandomStream.of(1, 'arranged'));
    game.thing.fill(0);
    game.thing[4] = 1;
    game.thing[3] = 2;
    game.remaining[0] = 2;
    game.position.set([3, 4]);
    game.show(0);
    const trainer = new Trainer(
      { ...small, gameSettings: { players: 2, width: 3, height: 3, stags: 1, hares: 1 } },
      { engine },
    );
    const model = {
      begin: () => {},
      put: () => {},
      forward: () => {},
      draw: (_: number, legal: ArrayLike<number>, at: number, uniform: number) => {
        if (others === 'hunt') return legal[at + 5] === 1 ? 5 : 4;
        const open = [0, 1, 2, 3].filter((a) => legal[at + a] === 1);
        return open[Math.floor(uniform * open.length)];
      },
    };
    const found = new Float64Array(7);
    const stream = RandomStream.of(7, 'search');
    new Search(maker, plannerSchema.parse({ simulations, samples: 2 })).run({
      game,
      places: [0],
      count: 1,
      learner: trainer.learners[0],
      eyes: (place) => place % game.shape.seats,
      model: model as never,
      gamma: 0.95,
      values: found,
      agentAt: (place) => place,
      stream: () => stream,
      drawGoal: () => 0,
    });
    return found;
  }

  it('finds the best response to what the others are believed to do', () => {
    const [right, hare] = [3, 6];
    const together = values('hunt');
    expect(together.indexOf(Math.max(...together))).toBe(right);
    // A step to the stag and then half of it, discounted once.
    expect(together[right]).toBeGreaterThan(3.5);
    const alone = values('wander');
    expect(alone[hare]).toBeCloseTo(1, 6);
    expect(alone[right]).toBeLessThan(together[right]);
  });

  it('leaves illegal moves out, and gives the same values for the same stream', () => {
    const found = values('hunt', 32);
    expect(found[2]).toBe(Number.NEGATIVE_INFINITY);
    expect(found[5]).toBe(Number.NEGATIVE_INFINITY);
    expect(values('hunt', 32)).toEqual(found);
  });

  it('does not touch the game that is played, nor foresee its chance', () => {
    const trainer = make({ game: 'coin-game', worlds: 2 });
    const maker = gameMaker('coin-game');
    const game = maker(1);
    game.reset(0, RandomStream.of(3, 'coin'));
    const before = game.save(0);
    const stream = RandomStream.of(5, 'search');
    const found = new Float64Array(5);
    new Search(maker, plannerSchema.parse({ simulations: 40 })).run({
      game,
      places: [0],
      count: 1,
      learner: trainer.learners[0],
      eyes: (place) => place % game.shape.seats,
      model: null,
      gamma: 0.9,
      values: found,
      agentAt: (place) => place,
      stream: () => stream,
      drawGoal: () => 0,
    });
    expect(game.save(0)).toEqual(before);
  });
});

describe('a run of agents that plan', () => {
  it('goes on bit for bit, models, beliefs and searches included', async () => {
    const whole = make();
    for (let i = 0; i < 4; i++) await whole.iterate();
    const first = make();
    for (let i = 0; i < 2; i++) await first.iterate();
    const second = make();
    second.load(await first.save());
    for (let i = 0; i < 2; i++) await second.iterate();
    expect(second.learners.map(({ policy }) => policy.save())).toEqual(
      whole.learners.map(({ policy }) => policy.save()),
    );
    expect((second.crew as PlannerCrew).save()).toEqual((whole.crew as PlannerCrew).save());
  });

  it('searches over a world model that it learns from play, and goes on with it bit for bit', async () => {
    const learnt = {
      planner: { ...small.planner, world: 'learnt' as const },
      hop: { worldModel: { batch: 16, updates: 2 } },
    };
    const whole = make(learnt);
    for (let i = 0; i < 3; i++) await whole.iterate();
    const first = make(learnt);
    for (let i = 0; i < 2; i++) await first.iterate();
    const second = make(learnt);
    second.load(await first.save());
    await second.iterate();
    expect((second.crew as PlannerCrew).save()).toEqual((whole.crew as PlannerCrew).save());
    expect((whole.crew as PlannerCrew).readings()[0]['world_model.loss']).toBeGreaterThan(0);
  });

  it.each(['planner', 'beliefs', 'models'] as const)('runs without %s', async (module) => {
    const trainer = make({ planner: { ...small.planner, without: [module] } });
    await trainer.iterate();
    await trainer.iterate();
    expect(trainer.learners.every(({ updates }) => updates >= 1)).toBe(true);
    expect(trainer.learners[0].searches).toBe(module !== 'planner');
  });

  it('keeps rows whose log-probabilities are those of the logits they were drawn from', async () => {
    const trainer = make();
    const rows: { logits: number[]; logp: number }[] = [];
    trainer.record({
      append: async (table, columns) => {
        if (table !== 'samples') return;
        const { logits, legal, old_logp, action } = columns as never as {
          logits: { values: Float32Array; offsets: Int32Array };
          legal: { values: Uint8Array };
          old_logp: Float32Array;
          action: Int32Array;
        };
        for (let i = 0; i < old_logp.length; i++) {
          const from = logits.offsets[i];
          let sum = 0;
          for (let c = from; c < logits.offsets[i + 1]; c++) if (legal.values[c]) sum += Math.exp(logits.values[c]);
          rows.push({ logits: [sum], logp: old_logp[i] - (logits.values[from + action[i]] - Math.log(sum)) });
        }
      },
      flush: async () => {},
      position: () => ({}),
      close: async () => {},
    });
    await trainer.iterate();
    expect(rows.length).toBeGreaterThan(50);
    for (const { logp } of rows) expect(Math.abs(logp)).toBeLessThan(1e-5);
  });

  it('is refused where the game has no goals, in a sentence', () => {
    expect(() => make({ game: 'city', worlds: 1 })).toThrow(
      /in city every decision has candidates of its own, so no model and no search can count its moves\. Use --algorithm ppo/,
    );
  });

  it('plays beside others, and earns more with its search than its networks do without', async () => {
    const trainer = make({
      players: ['learn', 'nearest-hare', 'nearest-hare', 'nearest-hare'],
      planner: { simulations: 32 },
    });
    await trainer.iterate();
    const options = { episodes: 40, seed: 3, worlds: 20 };
    const maker = gameMaker('stag-hunt');
    const [searching] = evaluate(trainer, maker, options);
    const learners = trainer.learners.map((learner) => ({ ...learner, searches: false }));
    const [sampling] = evaluate(
      { ...trainer, learners, seated: learners, engine, crew: null } as never,
      maker,
      options,
    );
    expect(searching.mean).toBeGreaterThan(sampling.mean);
  });
});
