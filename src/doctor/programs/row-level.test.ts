/** What single rows tell of programs that nobody here had seen: credit without its baseline, precision, draws, groups, delayed rewards. Beside each slip stands the custom that looks like it. */
import { describe, expect, it } from 'vitest';
import { changed, credited, first, type Made } from '../../../test/support/programs.ts';
import { numbers } from '../../../test/support/tables.ts';

describe('values that credit leaves out', () => {
  /** Advantages of values that are scaled by a factor, beside the values as they are. */
  const valuesTimes = (made: Made, factor: number) => {
    const { samples } = made.tables;
    const kept = ['value', 'next_value'].map((name) => [name, numbers(samples, name)] as const);
    for (const [name, values] of kept) samples[name] = values.map((value) => factor * value);
    credited(made);
    for (const [name, values] of kept) samples[name] = values;
    samples.return = numbers(samples, 'advantage').map((credit, row) => credit + numbers(samples, 'value')[row]);
  };

  it('are a term that the formula lacks, and in no other units', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => valuesTimes(made, 0));
    expect(first(found)).toEqual(['faulty', 'credit-formula-differs']);
    expect(found.causes[0].summary).toMatch(/advantage = r \+ [\d.]+ A\(next\), where/);
  });

  it('are in other units where they count for half', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => valuesTimes(made, 0.5));
    expect(first(found)).toEqual(['faulty', 'value-scale-mismatch']);
  });

  it('are no fault where they count as they are', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => valuesTimes(made, 1));
    expect(first(found)).toEqual(['healthy', undefined]);
  });
});
