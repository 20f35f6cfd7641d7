/**
 * Self-play and few-shot adaptation of HOP, HOP+, PPO and MAPPO on the dilemmas of the paper: every algorithm's agent beside scripted partners and
 * the others' agents, as it was trained and after a few steps of learning beside them, with intervals over seeds. Every match is kept in
 * bench/hop/results and every run in build/hop-adapt: it can be stopped at any time and goes on where it was. It writes docs/hop-adapt.md.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { PlannerSettings } from '../src/algorithms/hop-planner/settings.ts';
import { gameMaker } from '../src/games/index.ts';
import { createEngine } from '../src/net/engine.ts';
import type { Engine } from '../src/net/types.ts';
import { writeWhole } from '../src/recording/node.ts';
import { playLearnt } from '../src/training/collect/evaluate.ts';
import { curveOf, interval, playMatch } from '../src/training/lineup/match.ts';
import { readOrigins, trainInto } from '../src/training/node.ts';
import { mergeSettings, recommendedSettings } from '../src/training/recommended.ts';
import { readSettings } from '../src/training/settings.ts';
import { Trainer } from '../src/training/trainer.ts';
import { adaptPage } from './hop/adapt-page.ts';
import { Results } from './hop/results.ts';
import { type Figure, figure } from './support.ts';

const algorithms = ['hop-planner', 'hop', 'ppo', 'mappo'] as const;
type Algorithm = (typeof algorithms)[number];
/** HOP's own networks, without the search that taught them. */
const alone = 'networks alone';

const partners: Record<string, readonly string[]> = {
  'stag-hunt': ['nearest-stag', 'nearest-hare', 'random'],
  snowdrift: ['cooperate', 'defect', 'random'],
};

export interface AdaptSizes {
  seeds: readonly number[];
  /** Decisions of training and the rest of how it is done, by algorithm; a search learns more from each. */
  settings: (algorithm: string, part: Part) => Record<string, unknown>;
  /** Lives with each kind of partner, and episodes of each. */
  lives: (part: Part) => number;
  episodes: (part: Part) => number;
  /** Decisions of learning beside a partner. */
  steps: number;
}

const games = { '4h1s': 'stag-hunt/4x4-4h1s', '4h2s': 'stag-hunt/4x4-4h2s', snowdrift: 'snowdrift' } as const;
type Part = keyof typeof games;
/** What can be run by itself. */
export const parts = Object.keys(games) as Part[];

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

/** Where runs are kept, and where results are. */
const home = {
  runs: join(process.cwd(), 'build', 'hop-adapt'),
  results: join(process.cwd(), 'bench', 'hop', 'results'),
};
const page = join(process.cwd(), 'docs', 'hop-adapt.md');
type Home = typeof home;

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

/** Whom an algorithm's agent meets: its own kind, scripted players, the others' agents. */
const labels = (part: Part, algorithm: Algorithm): string[] => [
  algorithm,
  ...(algorithm === 'hop-planner' ? [alone] : []),
  ...partners[games[part].split('/')[0]],
  ...algorithms.filter((other) => other !== algorithm),
];

export interface Result {
  /** Per episode of a life: the mean over lives. */
  curve: number[];
  /** After learning beside them; absent in self-play. */
  learnt?: number;
}

const resultsOf = ({ results }: Home, part: Part) => new Results<Result>(join(results, `${part}.json`));
const nameOf = (algorithm: string, label: string) => `${algorithm} beside ${label}`;

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

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

/** One game and seed. */
class Meeting {
  constructor(
    private readonly say: (line: string) => void,
    private readonly engine: Engine,
    private readonly home: Home,
    private readonly part: Part,
    private readonly seed: number,
    private readonly sizes: AdaptSizes,
  ) {}

  private runOf(algorithm: string): string {
    return join(this.home.runs, `${this.part}-${algorithm}-${this.seed}`);
  }

