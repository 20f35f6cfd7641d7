/** The first minibatch of a recording, as people print it when they debug: old and new log-probabilities side by side before any step. Old ones come from the update where it recorded them, else from the samples. */
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import type { Chunk } from '../../recording/column.ts';
import type { Recording } from '../../recording/recording.ts';

export interface FirstMinibatch {
  policy: string | null;
  iteration: number;
  rows: number;
  /** Rows whose old and new log-probability are both finite and differ by less than 1e-4. */
  valid: number;
  first: { sample: number; old_logp: number; new_logp: number; difference: number }[];
  ratio_least: number;
  ratio_greatest: number;
  ratio_mean: number;
  ratio_std: number;
  k1: number;
  k2: number;
  k3: number;
  /** Mean entropy as the update recorded it; null where it did not. */
  entropy: number | null;
}

export const agreeing = 1e-4;
const shown = 5;

interface Rows {
  iteration: number;
  policy: number;
  sample: number[];
  old: number[];
  fresh: number[];
  entropy: number[];
}

export async function firstMinibatches(recording: Recording): Promise<FirstMinibatch[]> {
  if (!recording.tables.includes('replays'))
    throw new BadInput(
      told('has no table replays, so there is no minibatch to show', '没有 replays 表，因此没有小批量可显示'),
      { file: recording.name },
    );
  const found = await firstRows(recording);
  if (found.length === 0)
    throw new BadInput(told('has no row in replays', '的 replays 里没有行'), { file: recording.name });
  const stored = found.some(({ old }) => old.some(Number.isNaN))
    ? await storedOld(recording, found[0].iteration)
    : null;
  return found.map((rows) => summary(rows, stored, recording.manifest.policies?.[rows.policy]?.name ?? null));
}

/** Rows of epoch 0, minibatch 0 of the first iteration that has any, by policy. */
async function firstRows(recording: Recording): Promise<Rows[]> {
  const found = new Map<number, Rows>();
  const columns = ['iteration', 'epoch', 'minibatch', 'sample', 'policy', 'old_logp', 'new_logp', 'entropy'];
  let iteration = Number.NaN;
  for await (const chunk of recording.chunks('replays', columns)) {
    const [at, epoch, minibatch, sample, policy, old, fresh, entropy] = columns.map((name) => numbers(chunk, name));
    for (let row = 0; row < chunk.rows; row++) {
      if (Number.isNaN(iteration)) iteration = Number(at?.[row]);
      if (Number(at?.[row]) !== iteration) return [...found.values()];
      if (epoch?.[row] !== 0 || minibatch?.[row] !== 0) continue;
      const owner = Number(policy?.[row] ?? 0);
      const rows = found.get(owner) ?? { iteration, policy: owner, sample: [], old: [], fresh: [], entropy: [] };
      found.set(owner, rows);
      rows.sample.push(Number(sample?.[row]));
      rows.old.push(Number(old?.[row] ?? Number.NaN));
      rows.fresh.push(Number(fresh?.[row] ?? Number.NaN));
      rows.entropy.push(Number(entropy?.[row] ?? Number.NaN));
    }
  }
  return [...found.values()];
}

async function storedOld(recording: Recording, iteration: number): Promise<number[]> {
  const out: number[] = [];
  for await (const chunk of recording.chunks('samples', ['iteration', 'old_logp'])) {
    const [at, old] = [numbers(chunk, 'iteration'), numbers(chunk, 'old_logp')];
    for (let row = 0; row < chunk.rows; row++) {
      if (Number(at?.[row]) > iteration) return out;
      if (Number(at?.[row]) === iteration) out.push(Number(old?.[row] ?? Number.NaN));
    }
  }
  return out;
}

function summary(rows: Rows, stored: readonly number[] | null, policy: string | null): FirstMinibatch {
  const old = rows.old.map((value, i) => (Number.isNaN(value) ? (stored?.[rows.sample[i]] ?? Number.NaN) : value));
  const logRatio = rows.fresh.map((fresh, i) => fresh - old[i]);
  const known = logRatio.filter(Number.isFinite);
  const mean = (of: (value: number) => number) => known.reduce((sum, value) => sum + of(value), 0) / known.length;
  const ratio = mean(Math.exp);
  const entropies = rows.entropy.filter(Number.isFinite);
  return {
    policy,
    iteration: rows.iteration,
    rows: logRatio.length,
    valid: known.filter((value) => Math.abs(value) < agreeing).length,
    first: rows.sample.slice(0, shown).map((sample, i) => ({
      sample,
      old_logp: old[i],
      new_logp: rows.fresh[i],
      difference: logRatio[i],
    })),
    ratio_least: known.reduce((least, value) => Math.min(least, Math.exp(value)), Number.POSITIVE_INFINITY),
    ratio_greatest: known.reduce((greatest, value) => Math.max(greatest, Math.exp(value)), 0),
    ratio_mean: ratio,
    // As torch and pandas have it.
    ratio_std: Math.sqrt((mean((value) => (Math.exp(value) - ratio) ** 2) * known.length) / (known.length - 1)),
    k1: mean((value) => -value),
    k2: mean((value) => value ** 2 / 2),
    k3: mean((value) => Math.expm1(value) - value),
    entropy: entropies.length > 0 ? entropies.reduce((a, b) => a + b) / entropies.length : null,
  };
}

function numbers(chunk: Chunk, name: string): ArrayLike<number | bigint> | undefined {
  const column = chunk.columns.get(name);
  return column && column.kind !== 'text' ? column.values : undefined;
}
