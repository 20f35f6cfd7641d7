import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Batch } from '../../batch/batch.ts';
import { createEngine } from '../../net/engine.ts';
import type { Engine } from '../../net/types.ts';
import type { ColumnData } from '../../recording/writer.ts';
import { mergeSettings } from '../../training/recommended.ts';
import { cleanStages } from '../../training/stages.ts';
import { Trainer } from '../../training/trainer.ts';
import type { HopCrew } from './crew.ts';
import { firstImaginedEpisode } from './crew.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await createEngine({ kernel: 'simd', threads: 1 });
});
afterAll(() => engine.dispose());

const modules = { batch: 32, updates: 12, hidden: [16] };
const small = {
  game: 'stag-hunt',
  seed: 3,
  steps: 1e9,
  worlds: 16,
  rollout: 12,
  guard: 'strict',
  network: { hidden: [16] },
  ppo: { gamma: 0.95 },
  hop: {
    worldModel: { ...modules, updates: 40, capacity: 2000, members: 2 },
    otherAgents: { ...modules, capacity: 500 },
    subgoals: { ...modules, mixIterations: 4 },
    // Wide enough that a world model that has seen little imagines already.
    imagination: { error: 0.9, longest: 3 },
  },
};
const make = (changes: Record<string, unknown> = {}, stages = {}) =>
  new Trainer(mergeSettings(small, { algorithm: 'hop' }, changes), { engine, stages });
const parameters = (trainer: Trainer) => trainer.learners.map((learner) => learner.policy.save());

/** Keeps a recording's counters in memory. */
function counting(trainer: Trainer): Map<string, number[]>[] {
  const iterations: Map<string, number[]>[] = [];
  trainer.record({
    append: async (table: string, columns: Record<string, ColumnData>) => {
      if (table !== 'counters') return;
      const found = new Map<string, number[]>();
      const names = columns.name as string[];
      names.forEach((name, i) => {
        found.set(name, [...(found.get(name) ?? []), (columns.value as Float64Array)[i]]);
      });
      iterations.push(found);
    },
    flush: async () => {},
    position: () => ({}),
    close: async () => {},
  });
  return iterations;
}

describe('HOP+ without any module', () => {
  it('is PPO, bit for bit', async () => {
    const ppo = make({ algorithm: 'ppo' });
    const hop = make({ hop: { without: ['world-model', 'other-agents', 'subgoals'] } });
    expect(hop.crew).toBeNull();
    for (let i = 0; i < 3; i++) {
      const [a, b] = [await ppo.iterate(), await hop.iterate()];
      expect(b).toEqual(a);
    }
    expect(parameters(hop)).toEqual(parameters(ppo));
  });

  it('plays any game', () => {
    const without = { without: ['world-model', 'other-agents', 'subgoals'] };
    expect(() => make({ game: 'echo', hop: without })).not.toThrow();
  });
});

