/** From the command line to the settings of a run: a game's recommended ones, then the file, then --set, then the flags; the last one wins. */

import { readFileSync, statSync } from 'node:fs';
import { gameSettings } from '../../games/index.ts';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { number, table } from '../../report/table.ts';
import { readEntry } from '../../training/lineup/entry.ts';
import { mergeSettings, recommendedSettings } from '../../training/recommended.ts';
import { describeSettings, readSettings, type Settings } from '../../training/settings.ts';
import { readConfig } from './config.ts';
import { asBadInput, words } from './options.ts';

export interface SettingFlags {
  config?: string;
  set: string[];
  algorithm?: string;
  seed?: number;
  steps?: number;
  players?: string;
  guard?: string;
  kernel?: string;
  engine?: string;
  threads?: number;
  sharing?: string;
  without?: string;
  record?: string;
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Words such as rotated need no quotes.
    return text;
  }
}

/** The most bytes of a file that is a setting. */
const largest = 1 << 20;

function fromFile(path: string): unknown {
  try {
    if (statSync(path).size > largest) throw new Error(told('it is larger than 1 MiB', '它大于 1 MiB'));
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const why = (error as Error).message;
    throw new BadInput(
      told(`${path}: a JSON file is expected after @: ${why}`, `${path}：@ 之后应是 JSON 文件：${why}`),
    );
  }
}

/** `ppo.clip=0.1` as { ppo: { clip: 0.1 } }; `gameSettings.map=@map.json` takes what the file holds; a value that is no JSON is text. */
export function parseSet(assignment: string): Record<string, unknown> {
  const at = assignment.indexOf('=');
  if (at < 1)
    throw new BadInput(
      told(
        `--set ${assignment}: a name, an equals sign and a value are expected, such as --set ppo.clip=0.1`,
        `--set ${assignment}：应写名称、等号和值，例如 --set ppo.clip=0.1`,
      ),
    );
  const text = assignment.slice(at + 1);
  const value = text.startsWith('@') ? fromFile(text.slice(1)) : jsonOrText(text);
  return assignment
    .slice(0, at)
    .split('.')
    .reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Record<string, unknown>;
}

/** Whose modules --without speaks of: the run's algorithm, or the one that some seats have. */
function roomOf(algorithm: unknown = 'ppo', players: unknown = []): 'hop' | 'planner' {
  const seats = Array.isArray(players) ? players.map((text) => readEntry(String(text)).algorithm) : [];
  const [room, other] = (['hop', 'hop-planner'] as const).filter((name) => name === algorithm || seats.includes(name));
  if (!room)
    throw new BadInput(
      told(
        `--without leaves out modules of hop or hop-planner, and nobody here is one of them; add --algorithm hop`,
        `--without 去掉 hop 或 hop-planner 的模块，而这里没有人用它们；请加 --algorithm hop`,
      ),
    );
  if (other)
    throw new BadInput(
      told(
        `--without would mean ${room} or ${other}, and both play here; say it seat by seat, such as "${room} without ..." in --players`,
        `--without 可指 ${room} 或 ${other}，而两者都在场；请在 --players 里逐个座位写，例如 "${room} without ..."`,
      ),
    );
  return room === 'hop' ? 'hop' : 'planner';
}

/** Everything that was asked for beyond the game's recommended settings. */
export async function givenSettings(flags: SettingFlags): Promise<Record<string, unknown>> {
  const { config, set, players, record, without, ...direct } = flags;
  const file = config === undefined ? {} : await readConfig(config);
  const early = mergeSettings(file, ...set.map(parseSet));
  return mergeSettings(early, {
    algorithm: direct.algorithm,
    seed: direct.seed,
    steps: direct.steps,
    guard: direct.guard,
    kernel: direct.kernel,
    engine: direct.engine,
    threads: direct.threads,
    sharing: direct.sharing,
    players: players === undefined ? undefined : words(players),
    ...(without === undefined
      ? {}
      : {
          [roomOf(direct.algorithm ?? early.algorithm, players === undefined ? early.players : words(players))]: {
            without: without === 'none' ? [] : words(without),
          },
        }),
    recording: record === undefined ? undefined : { record },
  });
}

export async function runSettings(game: string | undefined, flags: SettingFlags): Promise<Settings> {
  const given = await givenSettings(flags);
  const name = game ?? (typeof given.game === 'string' ? given.game : undefined);
  if (name === undefined)
    throw new BadInput(
      told(
        'no game is named; trueline train stag-hunt, for example, or "game" in the --config file',
        '没有指定游戏；例如 trueline train stag-hunt，或在 --config 文件里写 "game"',
      ),
    );
  const merged = mergeSettings(recommendedSettings(name, given.algorithm) as Record<string, unknown>, given, {
    game: name,
  });
  const settings = readSettings(merged);
  requireGame(settings);
  return settings;
}

/** A game's own complaints about its name or settings are the user's to mend. */
export function requireGame(settings: Pick<Settings, 'game' | 'gameSettings'>): void {
  try {
    gameSettings(settings.game, settings.gameSettings);
  } catch (error) {
    throw asBadInput(error);
  }
}

export function describeText(): string {
  const show = (value: unknown) =>
    typeof value === 'number' ? number(value) : value === undefined ? '' : JSON.stringify(value);
  const rows = describeSettings().map((setting) => [
    setting.path,
    setting.choices ? `${show(setting.default)} of ${setting.choices.join(', ')}` : show(setting.default),
    setting.description,
  ]);
  return table(['setting', 'default', 'meaning'], rows);
}
