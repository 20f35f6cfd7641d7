import { describe, expect, it } from 'vitest';
import { record, stored } from '../../../test/support/tables.ts';
import { diagnose } from '../diagnose.ts';
import { logDerivative } from './density.ts';
import { type PartsRow, toldByParts } from './parts.ts';

const rows = (change: (row: PartsRow) => Partial<PartsRow>): PartsRow[] =>
  Array.from({ length: 40 }, (_, i) => {
    const parts = Float64Array.of(Math.sin(i) - 1, Math.cos(2 * i) - 2, Math.sin(3 * i) - 1.5);
    const total = parts[0] + parts[1] + parts[2];
    const action = Float64Array.of(Math.sin(5 * i), Math.cos(7 * i), 0.3);
    const row = { iteration: 0, agent: 0, action, old: total, fresh: total, sampled: parts, updated: parts, own: true };
    return { ...row, ...change(row) };
  });
const sum = (parts: Float64Array) => parts.reduce((a, b) => a + b, 0);

describe('log-probabilities of single dimensions', () => {
  it('are silent where both passes add them up', () => {
    expect(
      toldByParts(
        rows(() => ({})),
        false,
      ),
    ).toBeNull();
  });

  it('tell a mean in one pass', () => {
    expect(
      toldByParts(
        rows(({ updated }) => ({ fresh: sum(updated) / 3 })),
        true,
      ),
    ).toMatchObject({
      side: 'new',
      form: { reduce: 'mean' },
    });
  });

  it('tell one dimension in both passes', () => {
    const both = rows(({ sampled }) => ({ old: sampled[0], fresh: sampled[0] }));
    expect(toldByParts(both, false)).toMatchObject({ side: 'both', form: { reduce: 'first' } });
  });

  it("tell that the update does not take off tanh's derivative", () => {
    const lacking = rows(({ sampled, action }) => {
      const updated = sampled.map((part, d) => part + logDerivative(action![d]));
      return { updated, fresh: sum(updated) };
    });
    const found = toldByParts(lacking, true);
    expect(found).toMatchObject({ side: 'new', form: { squash: 0 } });
    expect(found!.given(lacking[3])).toBeCloseTo(lacking[3].fresh, 10);
  });

  it('name the cause where means and deviations were not recorded', async () => {
    const made = await stored('dimensions-reduced-wrong/continuous-mean-over-dimensions-in-both-passes');
    const { samples, replays } = made.tables;
    const density = (action: number[], mean: number[], logStd: number[]) =>
      action.map((x, d) => -(((x - mean[d]) / Math.exp(logStd[d])) ** 2) / 2 - logStd[d] - Math.log(2 * Math.PI) / 2);
    type Lists = number[][];
    const [actions, means, spreads] = [samples.action_values, samples.mean, samples.log_std] as Lists[];
    samples.logp_parts = actions.map((action, i) => density(action, means[i], spreads[i]));
    for (const table of [samples, replays]) for (const name of ['mean', 'log_std']) delete table[name];
    const { causes } = await diagnose(await record(made));
    expect(causes[0]?.id).toBe('dimensions-reduced-wrong');
  });
});
