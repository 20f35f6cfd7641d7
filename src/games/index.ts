/** The games by name, with their settings. `stag-hunt/8x8-4h1s` is short for stag-hunt with that preset; settings given besides override it. */

import { z } from 'zod';
import { told } from '../language/language.ts';
import { CartPole, cartpoleSettings } from './cartpole.ts';
import { City } from './city/game.ts';
import { citySettings, dilemmaSettings } from './city/rules.ts';
import { EchoGame, echoOptimum, echoSettings } from './echo.ts';
import type { Game, GameMaker } from './game.ts';
import { Cleanup, cleanupSettings } from './grid/cleanup.ts';
import { CoinGame, coinGamePresets, coinGameSettings } from './grid/coin-game.ts';
import { Snowdrift, snowdriftSettings } from './grid/snowdrift.ts';
import { StagHunt, stagHuntPresets, stagHuntSettings } from './grid/stag-hunt.ts';
import { ProbeGame, type ProbeName, probeSettings, probes } from './probes.ts';
import { GameRefusal } from './refusal.ts';

export { GameArrays, SavedNumbers } from './arrays.ts';
export { assertGame, type CheckOptions, checkGame, type GameReport } from './check.ts';
export { dealSeats, seatedNames } from './dealt.ts';
export type { Game, GameColumn, GameMaker, GameShape } from './game.ts';
export { rotation } from './grid/grid.ts';
export { type RandomPlay, randomPlay } from './grid/random-play.ts';
export { IndependentSeats } from './independent.ts';
export { animation, filmStrip, frame, framePicture, hasPictures, textFrame } from './picture.ts';
export { type Mean, meanByPlayer, meanBySeat, type Played, playEpisodes } from './play.ts';
export { makePlayer, type Player, playerNames } from './players.ts';
export { GameRefusal } from './refusal.ts';

/** One game of the registry. */
export interface GameEntry {
  readonly name: string;
  /** One sentence: what the player has to do. */
  readonly summary: string;
  /** Every setting with its default and a sentence. */
  readonly schema: z.ZodType<Record<string, unknown>>;
  /** Named sets of settings; the first is the default. */
  readonly presets: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  make(settings: Record<string, unknown>, worlds: number): Game;
  /** Expected return per seat and episode of the best policy, where it is known exactly. */
  optimum?(settings: Record<string, unknown>): number;
}

/** Ties a game's schema to its maker, so that only settings that passed the schema reach it. */
function entry<Settings extends Record<string, unknown>>(of: {
  name: string;
  summary: string;
  schema: z.ZodType<Settings>;
  presets?: Record<string, Partial<Settings>>;
  make: (settings: Settings, worlds: number) => Game;
  optimum?: (settings: Settings) => number;
}): GameEntry {
  const { name, summary, schema, presets = {}, make, optimum } = of;
  return {
    name,
    summary,
    schema,
    presets,
    make: (settings, worlds) => make(schema.parse(settings), worlds),
    ...(optimum && { optimum: (settings: Record<string, unknown>) => optimum(schema.parse(settings)) }),
  };
}

const probeNames = Object.keys(probes) as ProbeName[];

const entries: readonly GameEntry[] = [
  ...probeNames.map((name) =>
    entry({
      name,
      summary: probes[name].summary,
      schema: probeSettings,
      make: (settings, worlds) => new ProbeGame(name, settings, worlds),
      optimum: () => probes[name].optimum,
    }),
  ),
  entry({
    name: 'echo',
    summary: 'Repeat the cue you saw some steps ago, chosen from a list that is drawn anew at every step.',
    schema: echoSettings,
    make: (settings, worlds) => new EchoGame(settings, worlds),
    optimum: echoOptimum,
  }),
  entry({
    name: 'cartpole',
    summary: 'Balance a pole on a cart for 500 steps.',
    schema: cartpoleSettings,
    make: (settings, worlds) => new CartPole(settings, worlds),
    optimum: (settings) => settings.horizon,
  }),
  entry({
    name: 'stag-hunt',
    summary: 'Hunt hares alone for little, or meet at a stag and share much.',
    schema: stagHuntSettings,
    presets: stagHuntPresets,
    make: (settings, worlds) => new StagHunt(settings, worlds),
  }),
  entry({
    name: 'snowdrift',
    summary: "Clear drifts at your own cost to everyone's profit, or wait until another does.",
    schema: snowdriftSettings,
    make: (settings, worlds) => new Snowdrift(settings, worlds),
  }),
  entry({
    name: 'coin-game',
    summary: 'Take the coins of your own colour, or those of others at their cost.',
    schema: coinGameSettings,
    presets: coinGamePresets,
    make: (settings, worlds) => new CoinGame(settings, worlds),
  }),
  entry({
    name: 'cleanup',
    summary: 'Eat the apples that grow while somebody cleans the river, or be the one who cleans.',
    schema: cleanupSettings,
    make: (settings, worlds) => new Cleanup(settings, worlds),
  }),
  entry({
    name: 'city',
    summary: 'Two companies build on one map for 30 months, each pick chosen from a list of placements.',
    schema: citySettings,
    make: (settings, worlds) => new City('city', settings, worlds),
  }),
  entry({
    name: 'city-dilemma',
    summary: 'The city in which industry harms schools, so that cooperation matters.',
    schema: dilemmaSettings,
    make: (settings, worlds) => new City('city-dilemma', settings, worlds),
  }),
];

