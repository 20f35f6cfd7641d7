import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gameMaker } from '../../games/index.ts';
import { RandomStream } from '../../math/random.ts';
import { createEngine } from '../../net/engine.ts';
import type { Engine } from '../../net/types.ts';
import { evaluate } from '../../training/collect/evaluate.ts';
import type { SettingsInput } from '../../training/settings.ts';
import { Trainer } from '../../training/trainer.ts';
import { LearntWorlds } from '../hop-planner/learnt-world.ts';
import type { HopCrew } from './crew.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await createEngine({ kernel: 'simd', threads: 1 });
});
afterAll(() => engine.dispose());

type Planner = 'off' | 'learnt' | 'rules';
const learning = { batch: 16, updates: 2, hidden: [8] };
const make = (planner: Planner, more: SettingsInput = {}, without: string[] = []) =>
  new Trainer(
    {
      game: 'stag-hunt',
      algorithm: 'hop',
      worlds: 4,
      rollout: 8,
      network: { hidden: [16] },
      ppo: { epochs: 2, minibatches: 2 },
      planner: { simulations: 12, samples: 2 },
      hop: {
        planner,
        without,
        worldModel: { ...learning, members: 2 },
        otherAgents: learning,
        subgoals: learning,
      } as SettingsInput['hop'],
      guard: 'strict',
      ...more,
    },
    { engine },
  );
const bits = (trainer: Trainer) => [
  trainer.learners.map(({ policy }) => policy.save()),
  (trainer.crew as HopCrew).save(),
];

describe('HOP+ with a search', () => {
  it.each(['learnt', 'rules'] as const)(
    'over %s gives the same bits for the same seed, and goes on with them',
    async (world) => {
      const whole = make(world);
      for (let i = 0; i < 3; i++) await whole.iterate();
      const first = make(world);
      for (let i = 0; i < 2; i++) await first.iterate();
      const second = make(world);
      second.load(await first.save());
      await second.iterate();
      expect(bits(second)).toEqual(bits(whole));
      expect(whole.learners.every(({ searches, updates }) => searches && updates > 0)).toBe(true);
    },
  );

  it('imagines nothing: what would be imagined is searched', async () => {
    const trainer = make('learnt', {});
    for (let i = 0; i < 2; i++) await trainer.iterate();
    expect(trainer.crew!.readings()[0]['imagination.rows']).toBe(0);
  });

  it('keeps rows whose log-probabilities are those of the logits they were drawn from', async () => {
    const trainer = make('learnt');
    const off: number[] = [];
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
          off.push(Math.abs(old_logp[i] - (logits.values[from + action[i]] - Math.log(sum))));
        }
      },
      flush: async () => {},
      position: () => ({}),
      close: async () => {},
    });
    await trainer.iterate();
    expect(off.length).toBeGreaterThan(50);
    expect(Math.max(...off)).toBeLessThan(1e-5);
  });

  it('without modules searches in the rules, and without a world model cannot search in it', async () => {
    const bare = make('rules', {}, ['world-model', 'other-agents', 'subgoals']);
    await bare.iterate();
    await bare.iterate();
    expect(bare.learners[0].updates).toBeGreaterThan(0);
    expect(() => make('learnt', {}, ['world-model'])).toThrow(
      'hop.planner=learnt searches in the world model, which is left out; add --without none, or use hop.planner=rules',
    );
  });

  it('finds more in the rules than its networks do alone', async () => {
    const trainer = make('rules', {
      players: ['learn', 'nearest-hare', 'nearest-hare', 'nearest-hare'],
      planner: { simulations: 32 },
    });
    await trainer.iterate();
    const options = { episodes: 40, seed: 3, worlds: 20 };
    const [searching] = evaluate(trainer, gameMaker('stag-hunt'), options);
    const learners = trainer.learners.map((learner) => ({ ...learner, searches: false }));
    const { crew, seating, settings } = trainer;
    const alone = { crew, seating, settings, learners, seated: learners, engine };
    const [sampling] = evaluate(alone as never, gameMaker('stag-hunt'), options);
    expect(searching.mean).toBeGreaterThan(sampling.mean);
  });
});

describe('a learnt world', () => {
  it('is shown to every seat as the game shows it, through whoever it is known', () => {
    const trainer = make('learnt');
    const { agents, planes } = trainer.crew as HopCrew;
    const game = gameMaker('stag-hunt')(1);
    game.reset(0, RandomStream.of(4, 'shown'));
    const { seats } = game.shape;
    const worlds = new LearntWorlds(game, seats, { planes, model: agents[0].worldModel! });
    for (let eye = 0; eye < seats; eye++) {
      worlds.eye[eye] = eye;
      worlds.take(game, 0, eye);
      const from = eye * game.obs.length;
      expect(worlds.obs.slice(from, from + game.obs.length)).toEqual(game.obs);
      expect(worlds.legal.slice(eye * game.legal.length, (eye + 1) * game.legal.length)).toEqual(game.legal);
    }
  });
});
