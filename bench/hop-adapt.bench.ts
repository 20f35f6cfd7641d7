/**
 * Self-play and few-shot adaptation of HOP, HOP+, PPO and MAPPO on the dilemmas of the paper: every algorithm's agent beside scripted partners and
 * the others' agents, as it was trained and after a few steps of learning beside them, with intervals over seeds. Every match is kept in
 * bench/hop/results and every run in build/hop-adapt: it can be stopped at any time and goes on where it was. It writes docs/hop-adapt.md.
 */
import { join } from 'node:path';
import type { PlannerSettings } from '../src/algorithms/hop-planner/settings.ts';
import { createEngine } from '../src/net/engine.ts';
import { writeWhole } from '../src/recording/node.ts';
import { interval } from '../src/training/lineup/match.ts';
import { adaptPage } from './hop/adapt-page.ts';
import {
  type AdaptSizes,
  type Algorithm,
  algorithms,
  alone,
  games,
  type Home,
  home,
  Meeting,
  mean,
  nameOf,
  type Part,
  type Result,
  resultsOf,
} from './hop/meeting.ts';
import { type Figure, figure } from './support.ts';

/** What can be run by itself. */
export const parts = Object.keys(games) as Part[];

const partners: Record<string, readonly string[]> = {
  'stag-hunt': ['nearest-stag', 'nearest-hare', 'random'],
  snowdrift: ['cooperate', 'defect', 'random'],
};

export const fullAdapt: AdaptSizes = {
  seeds: [1, 2, 3, 4, 5],
  settings: (algorithm, part) =>
    algorithm === 'hop-planner'
      ? { steps: part === 'snowdrift' ? 30_000 : 100_000 }
      : { steps: part === 'snowdrift' ? 200_000 : 400_000, worlds: 64, hop: { without: ['world-model'] } },
  // An episode of snowdrift has 50 steps of everybody, one of the stag hunt 6 or 7.
  lives: (part) => (part === 'snowdrift' ? 6 : 16),
  episodes: (part) => (part === 'snowdrift' ? 4 : 8),
  steps: 1200,
};

const page = join(process.cwd(), 'docs', 'hop-adapt.md');

export async function bench(
  say: (line: string) => void,
  sizes: AdaptSizes = fullAdapt,
  wanted: readonly Part[] = parts,
  at = home,
): Promise<Figure[]> {
  // Seeds outside, so that a table over few of them is there early.
  for (const seed of sizes.seeds)
    for (const part of wanted) {
      const engine = await createEngine({ threads: 1 });
      try {
        const one = new Meeting(say, engine, at, part, seed, sizes);
        for (const algorithm of algorithms)
          for (const label of labels(part, algorithm)) await one.meet(algorithm, label);
      } finally {
        engine.dispose();
      }
      if (at === home) await writePage();
    }
  return wanted.flatMap((part) => known(at, part, sizes));
}

/** The page of what is kept, with the number of seeds that each cell is from. */
export async function writePage(): Promise<void> {
  const cell = (part: Part, algorithm: Algorithm, label: string) => kept(home, part, fullAdapt, algorithm, label);
  const text = adaptPage(
    parts.map((part) => {
      const beside = [...partners[games[part].split('/')[0]], ...algorithms];
      const rows = beside.map((label) => ({
        label,
        cells: algorithms.map((algorithm) => (label === algorithm ? [] : cell(part, algorithm, label))),
      }));
      const own = algorithms.map((algorithm) => cell(part, algorithm, algorithm));
      return { part, own, rows, alone: cell(part, 'hop-planner', alone), gains: gains(home, part, fullAdapt) };
    }),
    fullAdapt,
  );
  await writeWhole(page, [new TextEncoder().encode(text)]);
}

/** What HOP's search earns above its own networks alone, on the same checkpoints and starts; runs that the protocol keeps are used. Planning helps where the low end of the interval is above 0. */
export async function searchGains(
  say: (line: string) => void,
  sizes: AdaptSizes = fullAdapt,
  wanted: readonly Part[] = ['4h1s', '4h2s'],
  at = home,
): Promise<Figure[]> {
  const engine = await createEngine({ threads: 1 });
  try {
    for (const part of wanted)
      for (const seed of sizes.seeds) {
        const one = new Meeting(say, engine, at, part, seed, sizes);
        for (const label of ['hop-planner', alone]) await one.meet('hop-planner', label);
      }
  } finally {
    engine.dispose();
  }
  return wanted.map((part) => {
    const { mean, halfWidth } = interval(gains(at, part, sizes));
    const note = `mean ${mean.toFixed(2)} +- ${halfWidth.toFixed(2)} over ${sizes.seeds.length} seeds`;
    return figure(
      `${part}: what search gains over its networks, low end of 95 %`,
      mean - halfWidth,
      '',
      { least: 0 },
      note,
    );
  });
}

