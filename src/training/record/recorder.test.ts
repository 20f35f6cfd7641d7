import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine } from '../../net/engine.ts';
import type { Engine } from '../../net/types.ts';
import { type Column, memoryStore, Recording, RecordingWriter } from '../../recording/index.ts';
import { readSettings, type SettingsInput } from '../settings.ts';
import { cleanStages, type Stages } from '../stages.ts';
import { Trainer } from '../trainer.ts';
import { keptWhole } from './recorder.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await createEngine({ kernel: 'simd', threads: 1 });
});
afterAll(() => engine.dispose());

const settings: SettingsInput = {
  game: 'echo',
  gameSettings: { seats: 2, length: 5 },
  worlds: 4,
  rollout: 12,
  network: { hidden: [8] },
  ppo: { epochs: 2, minibatches: 3 },
  recording: { record: 'all' },
};

/** Every column of every table, whole. */
async function recorded(iterations: number, changes: SettingsInput = {}, stages: Partial<Stages> = {}) {
  const trainer = new Trainer({ ...settings, ...changes }, { engine, stages });
  const store = memoryStore('run');
  const writer = await RecordingWriter.create(store, trainer.manifest());
  trainer.record(writer);
  const reports = [];
  for (let i = 0; i < iterations; i++) reports.push(await trainer.iterate());
  await writer.close();
  const recording = await Recording.open(store);
  const table = async (name: string) => {
    const columns = new Map<string, Column>();
    for await (const chunk of recording.chunks(name))
      for (const [column, data] of chunk.columns) columns.set(column, data);
    return {
      numbers: (column: string) => Array.from(columns.get(column)!.values as Float64Array, Number),
      texts: (column: string) => columns.get(column)!.values as string[],
      list: (column: string, row: number) => {
        const { values, offsets } = columns.get(column) as { values: Float64Array; offsets: Int32Array };
        return Array.from(values.subarray(offsets[row], offsets[row + 1]), Number);
      },
      rows: columns.values().next().value!.rows,
    };
  };
  return { trainer, recording, reports, table };
}

/** Log-probability from logits, mask and temperature, written out here so that it does not lean on the engine. */
function logp(logits: number[], legal: number[], action: number, temperature = 1): number {
  const weights = logits.map((logit, i) => (legal[i] ? Math.exp(logit / temperature) : 0));
  return Math.log(weights[action] / weights.reduce((sum, weight) => sum + weight, 0));
}

/** Columns of a room are shared memory, which a structured clone would share too. */
function copied<T extends object>(rows: T): T {
  const copy = Object.entries(rows).map(([name, value]) => [
    name,
    ArrayBuffer.isView(value) ? (value as Float32Array).slice() : value,
  ]);
  return Object.fromEntries(copy) as T;
}

