/**
 * Does it help? Self-play and play beside scripted partners with more and more of HOP+'s modules, over ten seeds; made from one result file
 * per run in runs/hop-help, so that it can be stopped and gone on with at will. It writes docs/hop-table.md from them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HopModule } from '../src/algorithms/hop/settings.ts';
import { RandomStream } from '../src/math/random.ts';
import { interquartileInterval } from '../src/math/robust.ts';
import { mean } from '../src/math/statistics.ts';
import { writeWhole } from '../src/recording/node.ts';
import { mergeSettings, recommendedSettings } from '../src/training/recommended.ts';
import { train } from '../src/training/run.ts';
import { type Figure, figure } from './support.ts';

const variants: { name: string; label: string; without: HopModule[] }[] = [
  { name: 'nothing', label: 'nothing (PPO)', without: ['world-model', 'other-agents', 'subgoals'] },
  { name: 'other-agents', label: '+ model of other agents', without: ['world-model', 'subgoals'] },
  { name: 'subgoals', label: '+ subgoals', without: ['world-model'] },
  { name: 'everything', label: '+ world model and imagination', without: [] },
];
const partners = ['nearest-stag', 'nearest-hare', 'random'];
const seeds = Array.from({ length: 10 }, (_, i) => i + 1);
const marks = [2.5, 2.8];
/** A run that has not come to the last mark by then counts with this many. */
const mostSteps = 1_200_000;
const adaptSteps = 200_000;
/** Returns of so many iterations are averaged before a mark counts as reached. */
const smoothed = 3;

interface Result {
  variant: string;
  seed: number;
  partner: string | null;
  /** In self-play: steps and core-seconds to each mark, and whether it was reached. */
  steps: number[];
  seconds: number[];
  reached: boolean[];
  /** Beside partners: the learner's return on fresh episodes. */
  return: number | null;
}

const folder = join(process.cwd(), 'runs', 'hop-help');
const page = join(process.cwd(), 'docs', 'hop-table.md');

/** What can be run by itself, and at the same time as the other. */
export const parts = ['self-play', 'partners'] as const;

export async function bench(
  say: (line: string) => void,
  _sizes?: undefined,
  wanted: readonly (typeof parts)[number][] = parts,
): Promise<Figure[]> {
  // Seeds outside, so that a table over few of them is there early.
  const jobs = seeds.flatMap((seed) =>
    [...(wanted.includes('self-play') ? [null] : []), ...(wanted.includes('partners') ? partners : [])].flatMap(
      (partner) => variants.map((variant) => ({ seed, partner, variant })),
    ),
  );
  const left = jobs.filter(({ seed, partner, variant }) => !existsSync(fileOf(variant.name, partner, seed)));
  const begun = performance.now();
  for (const [i, { seed, partner, variant }] of left.entries()) {
    const spent = (performance.now() - begun) / 1000;
    const time = i === 0 ? '' : `, about ${Math.round((spent / i) * (left.length - i))} s left`;
    say(`${variant.name}, ${partner ?? 'self-play'}, seed ${seed} (${i + 1} of ${left.length}${time}) ...`);
    const path = fileOf(variant.name, partner, seed);
    const result = partner === null ? await selfPlay(variant, seed) : await beside(variant, partner, seed);
    await writeWhole(path, [Buffer.from(`${JSON.stringify(result)}\n`)]);
    await writePage();
  }
  return await writePage();
}

const fileOf = (variant: string, partner: string | null, seed: number) =>
  join(folder, `${variant}-${partner ?? 'self-play'}-${seed}.json`);

const base = (variant: (typeof variants)[number], seed: number) =>
  mergeSettings(recommendedSettings('stag-hunt') as Record<string, unknown>, {
    game: 'stag-hunt',
    algorithm: 'hop',
    hop: { without: variant.without },
    seed,
    // One thread gives the same bits, and makes the processor's time comparable.
    threads: 1,
  });

