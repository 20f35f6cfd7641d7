/** Formulas of the value loss, put into a healthy recording. */
import { describe, expect, it } from 'vitest';
import { numbers, record, stored } from '../../../test/support/tables.ts';
import { diagnose } from '../diagnose.ts';
import { stepKey } from '../evidence/steps/step-key.ts';
import { type ValueFormName, valueForm } from '../transforms/loss/value-formula.ts';

const clip = 0.002;
const square = (error: number) => error * error;

/** A healthy recording whose critic works in other units than the rewards, with a value loss by some formula. */
async function withLoss(
  form: ValueFormName,
  around: 'critic' | 'rewards',
  factor: number | 'rows' | 'halves' = 1,
  penalty = square,
  settings: object = { value_clip: clip },
) {
  const made = await stored('healthy/echo-2');
  const { samples, replays, steps } = made.tables;
  const of = (table: typeof samples, name: string) => numbers(table, name);
  const first = new Map<number, number>();
  for (const [row, number] of of(samples, 'iteration').entries()) if (!first.has(number)) first.set(number, row);
  const old = of(replays, 'sample').map(
    (at, row) => of(samples, 'value')[first.get(of(replays, 'iteration')[row])! + at],
  );
  const scaled = (value: number) => 2 * value + 0.5;
  replays.value = of(replays, 'value').map(scaled);
  replays.return = of(replays, 'return').map(scaled);
  const key = (table: typeof samples, row: number) => {
    const [iteration, epoch, minibatch] = ['iteration', 'epoch', 'minibatch'].map((name) => of(table, name)[row]);
    return `${iteration} ${stepKey(epoch, minibatch, table.policy ? of(table, 'policy')[row] : 0)}`;
  };
  const costs = new Map<string, number[]>();
  old.forEach((stored, row) => {
    const at = costs.get(key(replays, row)) ?? [];
    const [value, target] = [of(replays, 'value')[row], of(replays, 'return')[row]];
    at.push(valueForm(form).cost(value, target, around === 'rewards' ? stored : scaled(stored), clip, penalty));
    costs.set(key(replays, row), at);
  });
  // Of the first half every third row weighs nothing, so that its mean has fewer rows.
  const counts = (place: number) => place % 3 !== 0;
  if (factor === 'halves') {
    const seen = new Map<string, number>();
    replays.weight = old.map((_, row) => {
      const place = seen.get(key(replays, row)) ?? 0;
      seen.set(key(replays, row), place + 1);
      return place >= Math.ceil(costs.get(key(replays, row))!.length / 2) || counts(place) ? 1 : 0;
    });
  }
  steps.value_loss = of(steps, 'epoch').map((_, row) => {
    const all = costs.get(key(steps, row))!;
    const sum = (part: readonly number[]) => part.reduce((a, b) => a + b, 0);
    if (factor === 'rows') return sum(all);
    if (factor !== 'halves') return (factor * sum(all)) / all.length;
    const cut = Math.ceil(all.length / 2);
    const kept = all.slice(0, cut).filter((_, place) => counts(place));
    return (sum(kept) / kept.length + sum(all.slice(cut)) / (all.length - cut)) / 2;
  });
  delete steps.loss;
  Object.assign(made.manifest.settings as object, settings);
  return diagnose(await record(made), { only: ['value-loss'] });
}

describe('the value loss', () => {
  it.each(['plain', 'larger', 'clipped'] as const)('is right as %s', async (form) => {
    const settings = form === 'plain' ? {} : { value_clip: clip };
    const { checks, causes } = await withLoss(form, 'critic', 0.5, square, settings);
    expect(checks[0]).toMatchObject({ id: 'value-loss', status: 'pass', measured: { other: 0, wrong: 0 } });
    expect(causes).toEqual([]);
  });

  it.each([
    ['smaller', 'critic', 'loss-formula-differs'],
    ['difference-alone', 'critic', 'loss-formula-differs'],
    ['larger', 'rewards', 'value-scale-mismatch'],
  ] as const)('made of %s around the %s units is read off the rows', async (form, around, cause) => {
    const { causes } = await withLoss(form, around);
    expect(causes.map(({ id }) => id)).toEqual([cause]);
    expect(causes[0].transform).toMatchObject({ id: 'value-formula', form, clip });
    expect(causes[0].residual_after!).toBeLessThan(causes[0].residual_before! / 100);
  });

  it('made of two losses added up is read off the rows', async () => {
    const { causes } = await withLoss('two-added', 'critic', 1, Math.abs);
    expect(causes.map(({ id }) => id)).toEqual(['loss-formula-differs']);
    expect(causes[0].transform).toMatchObject({ id: 'value-formula', form: 'two-added' });
  });

  it('that no formula gives is not covered, and accuses nobody', async () => {
    const { checks, causes } = await withLoss('smaller', 'critic', 0.37, square, {});
    expect(checks[0].status).toBe('not-checked');
    expect(causes).toEqual([]);
  });

  it('without the clip that is declared, or with another, is read off the rows', async () => {
    const plain = await withLoss('plain', 'critic', 0.5);
    expect(plain.causes.map(({ id }) => id)).toEqual(['loss-formula-differs']);
    expect(plain.causes[0].transform).toMatchObject({ id: 'value-formula', form: 'plain' });
    const wider = await withLoss('larger', 'critic', 1, square, { value_clip: 4.4 * clip });
    expect(wider.causes.map(({ id }) => id)).toEqual(['loss-formula-differs']);
    expect(wider.causes[0].transform).toMatchObject({ form: 'larger', clip });
  });

  it('that is the mean of two halves, of which one has fewer rows that count, is right with a declared clip', async () => {
    const { verdict, checks } = await withLoss('larger', 'critic', 'halves');
    expect(verdict).not.toBe('unexplained');
    expect(checks.find(({ id }) => id === 'value-loss')?.status).toBe('pass');
  });

  it('that nothing gives though its clip is declared is unexplained', async () => {
    const { verdict, causes, unexplained } = await withLoss('smaller', 'critic', 0.37);
    expect([verdict, causes.length]).toEqual(['unexplained', 0]);
    expect(unexplained[0]).toMatchObject({ check: 'value-loss' });
    expect(unexplained[0].candidates).toContain('loss-formula-differs');
    expect(unexplained[0].candidates).toContain('metric-misreported');
  });

  it('that is a sum beside a policy loss that is a mean is named, and where sums are declared it is not', async () => {
    const summed = await withLoss('plain', 'critic', 'rows', square, {});
    expect(summed.causes.map(({ id }) => id)).toEqual(['loss-summed']);
    const declared = await withLoss('plain', 'critic', 'rows', square, { loss_reduction: 'sum' });
    expect(declared.causes).toEqual([]);
  });
});
