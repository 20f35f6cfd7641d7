/** Runs of our own trainer as the logs that other programs would have written: only what their trainers report, under their names. Rows are not part of it. */
import { applyFault, findFault } from '../../src/faults/index.ts';
import type { Engine } from '../../src/net/types.ts';
import type { NumberColumn } from '../../src/recording/column.ts';
import { fileStore, importLog, logRecording } from '../../src/recording/importers/open.ts';
import { memoryStore, Recording as Opened, RecordingWriter } from '../../src/recording/index.ts';
import type { Recording } from '../../src/recording/recording.ts';
import { bytesSource } from '../../src/recording/source.ts';
import type { SettingsInput } from '../../src/training/settings.ts';
import { cleanStages } from '../../src/training/stages.ts';
import { Trainer } from '../../src/training/trainer.ts';

/** One row per update: what a trainer reports of itself, averaged over its optimiser steps. */
export type LogRow = Record<string, number>;

/** As programs average: what is not a number stays so. */
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

export async function logOf(
  engine: Engine,
  input: SettingsInput,
  iterations: number,
  fault?: string,
): Promise<LogRow[]> {
  const quiet: SettingsInput = { guard: 'off', ...input, recording: { record: 'off' } };
  const applied = fault ? applyFault(findFault(fault), 1, cleanStages, quiet) : null;
  const trainer = new Trainer(applied?.settings ?? quiet, { engine, stages: applied?.stages ?? cleanStages });
  const store = memoryStore('run');
  const writer = await RecordingWriter.create(store, trainer.manifest());
  trainer.record(writer);
  const rows: LogRow[] = [];
  for (let i = 0; i < iterations; i++) {
    const { readings, returns, steps } = await trainer.iterate();
    const known = returns.filter((agent) => agent.episodes > 0);
    rows.push({
      step: steps,
      explained_variance: mean(readings.map((reading) => reading.explained_variance)),
      return: known.length > 0 ? mean(known.map((agent) => agent.mean)) : Number.NaN,
    });
  }
  await writer.close();
  const recording = await Opened.open(store);
  const names = ['approx_kl', 'clip_fraction', 'entropy', 'policy_loss', 'value_loss', 'grad_norm', 'learning_rate'];
  const table = await recording.read('steps', ['iteration', ...names]);
  const column = (name: string) => (table.columns.get(name) as NumberColumn | undefined)?.values as Float64Array;
  const iteration = column('iteration');
  for (const name of names) {
    const values = column(name);
    rows.forEach((row, i) => {
      row[name] = mean(Array.from(values).filter((_, k) => iteration[k] === i));
    });
  }
  return rows;
}

/** The names of one program; a minus negates. */
const styles: Record<string, Record<string, string>> = {
  sb3: {
    step: 'time/total_timesteps',
    return: 'rollout/ep_rew_mean',
    approx_kl: 'train/approx_kl',
    clip_fraction: 'train/clip_fraction',
    entropy: '-train/entropy_loss',
    policy_loss: 'train/policy_gradient_loss',
    value_loss: 'train/value_loss',
    explained_variance: 'train/explained_variance',
    learning_rate: 'train/learning_rate',
  },
  cleanrl: {
    step: 'global_step',
    return: 'charts/episodic_return',
    approx_kl: 'losses/approx_kl',
    clip_fraction: 'losses/clipfrac',
    entropy: 'losses/entropy',
    policy_loss: 'losses/policy_loss',
    value_loss: 'losses/value_loss',
    explained_variance: 'losses/explained_variance',
    learning_rate: 'charts/learning_rate',
    grad_norm: 'losses/grad_norm',
  },
};

export const logStyles = Object.keys(styles);

/** CSV in the manner of one program: a number that is not known is an empty cell, one that is NaN says so. */
export function logText(rows: readonly LogRow[], style: string): string {
  const columns = Object.entries(styles[style]);
  const cell = (row: LogRow, name: string, negate: boolean) => {
    const value = row[name];
    if (name === 'return' && Number.isNaN(value)) return '';
    return Number.isNaN(value) ? 'nan' : String(negate ? -value : value);
  };
  const lines = rows.map((row) => columns.map(([name, theirs]) => cell(row, name, theirs[0] === '-')).join(','));
  return `${[columns.map(([, theirs]) => theirs.replace(/^-/, '')).join(','), ...lines].join('\n')}\n`;
}

export async function asRecording(text: string, settings: Record<string, number> = {}): Promise<Recording> {
  const store = fileStore(bytesSource('progress.csv', new TextEncoder().encode(text)));
  return logRecording(await importLog(store, { settings }));
}
