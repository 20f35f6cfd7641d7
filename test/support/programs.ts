/** Programs of other customs, made from a stored recording by changing what a test is about. */
import { diagnose } from '../../src/doctor/diagnose.ts';
import type { Diagnosis } from '../../src/doctor/diagnosis.ts';
import { advantages, flow } from '../../src/math/advantages.ts';
import { buildChains } from '../../src/math/chains.ts';
import { numbers, record, stored } from './tables.ts';

export type Made = Awaited<ReturnType<typeof stored>>;

export async function changed(name: string, change: (made: Made) => void): Promise<Diagnosis> {
  const made = await stored(name);
  change(made);
  return diagnose(await record(made));
}

/** A sound program in PyTorch with one agent, whose batches have all as many rows: the stored one that clips too late declares no limit here. */
export const changedTorch = (change: (made: Made) => void): Promise<Diagnosis> =>
  changed('gradient-not-clipped/pytorch-after-the-step', (made) => {
    delete made.manifest.settings!.max_grad_norm;
    change(made);
  });

export const first = ({ verdict, causes }: Diagnosis) => [verdict, causes[0]?.id];
export const status = ({ checks }: Diagnosis, id: string) => checks.find((check) => check.id === id)?.status;

/** Gradients and losses that belong to what a test has changed are not recorded. */
export function unheard({ tables: { steps, replays, tensors } }: Made, ...kept: string[]): void {
  for (const name of ['policy_loss', 'value_loss', 'loss', 'approx_kl', 'clip_fraction', 'entropy'])
    if (!kept.includes(name)) delete steps[name];
  for (const name of ['logits', 'after_logp']) delete replays[name];
  if (!kept.includes('grad_norm')) delete tensors.grad_norm;
}

/** For every replay the place of its sample in the table. */
export function placesOf({ samples, replays }: Made['tables']): number[] {
  const start = new Map<number, number>();
  numbers(samples, 'iteration').forEach((number, row) => void (start.has(number) || start.set(number, row)));
  const at = numbers(replays, 'iteration');
  return numbers(replays, 'sample').map((row, i) => start.get(at[i])! + row);
}

/** Advantages and returns of the rewards and values that stand in the table. */
export function credited(made: Made): void {
  const { samples, replays } = made.tables;
  const { gamma, lambda } = made.manifest.settings as unknown as { gamma: number; lambda: number };
  const iteration = numbers(samples, 'iteration');
  for (const number of new Set(iteration)) {
    const rows = iteration.flatMap((at, row) => (at === number ? [row] : []));
    const of = (name: string) => rows.map((row) => numbers(samples, name)[row]);
    const inputs = {
      chains: buildChains(of('episode'), of('t'), of('agent'), of('env')),
      reward: of('reward'),
      value: of('value'),
      terminated: of('terminated'),
      truncated: of('truncated'),
      nextValue: of('next_value'),
    };
    const found = advantages(inputs, flow(inputs, 'asRecorded'), { gamma, lambda }, new Float64Array(rows.length));
    rows.forEach((row, i) => {
      numbers(samples, 'advantage')[row] = found[i];
      numbers(samples, 'return')[row] = found[i] + inputs.value[i];
    });
  }
  for (const name of ['advantage', 'return']) delete replays[name];
  unheard(made);
}
