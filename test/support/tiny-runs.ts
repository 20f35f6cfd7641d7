/** Test support: a tiny run, recorded in memory, with or without a fault. */
import type { Engine } from '../../src/net/types.ts';
import { memoryStore, Recording, RecordingWriter } from '../../src/recording/index.ts';
import type { SettingsInput } from '../../src/training/settings.ts';
import { cleanStages, type Stages } from '../../src/training/stages.ts';
import { Trainer } from '../../src/training/trainer.ts';

const common: SettingsInput = {
  worlds: 4,
  rollout: 12,
  guard: 'off',
  recording: { record: 'all' },
  ppo: { epochs: 2, minibatches: 3, learningRate: 3e-3 },
};

/** Three agents, ragged and masked lists, a fixed head; episodes terminate within a rollout. Long enough for 4 iterations. */
export const echo: SettingsInput = {
  ...common,
  game: 'echo',
  gameSettings: { seats: 3, length: 5, delay: 1 },
  steps: 4 * 4 * 12 * 3,
  network: { hidden: [8], head: 'fixed' },
};

export const pointerEcho: SettingsInput = { ...echo, network: { hidden: [8], head: 'pointer' } };

/** Four agents who leave at different times, and time limits. */
export const stagHunt: SettingsInput = {
  ...common,
  game: 'stag-hunt',
  gameSettings: { horizon: 8 },
  steps: 4 * 4 * 12 * 4,
  network: { hidden: [8] },
};

export async function recordRun(
  engine: Engine,
  settings: SettingsInput,
  stages: Stages = cleanStages,
  iterations = 3,
): Promise<Recording> {
  const trainer = new Trainer(settings, { engine, stages });
  const store = memoryStore('run');
  const writer = await RecordingWriter.create(store, trainer.manifest());
  trainer.record(writer);
  for (let i = 0; i < iterations; i++) await trainer.iterate();
  await writer.close();
  return Recording.open(store);
}

/** The values of a column of plain numbers. */
export async function column(recording: Recording, table: string, name: string): Promise<number[]> {
  const chunk = await recording.read(table, [name]);
  return Array.from(chunk.columns.get(name)?.values as Float64Array, Number);
}
