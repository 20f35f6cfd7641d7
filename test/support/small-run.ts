/** Short training runs for tests, on one engine for each file of tests. */
import { afterAll, beforeAll } from 'vitest';
import { createEngine } from '../../src/net/engine.ts';
import type { Engine } from '../../src/net/types.ts';
import type { IterationReport } from '../../src/training/report.ts';
import type { SettingsInput } from '../../src/training/settings.ts';
import { Trainer, type TrainerOptions } from '../../src/training/trainer.ts';

export const small: SettingsInput = {
  game: 'echo',
  gameSettings: { seats: 2 },
  worlds: 8,
  rollout: 10,
  steps: 1_000_000,
  network: { hidden: [16] },
  ppo: { epochs: 2, minibatches: 2 },
};

/** Call it at the top of a file: its engine is there from the first test to the last. */
export function useTrainer() {
  let engine: Engine;
  beforeAll(async () => {
    engine = await createEngine({ kernel: 'simd', threads: 1 });
  });
  afterAll(() => engine.dispose());
  const made = (settings: SettingsInput, options: Partial<TrainerOptions> = {}) =>
    new Trainer(settings, { engine, ...options });
  return {
    made,
    async run(settings: SettingsInput, iterations: number, options: Partial<TrainerOptions> = {}) {
      const trainer = made(settings, options);
      const reports: IterationReport[] = [];
      for (let i = 0; i < iterations; i++) reports.push(await trainer.iterate());
      return { trainer, reports };
    },
  };
}

export const parameters = (trainer: Trainer) =>
  Object.fromEntries(
    trainer.learners.map(({ name, policy }) => [name, policy.parameters.map((_, i) => Array.from(policy.read(i)))]),
  );