/** What of the authors' programs is tried on an agent of HOP that was trained here. */
const departures: Record<string, Partial<PlannerSettings>> = {
  'drawn moves, 4 trees that share 64': {},
  'the best move': { rationality: 1e6 },
  'the best move, 5 trees of 200, exploration 1': { rationality: 1e6, simulations: 1000, samples: 5, exploration: 1 },
};

/** How HOP's agent of the first seed of 4h2s does beside scripted partners if it decides as the authors' programs do. */
export async function measureDepartures(say: (line: string) => void, at = home): Promise<Figure[]> {
  const engine = await createEngine({ threads: 1 });
  try {
    const one = new Meeting(say, engine, at, '4h2s', 1, fullAdapt);
    const figures: Figure[] = [];
    for (const partner of ['nearest-hare', 'nearest-stag'])
      for (const [name, change] of Object.entries(departures))
        figures.push(figure(`HOP beside three ${partner}, ${name}`, await one.decidingAs(partner, change), ''));
    return figures;
  } finally {
    engine.dispose();
  }
}

/** What HOP's agents earn beside hare hunters as they are, after learning beside them, and with nothing but the critic, or all but the critic, of the agent that has learnt. */
export async function measureCritics(say: (line: string) => void, sizes = fullAdapt, at = home): Promise<Figure[]> {
  const engine = await createEngine({ threads: 1 });
  try {
    const returns = new Map<string, number[]>();
    for (const seed of sizes.seeds) {
      say(`4h2s: critics exchanged, seed ${seed} ...`);
      const exchanged = await new Meeting(say, engine, at, '4h2s', seed, sizes).exchangingCritics('nearest-hare');
      for (const [name, value] of Object.entries(exchanged)) returns.set(name, [...(returns.get(name) ?? []), value]);
    }
    return [...returns].map(([name, values]) => {
      const { mean, halfWidth } = interval(values);
      const note = `+- ${halfWidth.toFixed(2)} over ${values.length} seeds`;
      return figure(`HOP beside three nearest-hare, ${name}`, mean, '', undefined, note);
    });
  } finally {
    engine.dispose();
  }
}

/** Whom an algorithm's agent meets: its own kind, scripted players, the others' agents. */
const labels = (part: Part, algorithm: Algorithm): string[] => [
  algorithm,
  ...(algorithm === 'hop-planner' ? [alone] : []),
  ...partners[games[part].split('/')[0]],
  ...algorithms.filter((other) => other !== algorithm),
];

/** By seed, as far as they are known. */
const kept = (at: Home, part: Part, { seeds }: AdaptSizes, algorithm: Algorithm, label: string): Result[] =>
  resultsOf(at, part).of(nameOf(algorithm, label), seeds);

/** Return with search less that of the networks alone, seed by seed. */
function gains(at: Home, part: Part, sizes: AdaptSizes): number[] {
  const results = resultsOf(at, part);
  const [searching, plain] = ['hop-planner', alone].map((label) => nameOf('hop-planner', label));
  const seeds = results.whole([searching, plain], sizes.seeds);
  const without = results.of(plain, seeds);
  return results.of(searching, seeds).map(({ curve }, i) => mean(curve) - mean(without[i].curve));
}

/** What the results that are kept say. */
function known(at: Home, part: Part, sizes: AdaptSizes): Figure[] {
  const shown = (name: string, returns: number[]) => {
    const { mean, halfWidth } = interval(returns);
    return figure(`${part}: ${name}`, mean, '', undefined, `+- ${halfWidth.toFixed(3)} over ${returns.length} seeds`);
  };
  return algorithms.flatMap((algorithm) =>
    labels(part, algorithm).flatMap((label) => {
      const results = kept(at, part, sizes, algorithm, label);
      if (results.length === 0) return [];
      const returns = results.map(({ curve }) => mean(curve));
      if (label === algorithm) return [shown(`${algorithm} in self-play`, returns)];
      if (label === alone)
        return [
          shown("hop-planner's networks alone", returns),
          shown('what its search gains, seed by seed', gains(at, part, sizes)),
        ];
      const learnt = results.flatMap((result) => result.learnt ?? []);
      return [
        shown(`${algorithm} beside three ${label}, as it is`, returns),
        shown(`${algorithm} beside three ${label}, after learning`, learnt),
      ];
    }),
  );
}