describe('the recording of a run', () => {
  it('holds every decision, and logits that give its log-probability', async () => {
    const { table, reports } = await recorded(2);
    const samples = await table('samples');
    expect(samples.rows).toBe(reports[0].rows + reports[1].rows);
    const [actions, oldLogp, counts] = ['action', 'old_logp', 'num_actions'].map((column) => samples.numbers(column));
    for (let row = 0; row < samples.rows; row++) {
      expect(samples.list('subset', row).length).toBe(counts[row]);
      expect(logp(samples.list('logits', row), samples.list('legal', row), actions[row])).toBeCloseTo(oldLogp[row], 5);
    }
  });

  it('holds what entered each loss: before the first step new_logp is old_logp, and the loss follows from the rows', async () => {
    const { table } = await recorded(1);
    const replays = await table('replays');
    const steps = await table('steps');
    const samples = await table('samples');
    expect(replays.rows).toBe(2 * samples.rows);
    expect(steps.rows).toBe(2 * 3 * 2);
    const column = (name: string) => replays.numbers(name);
    const [epoch, minibatch, policy, sample] = ['epoch', 'minibatch', 'policy', 'sample'].map(column);
    const [newLogp, oldLogp, advantage, entropy, after, again] = [
      'new_logp',
      'old_logp',
      'advantage',
      'entropy',
      'after_logp',
      'again_logp',
    ].map(column);
    const stepKeys = ['epoch', 'minibatch', 'policy'].map((name) => steps.numbers(name));
    for (let step = 0; step < steps.rows; step++) {
      const rows = [...epoch.keys()].filter(
        (row) =>
          epoch[row] === stepKeys[0][step] && minibatch[row] === stepKeys[1][step] && policy[row] === stepKeys[2][step],
      );
      const mean = (value: (row: number) => number) => rows.reduce((sum, row) => sum + value(row), 0) / rows.length;
      const ratio = (row: number) => Math.exp(newLogp[row] - oldLogp[row]);
      const clipped = (row: number) => Math.max(0.8, Math.min(1.2, ratio(row)));
      expect(mean((row) => -Math.min(ratio(row) * advantage[row], clipped(row) * advantage[row]))).toBeCloseTo(
        steps.numbers('policy_loss')[step],
        5,
      );
      expect(mean((row) => entropy[row])).toBeCloseTo(steps.numbers('entropy')[step], 5);
      expect(mean((row) => ratio(row) - 1 - Math.log(ratio(row)))).toBeCloseTo(steps.numbers('approx_kl')[step], 6);
      const known = rows.filter((row) => !Number.isNaN(after[row]));
      expect(known.length).toBeGreaterThan(0);
      const klAfter = known.reduce((sum, row) => sum + 0.5 * (after[row] - oldLogp[row]) ** 2, 0) / known.length;
      expect(klAfter).toBeCloseTo(steps.numbers('kl_after')[step], 7);
      if (stepKeys[0][step] === 0 && stepKeys[1][step] === 0)
        for (const row of rows) {
          expect(newLogp[row]).toBe(oldLogp[row]);
          expect(again[row]).toBe(newLogp[row]);
          if (entropy[row] > 0) expect(after[row]).not.toBe(newLogp[row]);
        }
    }
    for (let row = 0; row < replays.rows; row++) {
      expect(replays.list('subset', row)).toEqual(samples.list('subset', sample[row]));
      expect(
        logp(replays.list('logits', row), replays.list('legal', row), samples.numbers('action')[sample[row]]),
      ).toBeCloseTo(newLogp[row], 5);
      expect(samples.numbers('agent')[sample[row]]).toBe(policy[row]);
    }
  });

  it('gives values and returns in units of the rewards, in replays as in samples', async () => {
    const { table } = await recorded(3);
    const samples = await table('samples');
    const replays = await table('replays');
    const [iteration, epoch, minibatch, sample] = ['iteration', 'epoch', 'minibatch', 'sample'].map((name) =>
      replays.numbers(name),
    );
    const starts = [0, 1, 2].map((wanted) => samples.numbers('iteration').indexOf(wanted));
    let compared = 0;
    for (let row = 0; row < replays.rows; row++) {
      const source = starts[iteration[row]] + sample[row];
      expect(replays.numbers('return')[row]).toBeCloseTo(samples.numbers('return')[source], 4);
      if (epoch[row] > 0 || minibatch[row] > 0) continue;
      compared++;
      expect(replays.numbers('value')[row]).toBeCloseTo(samples.numbers('value')[source], 4);
    }
    expect(compared).toBeGreaterThan(0);
  });

  it('holds tensors by role, counters, readings and episodes', async () => {
    const { table, trainer, recording } = await recorded(2, { order: 'rotated' });
    const tensors = await table('tensors');
    expect(tensors.rows).toBe(2 * 2 * 3 * 2 * trainer.learners[0].policy.parameters.length);
    expect(new Set(tensors.numbers('bound'))).toEqual(new Set([1]));
    // A pointer head adds its bias to every candidate alike, so the bias has no gradient beyond rounding.
    const tensorNames = recording.manifest.tensors!.map((tensor) => tensor.name);
    const moved = tensors
      .numbers('delta')
      .filter((_, row) => tensorNames[tensors.numbers('tensor')[row]] !== 'actor.head.bias');
    expect(Math.min(...moved)).toBeGreaterThan(0);
    expect(Math.max(...tensors.numbers('tensor'))).toBe(recording.manifest.tensors!.length - 1);
    const counters = await table('counters');
    const counts = counters
      .texts('name')
      .map((name, row) => [
        name,
        counters.numbers('iteration')[row],
        counters.numbers('agent')[row],
        counters.numbers('value')[row],
      ]);
    expect(counts.filter(([name]) => name === 'order').map((entry) => entry[3])).toEqual([0, 1, 1, 0]);
    expect(counts.filter(([name]) => name === 'updates.policy').map((entry) => entry[3])).toEqual([1, 1, 2, 2]);
    const scalars = await table('scalars');
    expect(scalars.texts('name')).toContain('credit_correlation');
    expect((await table('episodes')).rows).toBeGreaterThan(0);
  });

  it('shows rows that the replay check dropped with weight 0 and the list that the update used', async () => {
    const reversed: Stages['loss'] = (job) => {
      const subset = job.rows.subset.slice();
      for (let row = 0; row < job.rows.length; row++)
        subset.subarray(job.rows.offsets[row], job.rows.offsets[row + 1]).reverse();
      return { ...job, rows: { ...job.rows, subset } };
    };
    const { table } = await recorded(1, { network: { hidden: [8], head: 'fixed', headGain: 1 } }, { loss: reversed });
    const replays = await table('replays');
    const samples = await table('samples');
    expect(Math.max(...replays.numbers('weight'))).toBe(0);
    expect(new Set((await table('steps')).numbers('skipped'))).toEqual(new Set([1]));
    const sample = replays.numbers('sample');
    for (let row = 0; row < replays.rows; row++) {
      expect(replays.list('subset', row)).toEqual(samples.list('subset', sample[row]).reverse());
      const given = logp(
        replays.list('logits', row),
        replays.list('legal', row),
        samples.numbers('action')[sample[row]],
      );
      if (Number.isFinite(given)) expect(given).toBeCloseTo(replays.numbers('new_logp')[row], 4);
    }
  });

  it('records what the stages used, not what they should have: a metric that lies, rows of an earlier iteration', async () => {
    const lying = await recorded(
      1,
      {},
      { report: (job, report) => ({ ...cleanStages.report(job, report), approxKl: 42 }) },
    );
    expect(new Set((await lying.table('steps')).numbers('approx_kl'))).toEqual(new Set([42]));
    let earlier: ReturnType<Stages['prepare']> | null = null;
    const stale: Stages['prepare'] = (batch, rows, count, learner, ppo, into) => {
      const made = copied(cleanStages.prepare(batch, rows, count, learner, ppo, into));
      const given = learner.index === 0 && earlier ? earlier : made;
      if (learner.index === 0) earlier = made;
      return given;
    };
    const { table } = await recorded(2, { guard: 'off' }, { prepare: stale });
    const replays = await table('replays');
    const [iteration, source, policy] = ['iteration', 'source_iteration', 'policy'].map((name) =>
      replays.numbers(name),
    );
    for (let row = 0; row < replays.rows; row++) expect(source[row]).toBe(policy[row] === 0 ? 0 : iteration[row]);
  });

  it('gives readings that follow from the rows of all minibatches', async () => {
    const { table, reports } = await recorded(1);
    const replays = await table('replays');
    const samples = await table('samples');
    const column = (name: string) => replays.numbers(name);
    const [policy, sample, newLogp, oldLogp, entropy, epoch, minibatch] = [
      'policy',
      'sample',
      'new_logp',
      'old_logp',
      'entropy',
      'epoch',
      'minibatch',
    ].map(column);
    const rows = [...policy.keys()].filter((row) => policy[row] === 1);
    const mean = (over: number[], value: (row: number) => number) =>
      over.reduce((sum, row) => sum + value(row), 0) / over.length;
    const log = (row: number) => newLogp[row] - oldLogp[row];
    const reading = reports[0].readings[1];
    expect(reading.k1).toBeCloseTo(
      mean(rows, (row) => -log(row)),
      6,
    );
    expect(reading.k2).toBeCloseTo(
      mean(rows, (row) => 0.5 * log(row) ** 2),
      6,
    );
    expect(reading.k3).toBeCloseTo(
      mean(rows, (row) => Math.exp(log(row)) - 1 - log(row)),
      6,
    );
    const ratio = mean(rows, (row) => Math.exp(log(row)));
    expect(reading.ratio_mean).toBeCloseTo(ratio, 6);
    expect(reading.ratio_std).toBeCloseTo(Math.sqrt(mean(rows, (row) => (Math.exp(log(row)) - ratio) ** 2)), 4);
    expect(reading.entropy).toBeCloseTo(
      mean(rows, (row) => entropy[row]),
      5,
    );
    const legal = (row: number) => replays.list('legal', row).reduce((sum, one) => sum + one, 0);
    const choosing = rows.filter((row) => legal(row) > 1);
    expect(reading.entropy_ratio).toBeCloseTo(
      mean(choosing, (row) => entropy[row] / Math.log(legal(row))),
      5,
    );
    // The samples' own advantages are the recomputed ones here, because nothing is broken.
    const credit = (row: number) => samples.numbers('advantage')[sample[row]];
    const later = rows.filter((row) => epoch[row] > 0 || minibatch[row] > 0);
    const [x, y] = [mean(later, log), mean(later, credit)];
    const covariance = mean(later, (row) => (log(row) - x) * (credit(row) - y));
    const spreads = Math.sqrt(mean(later, (row) => (log(row) - x) ** 2) * mean(later, (row) => (credit(row) - y) ** 2));
    expect(reading.credit_correlation).toBeCloseTo(covariance / spreads, 4);
    const own = [...samples.numbers('agent').keys()].filter((row) => samples.numbers('agent')[row] === 1);
    const returned = (row: number) => samples.numbers('return')[row];
    const error = (row: number) => returned(row) - samples.numbers('value')[row];
    const variance = (value: (row: number) => number) => mean(own, (row) => (value(row) - mean(own, value)) ** 2);
    expect(reading.explained_variance).toBeCloseTo(1 - variance(error) / variance(returned), 4);
  });

  it('keeps the first iterations and then every so-many-th whole', () => {
    const { recording } = readSettings({});
    expect([0, 1, 2, 3, 9, 10, 11, 20].map((iteration) => keptWhole(recording, iteration))).toEqual([
      true,
      true,
      true,
      false,
      false,
      true,
      false,
      true,
    ]);
    expect(keptWhole({ ...recording, record: 'off' }, 0)).toBe(false);
    expect(keptWhole({ ...recording, record: 'all' }, 7)).toBe(true);
  });
});
