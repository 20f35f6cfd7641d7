/** What the recorder costs: the example PPO loop with it and without it, in turn, at the default cadence; and whether its memory grows. */
import { join } from 'node:path';
import { mean } from '../src/math/statistics.ts';
import { type Figure, figure, median, output, python } from './support.ts';

export const needs = ['python3-torch', 'python3-numpy'];

interface Times {
  /** By round and turn. */
  with: number[][];
  without: number[][];
  /** Of writing files, by round. */
  writing: number[];
  grown: number;
}

/** A loop of small networks is fastest on one thread. */
const oneThread = { OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1' };

/**
 * How much longer the loop takes with the recorder: what a turn takes with it, of that without it a moment earlier or later, by the
 * median over the rounds; every turn counts by its length.
 */
function overhead({ with: slower, without, writing }: Times): number {
  let seconds = 0;
  let more = mean(writing);
  for (let turn = 0; turn < without[0].length; turn++) {
    const usual = median(without.map((round) => round[turn]));
    seconds += usual;
    more += usual * (median(slower.map((round, i) => round[turn] / without[i][turn])) - 1);
  }
  return 1 + more / seconds;
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
  return [
    figure('time of a small PPO loop with the recorder, of that without', overhead(found), 'x', { most: 1.05 }),
    figure(`memory gained over ${longest} iterations that are all kept`, found.grown, 'MB', { most: 64 }),
  ];
}
