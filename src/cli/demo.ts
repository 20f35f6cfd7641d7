/** `trueline demo`, which `npm start` runs: the main job on something small that comes with the program. */
import { rm } from 'node:fs/promises';
import { Command } from 'commander';
import { gameOptimum } from '../games/index.ts';
import { style, wantsColour } from '../report/style.ts';
import { number } from '../report/table.ts';
import { print, wholeNumber } from './options.ts';
import { trainAndShow } from './train.ts';

const game = 'probe-observation-action';

export function demoCommand(): Command {
  return new Command('demo')
    .description('Train a small run, with every number checked as it happens, and show its readings.')
    .option('--out <folder>', 'where the run goes; what an earlier demo left there is replaced', 'runs/demo')
    .option('--seed <n>', 'names every random stream of the run', wholeNumber, 1)
    .addHelpText('after', '\nExample:\n  $ trueline demo --seed 2\n')
    .action(async (options: { out: string; seed: number }) => {
      const paint = style(wantsColour(process.stdout, process.env));
      print(
        `${paint.bold(`Training PPO on ${game}`)}: the right action depends on what is seen. The best return is ${number(gameOptimum(game))}.\n`,
      );
      await rm(options.out, { recursive: true, force: true });
      await trainAndShow(game, { set: [], seed: options.seed, steps: 40_000, out: options.out, evaluate: 1000 });
      print(
        [
          '',
          paint.bold('Next'),
          `  trueline inspect ${options.out}                 what was recorded, and which questions it can answer`,
          '  trueline train stag-hunt                  four agents that learn to hunt together',
          '  trueline play stag-hunt --watch           watch a game',
          '  trueline train --describe                 every setting, with its default and meaning',
        ].join('\n'),
      );
    });
}
