/** Programs of other customs, made from a stored recording by changing what a test is about. */
import { diagnose } from '../../src/doctor/diagnose.ts';
import type { Diagnosis } from '../../src/doctor/diagnosis.ts';
import { numbers, record, stored } from './tables.ts';

export type Made = Awaited<ReturnType<typeof stored>>;

export async function changed(name: string, change: (made: Made) => void): Promise<Diagnosis> {
  const made = await stored(name);
  change(made);
  return diagnose(await record(made));
}

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
