/** `trueline play`: games between scripted players and learnt policies, with returns per seat and name, and pictures of an episode. */

import { Command } from 'commander';
import type { Table } from '../algorithms/play.ts';
import { policyPlayer } from '../algorithms/policy-player.ts';
import { City } from '../games/city/game.ts';
import { cityExport } from '../games/city/plan.ts';
import { GridGame } from '../games/grid/grid.ts';
import { randomPlay } from '../games/grid/random-play.ts';
import { type Game, gameEntry, makeGame } from '../games/index.ts';
import { filmStrip, framePicture, hasPictures, type Picture, seatColour, textFrame } from '../games/picture.ts';
import { type Mean, meanByPlayer, meanBySeat, playEpisodes } from '../games/play.ts';
import { makePlayer, type Player, playerNames } from '../games/players.ts';
import { told } from '../language/language.ts';
import { BadInput } from '../recording/bad-input.ts';
import { writeWhole } from '../recording/node.ts';
import { playerPage } from '../report/pages/player-page.ts';
import { type Style, style, wantsColour } from '../report/style.ts';
import { number, table } from '../report/table.ts';
import { isLearning } from '../training/lineup/entry.ts';
import { loadTrainer } from '../training/node.ts';
import { asBadInput, json, print, wholeNumber, words } from './common/options.ts';
import { parseSet } from './common/settings.ts';

interface Flags {
  policy?: string;
  players?: string;
  episodes: number;
  seed: number;
  deal?: boolean;
  set: string[];
  watch?: boolean;
  svg?: string;
  html?: string;
  city?: string;
  json?: boolean;
}

export function playCommand(): Command {
  return new Command('play')
    .description('Play a game: mean return per seat and name with intervals, and pictures of an episode.')
    .argument('<game>', 'echo, stag-hunt, snowdrift, city ...')
    .option('--policy <run>', 'a folder that trueline train wrote; its policies play the seats called ppo')
    .option('--players <list>', 'who plays each seat, separated by commas; one name stands for all seats')
    .option('--episodes <n>', 'how many episodes', wholeNumber, 1000)
    .option('--seed <n>', 'the seed of every random stream', wholeNumber, 1)
    .option('--deal', 'assign players to seats at random in each episode')
    .option(
      '--set <name=value>',
      'one setting of the game, such as width=8; may be repeated',
      (item: string, list: string[]) => [...list, item],
      [],
    )
    .option('--watch', 'show one episode in the terminal')
    .option('--svg <file>', 'write one episode as a film strip')
    .option('--html <file>', 'write one episode as a page that plays it')
    .option('--city <file>', 'write one finished city as JSON, and its picture beside it as .svg')
    .addOption(json())
    .addHelpText(
      'after',
      '\nExamples:\n  $ trueline play stag-hunt --players nearest-stag --episodes 10000\n  $ trueline play stag-hunt --policy runs/stag-hunt-1 --html episode.html\n',
    )
    .action((game: string, flags: Flags) =>
      play(game, flags).catch((error: unknown) => {
        throw asBadInput(error);
      }),
    );
}

async function play(name: string, flags: Flags): Promise<void> {
  const settings = Object.assign({}, ...flags.set.map(parseSet)) as Record<string, unknown>;
  if (flags.episodes < 1) throw new BadInput(told('--episodes must be at least 1', '--episodes 至少为 1'));
  const loaded = flags.policy === undefined ? undefined : await loadTrainer(flags.policy);
  const make = (worlds: number) => makeGame(name, settings, worlds);
  const game = make(64);
  const { seats } = game.shape;
  const asked = words(flags.players ?? (loaded ? 'ppo' : 'random'));
  const names = asked.length === 1 ? Array.from({ length: seats }, () => asked[0]) : asked;
  const table = loaded?.trainer.crew?.table(game) ?? null;
  const players = names.map((item, seat) => makeSeatPlayer(item, seat, game, loaded?.trainer, table));
  const begun = performance.now();
  const fast = game instanceof GridGame && names.every((item) => item === 'random') && !flags.deal;
  const result = fast ? randomReturns(make(1) as GridGame, flags) : returns(game, players, flags);
  const seconds = (performance.now() - begun) / 1000;
  if (flags.watch || flags.svg || flags.html || flags.city) await pictures(name, make, players, flags);
  loaded?.dispose();
  if (flags.json) {
    print(
      JSON.stringify(
        {
          format: 'trueline/play/1',
          game: name,
          episodes: flags.episodes,
          seconds,
          seats: result.seats,
          players: names.map((player, i) => ({ player, ...result.players[i] })),
        },
        null,
        2,
      ),
    );
    return;
  }
  const paint = style(wantsColour(process.stdout, process.env));
  print(returnsText(game, names, result, flags, seconds, paint));
}

function makeSeatPlayer(
  name: string,
  seat: number,
  game: Game,
  trainer: Awaited<ReturnType<typeof loadTrainer>>['trainer'] | undefined,
  table: Table | null,
): Player {
  if (!isLearning(name)) {
    const player = makePlayer(name, game);
    return table ? table.watch(player) : player;
  }
  if (!trainer)
    throw new BadInput(
      told(
        `the player ${name} needs a learnt policy: --policy RUN; scripted players are ${playerNames(game).join(', ')}`,
        `玩家 ${name} 需要学得的策略：--policy RUN；脚本玩家有 ${playerNames(game).join(', ')}`,
      ),
    );
  const { shape } = trainer.game;
  const fits =
    shape.observation === game.shape.observation &&
    shape.actions === game.shape.actions &&
    shape.features === game.shape.features;
  if (!fits)
    throw new BadInput(
      told(
        `the run was trained on ${trainer.settings.game} with other settings; its policies do not fit this game`,
        `该训练是在 ${trainer.settings.game} 的其他设置下进行的；它的策略不适用于此游戏`,
      ),
    );
  const learner = trainer.learners.find((item) => item.agents.includes(seat)) ?? trainer.learners[0];
  return table ? table.player(learner) : policyPlayer(learner);
}

