/** `trueline demo`, which `npm start` runs: a run with a bug in it, its diagnosis, and the same run without the bug beside it. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { diagnose } from '../doctor/diagnose.ts';
import { findFault } from '../faults/index.ts';
import { gameOptimum } from '../games/index.ts';
import { openRecording } from '../recording/node.ts';
import { diagnosisText } from '../report/diagnosis.ts';
import { type Style, style, wantsColour } from '../report/style.ts';
import { number } from '../report/table.ts';
import { print, wholeNumber } from './options.ts';
import { trainAndShow } from './train.ts';

const game = 'echo';
const steps = 120_000;

export function demoCommand(): Command {
  return new Command('demo')
    .description('Train a run with a bug in it, let the doctor name the bug, and train it again without.')
    .option('--fault <name>', 'the bug; trueline zoo list shows them', 'subset-sorted')
    .option('--out <folder>', 'where the runs go; what an earlier demo left there is replaced', 'runs/demo')
    .option('--seed <n>', 'names every random stream of the runs', wholeNumber, 1)
    .addHelpText('after', '\nExample:\n  $ trueline demo --fault advantage-late\n')
    .action(async (options: { fault: string; out: string; seed: number }) => {
      const paint = style(wantsColour(process.stdout, process.env));
      const fault = findFault(options.fault);
      const best = number(gameOptimum(game));
      print(paint.bold(`1. A run with a bug: ${game}, where the best return is ${best}`));
      print(`   ${fault.sentence}\n`);
      await run(join(options.out, 'faulty'), options, paint, fault.id);
      print(paint.bold('\n2. The same run without it\n'));
      await run(join(options.out, 'healthy'), options, paint);
      print(
        [
          '',
          paint.bold('Next'),
          `  trueline explain ${fault.cause}`,
          `  trueline inspect ${join(options.out, 'healthy')}`,
          '  trueline train stag-hunt                  four agents that learn to hunt together',
          '  trueline play stag-hunt --watch           watch a game',
        ].join('\n'),
      );
    });
}

async function run(folder: string, options: { seed: number }, paint: Style, fault?: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await trainAndShow(game, {
    set: ['gameSettings.seats=2'],
    seed: options.seed,
    steps,
    out: folder,
    evaluate: 1000,
    fault,
  });
  const diagnosis = await diagnose(await openRecording(folder));
  print(`\n${diagnosisText(diagnosis, paint)}`);
}
