/** `trueline zoo bench`: whether the doctor finds the faults of the zoo, and keeps silent on healthy runs. Exit status 1 where a goal is missed. */

import { Command } from 'commander';
import type { Outcome } from '../../faults/bench/outcome.ts';
import { benchGames, makePlan, reserveGames } from '../../faults/bench/plan.ts';
import { score } from '../../faults/bench/score.ts';
import { type Head, heads, requireGames } from '../../faults/bench/setups.ts';
import { faults, findFault } from '../../faults/index.ts';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { writeWhole } from '../../recording/node.ts';
import { style, wantsColour } from '../../report/style.ts';
import { scorePage, scoreText } from '../../report/zoo.ts';
import { interruptible } from '../common/interrupt.ts';
import { exitStatus, json, print, wholeNumber, words } from '../common/options.ts';
import { progress } from '../common/progress.ts';
import { addRunnerOptions, type RunnerFlags, runnerOf } from '../common/runner.ts';
import { runJobs } from './zoo-pool.ts';

interface Flags extends RunnerFlags {
  seeds: number;
  firstSeed: number;
  games: string[];
  heads: string[];
  faults: string[];
  healthy: number;
  out?: string;
  page?: string;
  json?: boolean;
}

const names = (text: string) => words(text).filter(Boolean);

export function benchCommand(): Command {
  const command = new Command('bench')
    .description('Train every fault, diagnose each recording, and show which causes were named and which missed.')
    .option('--seeds <number>', 'runs of every fault on every game, the heads taking turns', wholeNumber, 3)
    .option('--first-seed <number>', 'the first seed; the others follow it', wholeNumber, 1)
    .option('--games <names>', 'games to train on, with commas between', names, [...benchGames])
    .option('--heads <names>', 'heads to train with, where the game allows it', names, [...heads])
    .option('--faults <ids>', 'only these faults, with commas between; none leaves healthy runs alone', names, [])
    .option('--healthy <number>', 'healthy runs to diagnose besides', wholeNumber, 120);
  return addRunnerOptions(command)
    .option('--out <folder>', 'keep the outcome of every run there; runs whose outcome is there are not repeated')
    .option('--page <file>', 'write the table as a Markdown page as well')
    .addOption(json())
    .addHelpText(
      'after',
      '\nExample:\n  $ trueline zoo bench --seeds 1 --games echo --faults advantage-late --healthy 2\n',
    )
    .action(async (flags: Flags, command: Command) => {
      requireGames(flags.games);
      for (const head of flags.heads)
        if (!(heads as readonly string[]).includes(head))
          throw new BadInput(
            told(
              `there is no head ${JSON.stringify(head)}; the heads are ${heads.join(' and ')}`,
              `没有输出头 ${JSON.stringify(head)}；可用的有 ${heads.join(' and ')}`,
            ),
          );
      const chosen = flags.faults[0] === 'none' ? [] : flags.faults.map((id) => findFault(id).id);
      const plan = makePlan({
        faults: flags.faults.length > 0 ? chosen : faults.map(({ id }) => id),
        games: flags.games,
        heads: flags.heads as Head[],
        reserve: reserveGames,
        seeds: flags.seeds,
        firstSeed: flags.firstSeed,
        healthy: flags.healthy,
      });
      if (plan.jobs.length === 0)
        throw new BadInput(
          told(
            'no run is left: the faults fit none of these games and heads; choose others',
            '没有剩下任何训练：这些故障不适用于这些游戏和输出头；请另选',
          ),
        );
      if (flags.shared && flags.out === undefined)
        throw new BadInput(
          told(
            '--shared needs --out, a folder on the disk that every machine reaches',
            '--shared 需要 --out，即每台机器都能访问的磁盘上的文件夹',
          ),
        );
      const interrupt = interruptible('Finishing the runs under way; once more ends at once.');
      const bar = progress(`${plan.jobs.length} runs`);
      const outcomes = await runJobs(plan.jobs, {
        ...(flags.out === undefined ? {} : { folder: flags.out }),
        runner: await runnerOf(flags),
        signal: interrupt.signal,
        progress: (done, all) => bar.update(done, all),
      }).finally(() => {
        bar.stop();
        interrupt.end();
      });
      if (!outcomes) {
        print(
          flags.out === undefined
            ? 'It was stopped; nothing is kept without --out.'
            : `It was stopped; what is finished is kept in ${flags.out}, and the same command goes on.`,
        );
        return;
      }
      const total = score(outcomes);
      if (flags.page !== undefined)
        await writeWhole(flags.page, [
          Buffer.from(scorePage({ ...about(command, flags), score: total, parts: parts(outcomes) })),
        ]);
      if (flags.json) print(JSON.stringify({ score: total, unfit: plan.unfit, outcomes }, null, 2));
      else print(scoreText(total, style(wantsColour(process.stdout, process.env))));
      if (total.goals.some(({ met }) => !met)) process.exitCode = exitStatus.faulty;
    });
}

/** Every game and head apart. */
function parts(outcomes: readonly Outcome[]): { name: string; score: ReturnType<typeof score> }[] {
  const byPlace = new Map<string, Outcome[]>();
  for (const outcome of outcomes) {
    const name = outcome.job.game.startsWith('probe') ? 'probe games' : `${outcome.job.game}, ${outcome.job.head} head`;
    byPlace.set(name, [...(byPlace.get(name) ?? []), outcome]);
  }
  return [...byPlace].map(([name, own]) => ({ name, score: score(own) }));
}

function about(command: Command, flags: Flags): { command: string; about: string } {
  const given = ['seeds', 'firstSeed', 'games', 'heads', 'faults', 'healthy']
    .filter((name) => command.getOptionValueSource(name) === 'cli')
    .map((name) => {
      const value = flags[name as keyof Flags];
      return `--${name.replace('S', '-s')} ${Array.isArray(value) ? value.join(',') : value}`;
    });
  return {
    command: ['trueline zoo bench', ...given, `--page ${flags.page}`].join(' '),
    about: `Seeds ${flags.firstSeed} to ${flags.firstSeed + flags.seeds - 1}; games ${flags.games.join(', ')} (${reserveGames.join(', ')} for faults that fit fewer than two of them); heads ${flags.heads.join(' and ')}.`,
  };
}