  private settingsOf(algorithm: string) {
    const game = games[this.part];
    return mergeSettings(
      recommendedSettings(game, algorithm) as Record<string, unknown>,
      this.sizes.settings(algorithm, this.part),
      {
        game,
        algorithm,
        seed: this.seed,
        guard: 'off',
        recording: { record: 'off' },
      },
    );
  }

  private async train(algorithm: Algorithm): Promise<void> {
    const run = this.runOf(algorithm);
    if (existsSync(`${run}.whole`)) return;
    this.say(`${this.part}: ${algorithm}, seed ${this.seed} ...`);
    // What was stopped half-way is begun anew.
    rmSync(run, { recursive: true, force: true });
    (await trainInto(run, this.settingsOf(algorithm), { engine: this.engine })).dispose();
    await writeWhole(`${run}.whole`, []);
  }

  async meet(algorithm: Algorithm, label: string): Promise<void> {
    const results = resultsOf(this.home, this.part);
    if (results.has(nameOf(algorithm, label), this.seed)) return;
    for (const one of [algorithm, ...algorithms.filter((other) => other === label)]) await this.train(one);
    const [lives, episodes] = [this.sizes.lives(this.part), this.sizes.episodes(this.part)];
    const own = `frozen ${this.runOf(algorithm)}`;
    const result: Result = { curve: [] };
    const options = { worlds: lives, episodes, seed: 1000 + this.seed };
    const settings = readSettings(this.settingsOf(algorithm));
    if (label === algorithm || label === alone) {
      const player = label === alone ? own.replace('frozen', 'frozen without planner') : own;
      const players = [player, player, player, player];
      const origins = await readOrigins({ ...settings, players });
      const results = playMatch(this.engine, settings, players, origins, options);
      result.curve = [mean(results.means(players.length).map((agent) => agent.mean))];
    } else {
      const partner = (algorithms as readonly string[]).includes(label) ? `frozen ${this.runOf(label)}` : label;
      const players = [own, partner, partner, partner];
      const origins = await readOrigins({ ...settings, players });
      const results = playMatch(this.engine, settings, players, origins, options);
      result.curve = curveOf(results, lives, episodes).map((episode) => episode.mean);
      result.learnt = await this.learn(algorithm, partner);
    }
    await results.put(nameOf(algorithm, label), this.seed, result);
  }

  /** The return of HOP's agent beside three partners, if its search were set otherwise. */
  async decidingAs(partner: string, planner: Partial<PlannerSettings>): Promise<number> {
    await this.train('hop-planner');
    const settings = readSettings(this.settingsOf('hop-planner'));
    const players = [`frozen ${this.runOf('hop-planner')}`, partner, partner, partner];
    const origins = await readOrigins({ ...settings, players });
    const changed = Object.entries(origins).map(([key, origin]) => {
      const { seat } = origin;
      return [key, { ...origin, seat: { ...seat, planner: { ...seat.planner, ...planner } } }] as const;
    });
    const options = { worlds: this.sizes.lives(this.part), episodes: this.sizes.episodes(this.part), seed: 1001 };
    return playMatch(this.engine, settings, players, Object.fromEntries(changed), options).means(players.length)[0]
      .mean;
  }

  /** Goes on learning beside the partners for a few decisions, and is then judged on fresh episodes. */
  private async learn(algorithm: Algorithm, partner: string): Promise<number> {
    const players = [`from ${this.runOf(algorithm)}`, partner, partner, partner];
    const { lives, episodes, steps } = this.sizes;
    const [worlds, part] = [lives(this.part), this.part];
    const settings = mergeSettings(this.settingsOf(algorithm), {
      players,
      steps,
      worlds: 8,
      rollout: 32,
      seed: 1000 + this.seed,
    });
    const trainer = new Trainer(settings, { engine: this.engine, origins: await readOrigins(settings) });
    while (!trainer.done) await trainer.iterate();
    const make = gameMaker(games[this.part]);
    const judged = { worlds, episodes: worlds * episodes(part), seed: 1000 + this.seed, deal: false };
    return playLearnt(trainer, make, judged).means(players.length)[0].mean;
  }
}
