import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { adaptPage } from '../../bench/hop/adapt-page.ts';
import { Results } from '../../bench/hop/results.ts';

const folder = mkdtempSync(join(tmpdir(), 'trueline-results-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('keeps the results of a protocol by what was measured and by seed, a line each', async () => {
  const file = join(folder, 'one.json');
  const results = new Results<{ curve: number[] }>(file);
  await results.put('b', 2, { curve: [1 / 3] });
  await results.put('a', 1, { curve: [2] });
  await results.put('b', 1, { curve: [0.5, 1] });
  expect(readFileSync(file, 'utf8')).toBe(
    '{\n"a": {"1":{"curve":[2]}},\n"b": {"1":{"curve":[0.5,1]},"2":{"curve":[0.3333]}}\n}\n',
  );
  const again = new Results<{ curve: number[] }>(file);
  expect(again.has('b', 2)).toBe(true);
  expect(again.has('a', 2)).toBe(false);
  expect(again.of('b', [1, 2, 3]).map(({ curve }) => curve.length)).toEqual([2, 1]);
  expect(again.whole(['a', 'b'], [1, 2])).toEqual([1]);
});

it('says of each game how many seeds its table is from, and shows nothing that was not measured', () => {
  const one = (value: number, learnt?: number) => ({ curve: [value], ...(learnt === undefined ? {} : { learnt }) });
  const sizes = { seeds: [1, 2, 3, 4, 5], settings: () => ({}), lives: () => 1, episodes: () => 1, steps: 1200 };
  const page = adaptPage(
    [
      {
        part: '4h1s',
        own: [[one(2), one(4)], [], [], []],
        rows: [{ label: 'random', cells: [[one(1, 0.5)], [], [], []] }],
        alone: [one(1)],
        gains: [1],
      },
      { part: 'snowdrift', own: [[], [], [], []], rows: [], alone: [], gains: [] },
    ],
    sizes,
  );
  expect(page).toContain('0 to 2 of 5 seeds a cell.');
  expect(page).toContain('| random | 1.00; 0.50 | – | – | – |');
  expect(page).toMatch(/\| their own kind \| 3\.00 ± \d+\.\d\d \| – \| – \| – \|/);
  expect(page).not.toContain('Snowdrift');
});
