/** Healthy runs of every kind pass the strict guard: a false alarm would stop them. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeGame } from '../games/index.ts';
import { createEngine } from '../net/engine.ts';
import type { Engine } from '../net/types.ts';
import { validate } from '../recording/check/validate.ts';
import { memoryStore, Recording, RecordingWriter } from '../recording/index.ts';
import type { SettingsInput } from './settings.ts';
import { Trainer } from './trainer.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await createEngine({ kernel: 'simd', threads: 1 });
});
afterAll(() => engine.dispose());

const ppo = fc.record({
  epochs: fc.integer({ min: 1, max: 4 }),
  minibatches: fc.integer({ min: 1, max: 7 }),
  gamma: fc.constantFrom(0, 0.9, 0.99, 1),
  lambda: fc.constantFrom(0, 0.95, 1),
  learningRate: fc.constantFrom(3e-4, 1e-3, 3e-3),
  anneal: fc.boolean(),
  valueLoss: fc.constantFrom('mse' as const, 'huber' as const),
  valueClip: fc.constantFrom(null, 0.2),
  valueNormalisation: fc.boolean(),
  maxGradNorm: fc.constantFrom(null, 0.5),
  gradClip: fc.constantFrom('global' as const, 'role' as const),
  advantageNormalisation: fc.constantFrom('batch' as const, 'minibatch' as const, 'none' as const),
  advantageClamp: fc.constantFrom(null, 2),
  targetKl: fc.constantFrom(null, 0.02),
  adaptiveKl: fc.constantFrom(null, 0.02),
});

const settings = fc.record({
  seed: fc.nat(),
  game: fc.constantFrom('probe-value', 'probe-discount', 'probe-observation-action', 'echo', 'cartpole', 'stag-hunt'),
  algorithm: fc.constantFrom('ppo' as const, 'mappo' as const),
  sharing: fc.constantFrom('separate' as const, 'shared' as const),
  order: fc.constantFrom('fixed' as const, 'rotated' as const, 'shuffled' as const),
  collect: fc.constantFrom('steps' as const, 'episodes' as const),
  rollout: fc.integer({ min: 1, max: 8 }),
  deal: fc.boolean(),
  worlds: fc.constantFrom(7, 8),
  network: fc.record({
    hidden: fc.constantFrom<number[][]>([], [8], [8, 8]),
    activation: fc.constantFrom('tanh' as const, 'relu' as const),
  }),
  ppo,
});

/** The whole run's recording, in memory. */
async function run(input: SettingsInput, iterations: number) {
  const trainer = new Trainer({ ...input, guard: 'strict', recording: { record: 'all' } }, { engine });
  const store = memoryStore('run');
  const writer = await RecordingWriter.create(store, trainer.manifest());
  trainer.record(writer);
  for (let i = 0; i < iterations; i++) await trainer.iterate();
  await writer.close();
  return validate(await Recording.open(store));
}

describe('a healthy run', () => {
  it('passes the strict guard and leaves a valid recording, whatever its settings', async () => {
    await fc.assert(
      fc.asyncProperty(settings, async (input) => {
        const found = await run(input, 3);
        expect(found.problems).toEqual([]);
        expect(found.rows.samples).toBeGreaterThan(0);
      }),
      { numRuns: 60 },
    );
  });

  it('passes on the city, with scripted players beside learners, and records the extra figures of its decisions', async () => {
    const found = await run(
      {
        game: 'city',
        worlds: 2,
        collect: 'episodes',
        rollout: 1,
        players: ['learn', 'random'],
        network: { hidden: [8] },
      },
      2,
    );
    expect(found.problems).toEqual([]);
    expect(found.rows.replays).toBeGreaterThan(found.rows.samples);
    // Columns that only this game has are kept beside the ones of the format.
    const extras = makeGame('city').extras!.map((column) => `samples.${column.name}`);
    expect(extras.length).toBeGreaterThan(0);
    expect(found.unknown).toEqual(expect.arrayContaining(extras));
  });
});
