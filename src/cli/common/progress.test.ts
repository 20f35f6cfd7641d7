import { expect, it } from 'vitest';
import { timeLeft } from './progress.ts';

it('tells the time left from what a hundredth took, and nothing before', () => {
  expect(timeLeft(0, 1000, 3)).toBe('?');
  expect(timeLeft(9, 1000, 3)).toBe('?');
  expect(timeLeft(10, 1000, 3)).toBe('4:57');
  expect(timeLeft(500, 1000, 60)).toBe('1:00');
});
