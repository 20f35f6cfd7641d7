/** `trueline crossplay`: who earns what beside whom. The row's agent sits in the first seat, the column's in all others. */
import { Command } from 'commander';
import { makeGame } from '../../games/index.ts';
import { makePlayer } from '../../games/players.ts';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { writeWhole } from '../../recording/node.ts';
import { type Encounter, heatMap } from '../../report/pages/heat-map.ts';
import { style, wantsColour } from '../../report/style.ts';
import { number, table } from '../../report/table.ts';
import { isLearning } from '../../training/lineup/entry.ts';
import { interval, playMatch } from '../../training/lineup/match.ts';
import { readOrigins } from '../../training/node.ts';
import { asBadInput, json, print, wholeNumber } from '../common/options.ts';
import { progress } from '../common/progress.ts';
import { asPlayer, openRun } from './partners.ts';

interface Flags {
  episodes: number;
  seed: number;
  html?: string;
  json?: boolean;
}

export function crossplayCommand(): Command {
  return new Command('crossplay')
    .description('Who earns what beside whom: every agent among every other, with intervals.')
    .argument('<run...>', 'folders that trueline train wrote; scripted players may follow')
    .option('--episodes <n>', 'how many episodes of each pair', wholeNumber, 500)
    .option('--seed <n>', 'the seed of every random stream', wholeNumber, 1)
    .option('--html <file>', 'write the matrix as a page, coloured by return')
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ trueline crossplay runs/ppo runs/hop nearest-stag --html crossplay.html\n')
    .action((typed: string[], flags: Flags) =>
      crossplay(typed, flags).catch((error: unknown) => {
        throw asBadInput(error);
      }),
    );
}

async function crossplay(typed: string[], flags: Flags): Promise<void> {
  if (flags.episodes < 2) throw new BadInput(told('--episodes must be at least 2', '--episodes 至少为 2'));
  const players = typed.map(asPlayer);
  const { settings, engine } = await openRun(typed[0].replace(/#[^/]*$/, ''));
  try {
    // Whoever cannot play is said before anybody does.
    const game = makeGame(settings.game, settings.gameSettings);
    for (const player of players) if (!isLearning(player)) makePlayer(player, game);
    const worlds = Math.min(flags.episodes, 64);
    const rounds = Math.ceil(flags.episodes / worlds);
    const bar = progress(told('playing', '正在对局'));
    const matrix: Encounter[][] = [];
    for (const [i, row] of players.entries()) {
      matrix.push([]);
      for (const [j, column] of players.entries()) {
        const seated = [row, ...Array.from({ length: game.shape.seats - 1 }, () => column)];
        const origins = await readOrigins({ ...settings, players: seated });
        const options = { worlds, episodes: rounds, seed: flags.seed };
        const results = playMatch(engine, settings, seated, origins, options);
        const returns: number[] = [];
        for (let k = 0; k < results.length; k++) if (results.agent[k] === 0) returns.push(results.return[k]);
        matrix[i].push({ ...interval(returns), episodes: returns.length });
        bar.update(i * players.length + j + 1, players.length ** 2);
      }
    }
    bar.stop();
    const command = `trueline crossplay ${typed.join(' ')}`;
    if (flags.html !== undefined)
      await writeWhole(flags.html, [new TextEncoder().encode(heatMap(settings.game, typed, matrix, command))]);
    if (flags.json)
      print(JSON.stringify({ format: 'trueline/crossplay/1', game: settings.game, players: typed, matrix }, null, 2));
    else print(text(settings.game, typed, matrix));
  } finally {
    engine.dispose();
  }
}

function text(game: string, players: readonly string[], matrix: readonly (readonly Encounter[])[]): string {
  const paint = style(wantsColour(process.stdout, process.env));
  const short = players.map((player) => player.split('/').pop() ?? player);
  const rows = matrix.map((cells, i) => [
    short[i],
    ...cells.map(({ mean, halfWidth }) => `${number(mean)} +- ${number(halfWidth)}`),
  ]);
  return [
    paint.bold(
      told(
        `${game}: mean return of the row's agent beside the column's, with 95 % intervals`,
        `${game}：行的智能体在列的智能体旁边的平均回报及 95 % 区间`,
      ),
    ),
    table(['', ...short].map(paint.dim), rows, ['left']),
  ].join('\n');
}