interface Returns {
  seats: Mean[];
  players: Mean[];
}

function returns(game: Game, players: readonly Player[], flags: Flags): Returns {
  const played = playEpisodes(game, players, flags.episodes, flags.seed, { deal: flags.deal });
  return { seats: meanBySeat(played), players: meanByPlayer(played) };
}

function randomReturns(game: GridGame, flags: Flags): Returns {
  const { sum, products, episodes } = randomPlay(game, flags.episodes, flags.seed);
  const seats = Array.from(sum, (total, seat) => {
    const mean = total / episodes;
    const variance = (products[seat * sum.length + seat] - episodes * mean * mean) / (episodes - 1);
    return { mean, halfWidth: 1.96 * Math.sqrt(variance / episodes), episodes };
  });
  return { seats, players: seats };
}

function returnsText(
  game: Game,
  names: string[],
  result: Returns,
  flags: Flags,
  seconds: number,
  paint: Style,
): string {
  const { roles } = game.shape;
  const interval = ({ mean, halfWidth }: Mean) => [
    number(mean),
    Number.isNaN(halfWidth) ? '' : `+- ${number(halfWidth)}`,
  ];
  const seatRows = result.seats.map((mean, seat) => [
    roles?.[seat] ?? `seat ${seat + 1}`,
    flags.deal ? 'dealt' : names[seat],
    ...interval(mean),
  ]);
  const lines = [
    `${paint.bold(game.name)}  ${number(flags.episodes)} ${flags.episodes === 1 ? 'episode' : 'episodes'} in ${seconds.toFixed(1)} s, seed ${flags.seed}`,
    table(['seat', 'player', 'return', '95 %'].map(paint.dim), seatRows, ['left', 'left', 'right']),
  ];
  if (flags.deal) {
    const rows = result.players.map((mean, i) => [`player_${i + 1}`, names[i], ...interval(mean)]);
    lines.push('', table(['name', 'player', 'return', '95 %'].map(paint.dim), rows, ['left', 'left', 'right']));
  }
  return lines.join('\n');
}

async function pictures(
  name: string,
  make: (worlds: number) => Game,
  players: readonly Player[],
  flags: Flags,
): Promise<void> {
  const game = make(1);
  if (flags.city && !(game instanceof City))
    throw new BadInput(
      told(
        `--city writes a finished city, and ${gameEntry(name).name} builds none; city and city-dilemma do`,
        `--city 写出建成的城市，而 ${gameEntry(name).name} 不建城市；city 与 city-dilemma 会`,
      ),
    );
  if (!hasPictures(game))
    throw new BadInput(
      told(
        `${gameEntry(name).name} has no pictures; stag-hunt, snowdrift, coin-game, cleanup and city have`,
        `${gameEntry(name).name} 没有图像；stag-hunt、snowdrift、coin-game、cleanup 和 city 有`,
      ),
    );
  const frames: Picture[] = [];
  const bare: string[] = [];
  const texts: string[] = [];
  const seats = players.map((player, seat) => ({
    name: game.shape.roles?.[seat] ?? (flags.deal ? '' : player.name),
    colour: seatColour(game, seat),
    paid: [] as number[],
  }));
  let month = -1;
  playEpisodes(game, players, 1, flags.seed, {
    onStep: () => {
      // A month of the city has many decisions and is worth one picture: the map as its last one left it.
      const again = game instanceof City && game.city.month[0] === month;
      if (game instanceof City) month = game.city.month[0];
      if (again) for (const list of [frames, bare, texts]) list.pop();
      // What the world was before its first step paid nobody.
      seats.forEach(({ paid }, seat) => {
        const now = frames.length === 0 && !again ? 0 : game.reward[seat];
        paid.push(again ? (paid.pop() ?? 0) + now : now);
      });
      frames.push(framePicture(game, 0));
      bare.push(framePicture(game, 0, false).svg);
      texts.push(textFrame(game, 0));
    },
  });
  if (flags.watch) for (const text of texts) print(`${text}\n`);
  const write = (file: string, text: string) => writeWhole(file, [new TextEncoder().encode(text)]);
  if (flags.svg) await write(flags.svg, filmStrip(frames, 6).svg);
  if (flags.city && game instanceof City) {
    await write(flags.city, `${JSON.stringify(cityExport(game, 0), null, 2)}\n`);
    await write(flags.city.replace(/(\.json)?$/, '.svg'), frames[frames.length - 1].svg);
  }
  if (flags.html) {
    const who = players.map((player) => player.name).join(', ');
    const film = {
      title: told(`${name}: one episode, seed ${flags.seed}`, `${name}：一局，种子 ${flags.seed}`),
      players: told(`Played by ${who}.`, `玩家：${who}。`),
      pictures: bare,
      seats,
    };
    await write(flags.html, playerPage(film));
  }
}
