import { expect, it } from 'vitest';
import { logpOf, usual } from './density.ts';
import type { Scoring } from './forms.ts';
import { BetaLaw } from './laws.ts';
import { otherAction } from './other-action.ts';

const unit = (k: number) => Math.abs(Math.sin(k * 12.9898) * 43758.5453) % 1;

/** Beta actions that the environment gets between -2 and 2, and what the update makes of them. */
const rows = (scored: (given: number, row: number) => number): Scoring[] =>
  Array.from({ length: 120 }, (_, i) => {
    const law = new BetaLaw(
      Float64Array.from([0, 1], (d) => 0.4 + 0.2 * unit(7 * i + d)),
      Float64Array.from([0, 1], (d) => Math.log(0.15 + 0.05 * unit(3 * i + d))),
    );
    const action = Float64Array.from([0, 1], (d) => 0.1 + 0.8 * unit(5 * i + d));
    const given = action.map((value) => 4 * value - 2);
    const [old] = logpOf(usual, { action, given, law }, null);
    const [fresh] = logpOf(usual, { action: given.map((value) => scored(value, i)), given, law }, null);
    const row = { action, given, law };
    return { iteration: 0, agent: 0, sampled: row, updated: row, old, fresh, differs: true };
  });

it('a beta action that is brought back from the wrong bounds, and kept off 0 and 1', () => {
  const found = otherAction(
    rows((given) => Math.min(1 - 1e-4, Math.max(1e-4, (given + 1) / 2))),
    'new',
    usual,
  );
  expect(found?.transform.values[0]).toBeCloseTo(0.5, 4);
  expect(found?.transform.plus[1]).toBeCloseTo(0.5, 4);
});

it('is no line where each row has its own', () => {
  expect(
    otherAction(
      rows((given, row) => 0.5 + given / (5 + unit(row))),
      'new',
      usual,
    ),
  ).toBeNull();
});
