/** What the recorder costs: the example PPO loop with it and without it, in turn, at the default cadence; and whether its memory grows. */
import { join } from 'node:path';
import { type Figure, figure, median, output, python } from './support.ts';

export const needs = ['python3-torch', 'python3-numpy'];

interface Times {
  with: number[];
  without: number[];
  grown: number;
}

export async function bench(
  say: (line: string) => void,
  iterations = 80,
  rounds = 5,
  longest = 200,
): Promise<Figure[]> {
  say(`${rounds} times ${iterations} iterations with the recorder and without it ...`);
  const script = join(process.cwd(), 'bench/recorder/overhead.py');
  const found = JSON.parse(
    output(python('torch'), [script, String(iterations), String(rounds), String(longest)]),
  ) as Times;
  const ratios = found.with.map((seconds, i) => seconds / found.without[i]);
  return [
    figure('time of a small PPO loop with the recorder, of that without', median(ratios), 'x', { most: 1.05 }),
    figure(`memory gained over ${longest} iterations that are all kept`, found.grown, 'MB', { most: 64 }),
  ];
}
