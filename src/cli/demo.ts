/** `trueline demo`, which `npm start` runs: a run with a bug in it, its diagnosis, and the same run without the bug beside it. */
import { join } from 'node:path';
import { Command } from 'commander';
import { findFault } from '../faults/index.ts';
import { gameOptimum } from '../games/index.ts';
import { openRecording, removeRun } from '../recording/node.ts';
import { diagnosisText } from '../report/diagnosis.ts';
import { type Style, style, wantsColour } from '../report/style.ts';
import { number, table } from '../report/table.ts';
import { verdictSentence } from '../report/verdict.ts';
import { print, wholeNumber } from './common/options.ts';
import { noProject } from './common/project.ts';
import { examine, writePage } from './diagnose.ts';
import { trainAndShow } from './train.ts';

const game = 'echo';
const steps = 120_000;

export function demoCommand(): Command {
  return new Command('demo')
    .description('Train a run with a bug in it, let the doctor name the bug, and train again without it.')
    .option('--fault <name>', 'the bug; trueline zoo list shows them', 'subset-sorted')
    .option('--out <folder>', 'folder for the runs; the results of an earlier demo are replaced', 'runs/demo')
    .option('--seed <n>', 'the seed of every random stream of the runs', wholeNumber, 1)
    .addHelpText('after', '\nExample:\n  $ trueline demo --fault advantage-late\n')
    .action(async (options: { fault: string; out: string; seed: number }) => {
      const paint = style(wantsColour(process.stdout, process.env));
      const fault = findFault(options.fault);
      const best = number(gameOptimum(game));
      print(paint.bold(`1. A run with a bug: ${game}, where the best return is ${best}`));
      print(`   ${fault.sentence}\n`);
      const faulty = await run('faulty', options, paint, fault.id);
      print(paint.bold('\n2. The same run without it\n'));
      const healthy = await run('healthy', options, paint);
      print(paint.bold(`\n3. Side by side (best return ${best})`));
      const row = (name: string, found: Found) => [name, found.returns, found.verdict];
      print(
        table(['run', 'return of each agent', 'verdict'].map(paint.dim), [
          row('with the bug', faulty),
          row('without', healthy),
        ]),
      );
      print(
        [
          '',
          paint.bold('Next'),
          `  open ${faulty.page}           the diagnosis as a page, with its pictures`,
          `  trueline explain ${fault.cause}`,
          `  trueline inspect ${join(options.out, 'healthy')}`,
          '  trueline train stag-hunt                  four agents that learn to hunt together',
          '  trueline play stag-hunt --watch           watch a game',
        ].join('\n'),
      );
    });
}

interface Found {
  returns: string;
  verdict: string;
  page: string;
}

async function run(name: string, options: { seed: number; out: string }, paint: Style, fault?: string): Promise<Found> {
  const folder = join(options.out, name);
  const page = join(options.out, `${name}.html`);
  await removeRun(folder);
  const result = await trainAndShow(game, {
    set: ['gameSettings.seats=2'],
    seed: options.seed,
    steps,
    out: folder,
    evaluate: 1000,
    // The studio's list says how long a run took.
    clock: true,
    fault,
  });
  const examined = await examine(await openRecording(folder), { only: [] }, noProject);
  const width = process.stdout.columns ?? 100;
  print(`\n${diagnosisText(examined.diagnosis, paint, { pictures: examined.pictures, width })}`);
  await writePage(folder, examined, { only: [], ignore: [], html: page }, noProject);
  const returns = result?.last?.returns.map(({ mean }) => number(mean)).join(', ') ?? '';
  return { returns, verdict: verdictSentence(examined.diagnosis).split('. ')[0].replace(/\.$/, ''), page };
}
