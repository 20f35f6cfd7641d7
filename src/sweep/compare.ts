/** Compares groups of runs that differ in their settings: interquartile means, intervals, probability of improvement, curves with bands. Runs of one group differ only in their seed. */
import { RandomStream } from '../math/random.ts';
import { type Interval, interquartileInterval, interquartileMean, probabilityOfImprovement } from '../math/robust.ts';
import { mean, median } from '../math/statistics.ts';
import { binned, type RunCurve } from './curves.ts';
import { canonical, differences } from './job.ts';

export interface ComparedRun {
  folder: string;
  seed: number | null;
  game: string;
  /** What set the run up, without its seed. */
  settings: Record<string, unknown>;
  /** What it is judged by. */
  score: number;
  curve: RunCurve;
}

export interface ComparedGroup {
  label: string;
  runs: ComparedRun[];
  /** Settings that are not the same in all groups, by dotted name. */
  settings: Record<string, unknown>;
  games: GroupGame[];
  /** Over the games that it shares with the first group; null for the first group itself, or where there is none. */
  improvement: Interval | null;
}

export interface GroupGame {
  game: string;
  runs: number;
  mean: number;
  median: number;
  interquartileMean: Interval;
}

export interface Comparison {
  groups: ComparedGroup[];
  repeats: number;
  level: number;
}

export interface CompareOptions {
  seed?: number;
  repeats?: number;
  level?: number;
}

export function compareRuns(runs: readonly ComparedRun[], options: CompareOptions = {}): Comparison {
  const { seed = 0, repeats = 2000, level = 0.95 } = options;
  const byKey = new Map<string, ComparedRun[]>();
  // A game is a task: groups that differ only in it are one group.
  for (const run of runs) {
    const { game: _game, gameSettings: _gameSettings, ...rest } = run.settings;
    const key = canonical(rest);
    byKey.set(key, [...(byKey.get(key) ?? []), run]);
  }
  const members = [...byKey.values()];
  const apart = differences(members.map(([first]) => first.settings));
  for (const path of [...apart.keys()]) if (path === 'game' || path.startsWith('gameSettings.')) apart.delete(path);
  const first = members[0];
  const groups = members.map((own, index) => {
    const settings = Object.fromEntries([...apart].map(([path, values]) => [path, values[index] ?? null]));
    const words = Object.entries(settings).map(([path, value]) => `${path}=${canonical(value).replaceAll('"', '')}`);
    const options = (purpose: string) => ({ stream: RandomStream.of(seed, 'compare', purpose, index), repeats, level });
    return {
      label: words.join(' ') || own[0].game,
      runs: own,
      settings,
      games: gamesOf(own).map((game) => {
        const scores = scoresOf(own, game);
        return {
          game,
          runs: scores.length,
          mean: mean(scores),
          median: median(scores),
          interquartileMean: interquartileInterval([scores], options(`mean ${game}`)),
        };
      }),
      improvement: index === 0 ? null : improvement(own, first, options('improvement')),
    };
  });
  return { groups, repeats, level };
}

function gamesOf(runs: readonly ComparedRun[]): string[] {
  return [...new Set(runs.map(({ game }) => game))];
}

function scoresOf(runs: readonly ComparedRun[], game: string): number[] {
  return runs.filter((run) => run.game === game && !Number.isNaN(run.score)).map(({ score }) => score);
}

function improvement(
  own: readonly ComparedRun[],
  first: readonly ComparedRun[],
  options: { stream: RandomStream; repeats: number; level: number },
): Interval | null {
  const shared = gamesOf(own).filter((game) => scoresOf(first, game).length > 0 && scoresOf(own, game).length > 0);
  if (shared.length === 0) return null;
  return probabilityOfImprovement(
    shared.map((game) => scoresOf(own, game)),
    shared.map((game) => scoresOf(first, game)),
    options,
  );
}

export interface Band {
  label: string;
  steps: number[];
  middle: number[];
  low: number[];
  high: number[];
}

export const bins = 40;

/** Interquartile mean over runs at equal steps, with its bootstrap interval; for all agents together, or for one. */
export function band(
  label: string,
  curves: readonly RunCurve[],
  options: CompareOptions & { agent?: number } = {},
): Band {
  const { seed = 0, repeats = 500, level = 0.95, agent } = options;
  const end = Math.max(...curves.map(({ steps }) => steps[steps.length - 1]));
  const values = curves.map((curve) => binned(curve, end, bins, agent));
  const made: Band = { label, steps: [], middle: [], low: [], high: [] };
  for (let bin = 0; bin < bins; bin++) {
    const here = values.map((row) => row[bin]).filter((value) => !Number.isNaN(value));
    if (here.length === 0) continue;
    const stream = RandomStream.of(seed, 'band', label, bin);
    const interval = interquartileInterval([here], { stream, repeats, level });
    made.steps.push(Math.round(((bin + 1) / bins) * end));
    made.middle.push(interquartileMean(here));
    made.low.push(interval.low);
    made.high.push(interval.high);
  }
  return made;
}