/**
 * The games' names, aliases such as `stag-hunt/8x8-4h1s` not included.
 *
 * @example
 * console.log(gameNames().join(', '));
 */
export function gameNames(): string[] {
  return entries.map((e) => e.name);
}

/** The registry's entry for a name or an alias. */
export function gameEntry(name: string): GameEntry {
  return find(name).entry;
}

/** The whole settings of a game: what is given, over the preset, over the defaults. */
export function gameSettings(name: string, given: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const { entry, preset } = find(name);
  const named = { ...(preset !== undefined && { preset }), ...given };
  const known = typeof named.preset === 'string' && Object.hasOwn(entry.presets, named.preset);
  const chosen = known ? entry.presets[named.preset as string] : undefined;
  const result = entry.schema.safeParse({ ...chosen, ...named });
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => explain(entry, issue)).join(told('; ', '；'));
  throw new GameRefusal(`${entry.name}: ${problems}${told('.', '。')}`);
}

/**
 * Makes a game by name.
 *
 * @example
 * const game = makeGame('stag-hunt', { seats: 4 }, 64);
 */
export function makeGame(name: string, settings: Readonly<Record<string, unknown>> = {}, worlds = 1): Game {
  return find(name).entry.make(gameSettings(name, settings), worlds);
}

/** A maker of one game for any number of worlds, as the trainer and the checker want it. */
export function gameMaker(name: string, settings: Readonly<Record<string, unknown>> = {}): GameMaker {
  const whole = gameSettings(name, settings);
  const { entry } = find(name);
  return (worlds) => entry.make(whole, worlds);
}

/** Expected return per seat and episode of the best policy; undefined where it is not known exactly. */
export function gameOptimum(name: string, settings: Readonly<Record<string, unknown>> = {}): number | undefined {
  return find(name).entry.optimum?.(gameSettings(name, settings));
}

function find(name: string): { entry: GameEntry; preset: string | undefined } {
  const slash = name.indexOf('/');
  const base = slash < 0 ? name : name.slice(0, slash);
  const preset = slash < 0 ? undefined : name.slice(slash + 1);
  const entry = entries.find((e) => e.name === base);
  if (!entry)
    throw new GameRefusal(
      told(
        `There is no game "${base}"; the games are ${gameNames().join(', ')}.`,
        `没有游戏 "${base}"；游戏有 ${gameNames().join(', ')}。`,
      ),
    );
  if (preset !== undefined && !Object.hasOwn(entry.presets, preset)) {
    const known = Object.keys(entry.presets);
    const remedy =
      known.length > 0
        ? told(`its presets are ${known.join(', ')}`, `它的预设有 ${known.join('、')}`)
        : told('it has no presets', '它没有预设');
    throw new GameRefusal(
      told(`The game ${base} has no preset "${preset}"; ${remedy}.`, `游戏 ${base} 没有预设 "${preset}"；${remedy}。`),
    );
  }
  return { entry, preset };
}

/** The settings of a game: name, default, sentence. */
export function describeGame(name: string): { setting: string; default: unknown; meaning: string }[] {
  const { properties = {} } = z.toJSONSchema(gameEntry(name).schema, { io: 'input' });
  return Object.entries(properties).map(([setting, property]) => {
    const { default: value, description = '' } = property as { default?: unknown; description?: string };
    return { setting, default: value, meaning: description };
  });
}

function explain(entry: GameEntry, issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') {
    const known = describeGame(entry.name).map((setting) => setting.setting);
    const keys = issue.keys.map((key) => `"${key}"`).join(', ');
    return told(
      `there is no setting ${keys}; the settings are ${known.join(', ')}`,
      `没有设置 ${keys}；设置有 ${known.join('、')}`,
    );
  }
  return issue.path.length > 0 ? `${issue.path.join('.')}: ${issue.message}` : issue.message;
}
