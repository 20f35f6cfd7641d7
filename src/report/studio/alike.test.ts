import fc from 'fast-check';
import { expect, it } from 'vitest';
import { difference, restore } from './alike.ts';

const told = (value: unknown) => JSON.parse(JSON.stringify({ value })).value;

it('restores any value from any other', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (common, value) => {
      expect(restore(told(common), told(difference(common, value)))).toEqual(told(value));
    }),
  );
});

it('tells of settings only those that differ, and keeps the rest as it is', () => {
  const common = { seed: 1, run: { gamma: 0.99, ppo: { clip: 0.2 } } };
  const differs = difference(common, { seed: 2, run: { gamma: 0.9, ppo: { clip: 0.2 } } });
  expect(told(differs)).toEqual({ seed: { '=': 2 }, run: { gamma: { '=': 0.9 } } });
  expect((restore(common, told(differs)) as typeof common).run.ppo).toBe(common.run.ppo);
  // What neither has is nothing to tell.
  expect(difference({ ...common, algorithm: undefined }, { ...common, algorithm: undefined })).toBeUndefined();
});