async function selfPlay(variant: (typeof variants)[number], seed: number): Promise<Result> {
  const stop = new AbortController();
  const recent: number[] = [];
  const result: Result = {
    variant: variant.name,
    seed,
    partner: null,
    steps: [],
    seconds: [],
    reached: [],
    return: null,
  };
  const clock = process.cpuUsage();
  const elapsed = () => {
    const { user, system } = process.cpuUsage(clock);
    return (user + system) / 1e6;
  };
  const run = await train(mergeSettings(base(variant, seed), { steps: mostSteps }), {
    signal: stop.signal,
    onIteration: ({ returns, steps }) => {
      recent.push(mean(returns.map((agent) => agent.mean)));
      if (recent.length > smoothed) recent.shift();
      while (
        result.steps.length < marks.length &&
        recent.length === smoothed &&
        mean(recent) >= marks[result.steps.length]
      ) {
        result.steps.push(steps);
        result.seconds.push(elapsed());
        result.reached.push(true);
      }
      if (result.steps.length === marks.length) stop.abort();
    },
  });
  while (result.steps.length < marks.length) {
    result.steps.push(mostSteps);
    result.seconds.push(elapsed());
    result.reached.push(false);
  }
  run.dispose();
  return result;
}

async function beside(variant: (typeof variants)[number], partner: string, seed: number): Promise<Result> {
  const players = ['learn', partner, partner, partner];
  const run = await train(mergeSettings(base(variant, seed), { steps: adaptSteps, players }));
  const [learner] = run.evaluate(4000, 99);
  run.dispose();
  return { variant: variant.name, seed, partner, steps: [], seconds: [], reached: [], return: learner.mean };
}

function results(variant: string, partner: string | null): Result[] {
  return seeds
    .map((seed) => fileOf(variant, partner, seed))
    .filter((path) => existsSync(path))
    .map((path) => JSON.parse(readFileSync(path, 'utf8')) as Result);
}

/** The table of what there is, and its figures. */
async function writePage(): Promise<Figure[]> {
  const figures: Figure[] = [];
  const interval = (values: number[]) => interquartileInterval([values], { stream: RandomStream.of(0, 'hop-help') });
  const cell = (what: string, values: number[], digits: number) => {
    if (values.length === 0) return '';
    const { estimate, low, high } = interval(values);
    figures.push(figure(what, estimate, '', undefined, `${low.toFixed(digits)} to ${high.toFixed(digits)}`));
    return `${estimate.toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`;
  };
  const rows = variants.map(({ name, label }) => {
    const own = results(name, null);
    const missed = own.filter((result) => !result.reached[marks.length - 1]).length;
    return [
      label,
      String(own.length),
      ...marks.flatMap((mark, i) => [
        cell(
          `${label}: thousand steps to ${mark}`,
          own.map((result) => result.steps[i] / 1000),
          0,
        ),
        cell(
          `${label}: core-seconds to ${mark}`,
          own.map((result) => result.seconds[i]),
          1,
        ),
      ]),
      String(missed),
    ];
  });
  const adapted = variants.map(({ name, label }) => [
    label,
    ...partners.map((partner) => {
      const values = results(name, partner).map((result) => result.return as number);
      return cell(`${label}: return beside three ${partner}`, values, 2);
    }),
    String(Math.min(...partners.map((partner) => results(name, partner).length))),
  ]);
  const header = [
    '',
    'seeds',
    ...marks.flatMap((mark) => [`steps to ${mark}, thousands`, `core-seconds to ${mark}`]),
    'never',
  ];
  const text = [
    '# Does HOP+ help? The figures',
    '',
    'Made by `npm run bench -- hop-help` from one result per run; [the page on HOP+](hop.md) says what they mean. Interquartile means with 95 % bootstrap intervals over the seeds.',
    '',
    `Self-play of four separate agents in the 4 x 4 stag hunt, until the mean return of ${smoothed} iterations reaches a mark; a run that has not reached 2.8 after ${mostSteps / 1e6} million steps counts with that many.`,
    '',
    ...markdown(header, rows),
    '',
    `One learner beside three scripted partners: its return on 4000 fresh episodes after ${adaptSteps / 1000} thousand steps.`,
    '',
    ...markdown(['', ...partners, 'seeds'], adapted),
    '',
  ].join('\n');
  await writeWhole(page, [Buffer.from(text)]);
  return figures;
}

function markdown(header: string[], rows: string[][]): string[] {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)];
}
