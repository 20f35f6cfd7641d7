import { expect, it } from 'vitest';
import { groupKeys } from './groups.ts';
import type { Iteration } from './iteration.ts';

it('counts the steps of a rollout for each agent in each environment, whatever order these are stored in', () => {
  const columns: Record<string, number[]> = { env: [0, 0, 1, 1, 0, 1, 1], agent: [0, 1, 0, 1, 0, 0, 1] };
  const iteration = { samples: { column: (name: string) => columns[name] ?? null } } as unknown as Iteration;
  expect([...groupKeys(iteration, 'step')!]).toEqual([0, 0, 0, 0, 1, 1, 1]);
  expect([...groupKeys(iteration, 'env')!]).toEqual(columns.env);
  delete columns.env;
  expect(groupKeys(iteration, 'step')).toBeNull();
});
