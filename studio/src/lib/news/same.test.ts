import { expect, it } from 'vitest';
import { keeping, sameFields } from './same.ts';

it('hands back the list from before while its entries are the same', () => {
  const keep = keeping<number>();
  const first = keep([1, 2]);
  expect(keep([1, 2])).toBe(first);
  expect(keep([1, 3])).not.toBe(first);
  expect(keep([1])).toEqual([1]);
});

it('compares entries by their fields where it is told to', () => {
  const keep = keeping<{ label: string; curves: object }>(sameFields);
  const curves = {};
  const first = keep([{ label: 'a', curves }]);
  expect(keep([{ label: 'a', curves }])).toBe(first);
  expect(keep([{ label: 'a', curves: {} }])).not.toBe(first);
});
