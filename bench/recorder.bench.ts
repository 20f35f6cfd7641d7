/** What the recorder costs: the example PPO loop with it and without it, in turn, at the default cadence; and whether its memory grows. */
import { join } from 'node:path';
import { mean } from '../src/math/statistics.ts';
import { type Figure, figure, median, output, python } from './support.ts';

export const needs = ['python3-torch', 'python3-numpy'];

interface Times {
  /** By round and iteration. */
  with: number[][];
  without: number[][];
  /** Of writing files, by round. */
  writing: number[];
  grown: number;
}

/** A loop of small networks is fastest on one thread. */
const oneThread = { OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1' };

/** The seconds of the whole loop: every iteration does the same in every round, so a round that was disturbed there does not count. */
function whole(rounds: readonly number[][]): number {
  return rounds[0].reduce((sum, _, i) => sum + median(rounds.map((round) => round[i])), 0);
}

export async function bench(
  say: (line: string) => void,
  iterations = 80,
  rounds = 9,
  longest = 200,
): Promise<Figure[]> {
  say(`${rounds} times ${iterations} iterations with the recorder and without it ...`);
  const script = join(process.cwd(), 'bench/recorder/overhead.py');
  const found = JSON.parse(
    output(python('torch'), [script, String(iterations), String(rounds), String(longest)], oneThread),
  ) as Times;
  const ratio = (whole(found.with) + mean(found.writing)) / whole(found.without);
  return [
    figure('time of a small PPO loop with the recorder, of that without', ratio, 'x', { most: 1.05 }),
    figure(`memory gained over ${longest} iterations that are all kept`, found.grown, 'MB', { most: 64 }),
  ];
}
