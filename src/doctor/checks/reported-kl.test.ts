import { describe, expect, it } from 'vitest';
import type { Iteration } from '../evidence/iteration.ts';
import { ReportedKl } from './reported-kl.ts';

/** An update whose steps report these KLs, all of policy 0. */
const update = (number: number, ...kl: number[]) =>
  ({ number, steps: { column: (name: string) => (name === 'approx_kl' ? kl : null) } }) as unknown as Iteration;

describe('a KL that is reported of an update whose rows were not kept', () => {
  it('is believed where the report was right wherever rows were kept', () => {
    const heard = new ReportedKl();
    heard.see(update(0, 0.01, 0.03), 0, 0.02);
    heard.see(update(1, 0.02), 0, 0.021);
    heard.see(update(2, 5, 50), 0, Number.NaN);
    expect(heard.lost(0)).toEqual({ iteration: 2, kl: 27.5 });
  });

  it('is not where the report was ever wrong, nor from a single update', () => {
    const heard = new ReportedKl();
    heard.see(update(0, 0.02), 0, 0.02);
    heard.see(update(1, 50), 0, Number.NaN);
    expect(heard.lost(0)).toBeNull();
    heard.see(update(2, 20), 0, 0.02);
    expect(heard.lost(0)).toBeNull();
  });

  it('says nothing where it is of the usual size', () => {
    const heard = new ReportedKl();
    for (const number of [0, 1]) heard.see(update(number, 0.02), 0, 0.02);
    heard.see(update(2, 0.5), 0, Number.NaN);
    expect(heard.lost(0)).toBeNull();
  });
});