describe('HOP+', () => {
  it('goes on from a checkpoint bit for bit, with every module on', async () => {
    const whole = make();
    for (let i = 0; i < 3; i++) await whole.iterate();
    const saved = await whole.save();
    const resumed = make();
    resumed.load(saved);
    for (let i = 0; i < 3; i++) {
      const [a, b] = [await whole.iterate(), await resumed.iterate()];
      expect(b).toEqual(a);
      expect(a.modules[0]['imagination.rows']).toBeGreaterThan(0);
    }
    expect(parameters(resumed)).toEqual(parameters(whole));
    expect(Buffer.compare(await resumed.save(), await whole.save())).toBe(0);
  });

  it('does not depend on the number of threads', async () => {
    const two = await createEngine({ kernel: 'simd', threads: 2 });
    const [a, b] = [make(), new Trainer(mergeSettings(small, { algorithm: 'hop' }), { engine: two })];
    for (let i = 0; i < 3; i++) expect(await b.iterate()).toEqual(await a.iterate());
    expect(parameters(b)).toEqual(parameters(a));
    two.dispose();
  });

  it('counts for every agent what its buffers hold and were given, and every subgoal that was expected', async () => {
    const trainer = make();
    const counts = counting(trainer);
    for (let i = 0; i < 4; i++) await trainer.iterate();
    const last = counts[3];
    const names = ['player_1', 'player_2', 'player_3', 'player_4'];
    const held = counts.map((found) => found.get('push.real')!);
    for (let agent = 0; agent < 4; agent++) {
      const rows = held.reduce((sum, real) => sum + real[agent], 0);
      const pushed = last.get('push.world_model')![agent];
      // What is held out is not pushed: about a tenth.
      expect(pushed).toBeLessThan(rows);
      expect(pushed).toBeGreaterThan(0.7 * rows);
      // Only steps in which somebody else acts, and of them each other's own.
      const kept = last.get('push.other_agents')![agent];
      expect(kept).toBeLessThanOrEqual(pushed);
      expect(last.get('buffer.other_agents')![agent]).toBe(Math.min(500, kept));
      for (const [other, name] of names.entries()) {
        if (other === agent) continue;
        expect(last.get(`push.other_agents.${name}`)![agent]).toBeLessThan(kept);
      }
    }
    for (const found of counts) {
      expect(found.get('subgoal.length')).toEqual(found.get('push.real'));
      expect(found.get('subgoal.expected')).toEqual(found.get('push.real'));
      for (const name of ['updates.world_model', 'updates.other_agents', 'updates.subgoal', 'updates.policy'])
        expect(new Set(found.get(name)).size).toBe(1);
    }
    const imagined = last.get('push.imagined')!;
    expect(last.get('stale.imagined')).toEqual(imagined.map((sum, agent) => sum - last.get('buffer.imagined')![agent]));
    expect(imagined.every((sum) => sum > 0)).toBe(true);
  });

  it('imagines rows that nothing takes for real ones, at most as many as there are real ones', async () => {
    let confused = 0;
    const seen: { real: number; imagined: number; long: number }[] = [];
    const trainer = make(
      {},
      {
        credit: (batch: Batch, ppo: Parameters<typeof cleanStages.credit>[1]) => {
          let [real, imagined, long] = [0, 0, 0];
          for (let row = 0; row < batch.rows; row++) {
            if (batch.imagined[row] === 1) {
              imagined++;
              long = Math.max(long, batch.t[row] + 1);
              if (batch.episode[row] < firstImaginedEpisode) confused++;
              if (Math.floor(batch.env[row] / 16) !== 1 + batch.agent[row]) confused++;
            } else {
              real++;
              if (batch.episode[row] >= firstImaginedEpisode || batch.env[row] >= 16) confused++;
            }
          }
          seen.push({ real, imagined, long });
          cleanStages.credit(batch, ppo);
        },
      },
    );
    let steps = 0;
    for (let i = 0; i < 6; i++) {
      const report = await trainer.iterate();
      steps += report.rows;
      expect(report.readings.every((reading) => reading.valid_ratio === 1)).toBe(true);
    }
    expect(confused).toBe(0);
    expect(trainer.steps).toBe(steps);
    expect(seen[0].imagined).toBe(0);
    for (const { real, imagined } of seen) expect(imagined).toBeLessThanOrEqual(real);
    const lengths = seen.map(({ long }) => long).filter((long) => long > 0);
    expect(lengths[0]).toBe(1);
    expect(Math.max(...lengths)).toBeGreaterThan(1);
    expect([...trainer.guard.counts]).toEqual([]);
  });

  it('never shows the model of an agent a step after it has left', async () => {
    const trainer = make();
    for (let i = 0; i < 3; i++) await trainer.iterate();
    const { planes, agents } = trainer.crew as HopCrew;
    let [rows, wrong] = [0, 0];
    for (const agent of agents) {
      const { size, columns } = agent.buffers[0].otherAgents;
      const { players, stateWidth } = planes;
      for (let row = 0; row < size; row++) {
        for (let other = 1; other < players; other++) {
          const [there, at] = [columns.state[row * stateWidth + players + other] === 1, row * players + other];
          // A network leaves out the rows in which its agent does not act.
          if (columns.action[at] < 0) continue;
          if (!there || ((columns.mask[at] >> columns.action[at]) & 1) === 0) wrong++;
          rows++;
        }
      }
    }
    expect(rows).toBeGreaterThan(1000);
    expect(wrong).toBe(0);
  });

  it.each([
    ['shared parameters', { sharing: 'shared' }],
    ['scripted players', { players: ['learn', 'random', 'nearest-stag', 'learn'] }],
    ['two players', { gameSettings: { players: 2 } }],
    ['six players on a larger grid', { gameSettings: { preset: '8x8-4h1s', players: 6 } }],
    ['players that see little', { gameSettings: { viewRadius: 1 } }],
    ['snowdrift', { game: 'snowdrift' }],
    ['agents dealt to seats', { deal: true }],
    ['a rotated order', { order: 'rotated' }],
    ['whole episodes', { collect: 'episodes', rollout: 1 }],
    [
      'conservative subgoals alone',
      { hop: { without: ['world-model', 'other-agents'], subgoals: { choose: 'conservative' } } },
    ],
    ['a world model alone', { hop: { without: ['other-agents', 'subgoals'] } }],
    ['predictions that the policy does not see', { hop: { without: ['subgoals'], otherAgents: { feed: false } } }],
  ])('trains with %s', async (_, changes) => {
    const trainer = make(changes);
    const counts = counting(trainer);
    for (let i = 0; i < 3; i++) {
      const report = await trainer.iterate();
      expect(report.readings.every((reading) => Number.isFinite(reading.value_loss))).toBe(true);
    }
    expect([...trainer.guard.counts]).toEqual([]);
    const last = counts[2];
    if (last.has('subgoal.length')) expect(last.get('subgoal.length')).toEqual(last.get('push.real'));
  });

  it('refuses a game it cannot model, and says what to do', () => {
    expect(() => make({ game: 'city' })).toThrow(
      /observation is made of planes.*in city every decision has candidates of its own.*--algorithm ppo/,
    );
  });

  it('tells when a value loss is many times what it used to be', () => {
    const { crew } = make();
    for (let i = 0; i < 10; i++) expect(crew!.blownUp(0, 0.5 + (i % 3))).toBeNull();
    expect(crew!.blownUp(0, 100)).toBeGreaterThan(0.4);
    expect(crew!.blownUp(1, 100)).toBeNull();
  });
});
