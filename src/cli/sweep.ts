/** `trueline sweep`: runs every combination of a file's settings with every seed, on all cores, and goes on where it was stopped. */
import { basename } from 'node:path';
import { Command } from 'commander';
import { BadInput } from '../recording/bad-input.ts';
import { style, wantsColour } from '../report/style.ts';
import { duration, number, table } from '../report/table.ts';
import { readSweep } from '../sweep/file.ts';
import { runSweep, type StatusEntry, type SweepOutcome, sweepStatus } from '../sweep/sweep.ts';
import { ThreadRunner } from '../sweep/threads.ts';
import { interruptible } from './interrupt.ts';
import { exitStatus, json, print, wholeNumber } from './options.ts';
import { checkGame, readConfig } from './settings.ts';
import { SweepView } from './sweep-view.ts';

interface Flags {
  out?: string;
  threads?: number;
  json?: boolean;
  status?: boolean;
}

export function sweepCommand(): Command {
  return new Command('sweep')
    .description('Run settings x seeds on all cores; stopped or killed, the same command goes on.')
    .argument('<file>', 'a .yaml or .json file with base, vary and seeds')
    .option('--out <folder>', 'where the runs go; runs/<name of the file> unless given')
    .option('--threads <n>', 'how many runs at the same time; all cores unless given', wholeNumber)
    .option('--status', 'only say how far the sweep is')
    .addOption(json())
    .addHelpText(
      'after',
      '\nExamples:\n  $ trueline sweep examples/sweep.yaml --out runs/gamma\n  $ trueline sweep examples/sweep.yaml --out runs/gamma --status\n  $ trueline compare runs/gamma\n',
    )
    .action(async (file: string, flags: Flags) => {
      const { name = basename(file).replace(/\.[^.]+$/, ''), jobs } = readSweep(await readConfig(file));
      for (const { job } of jobs) checkGame({ game: job.settings.game, gameSettings: job.settings.gameSettings });
      const folder = flags.out ?? `runs/${name}`;
      if (flags.status) return status(folder, flags);
      if (flags.threads === 0) throw new BadInput('--threads must be at least 1');
      const interrupt = interruptible('Finishing the iterations under way and saving; once more ends at once.');
      const paint = style(wantsColour(process.stderr, process.env));
      const view = new SweepView(process.stderr, paint);
      try {
        const outcome = await runSweep(jobs, folder, {
          name,
          runner: new ThreadRunner(flags.threads === undefined ? {} : { threads: flags.threads }),
          signal: interrupt.signal,
          onProgress: (progress) => view.update(progress),
          onOutcome: ({ status, error }, label) => {
            if (status === 'failed') view.say(`${paint.red('failed')} ${label}: ${error}`);
          },
        });
        view.finish();
        finish(outcome, name, flags, file);
      } finally {
        view.finish();
        interrupt.end();
      }
    });
}

function finish(outcome: SweepOutcome, name: string, flags: Flags, file: string): void {
  const count = (status: string) => outcome.jobs.filter((job) => job.status === status).length;
  const failed = count('failed');
  if (failed > 0) process.exitCode = exitStatus.faulty;
  if (flags.json) {
    const jobs = outcome.jobs.map(({ id, label, job, status, folder, result, error }) => ({
      id,
      label,
      status,
      folder,
      seed: job.seed,
      ...(result ? { seconds: result.seconds, steps: result.steps } : {}),
      ...(error ? { error } : {}),
    }));
    print(
      JSON.stringify(
        { format: 'trueline/sweep-outcome/1', name, folder: outcome.folder, stopped: outcome.stopped, jobs },
        null,
        2,
      ),
    );
    return;
  }
  const before = outcome.before > 0 ? `, ${number(outcome.before)} of them before` : '';
  print(
    `${number(count('done'))} of ${number(outcome.jobs.length)} runs are done${before}; they are in ${outcome.folder}.`,
  );
  for (const { label, error } of outcome.jobs.filter((job) => job.status === 'failed'))
    print(`failed: ${label}: ${error}`);
  const same = `trueline sweep ${file}${flags.out === undefined ? '' : ` --out ${flags.out}`}`;
  if (outcome.stopped) print(`It was stopped. Go on with: ${same}`);
  else if (failed > 0) print(`What failed is tried again by: ${same}`);
  else print(`Compare them with: trueline compare ${outcome.folder}`);
}

async function status(folder: string, flags: Flags): Promise<void> {
  const { list, jobs } = await sweepStatus(folder);
  const count = (wanted: StatusEntry['status']) => jobs.filter((job) => job.status === wanted).length;
  if (flags.json) {
    const rows = jobs.map(({ id, label, status, folder, result, error }) => ({
      id,
      label,
      status,
      folder,
      ...(result ? { seconds: result.seconds } : {}),
      ...(error ? { error } : {}),
    }));
    return print(JSON.stringify({ format: 'trueline/sweep-status/1', name: list.name, jobs: rows }, null, 2));
  }
  const paint = style(wantsColour(process.stdout, process.env));
  const colours = { done: paint.green, failed: paint.red, begun: paint.yellow, waiting: paint.dim };
  print(
    `${paint.bold(list.name)}: ${count('done')} done, ${count('failed')} failed, ${count('begun')} begun, ${count('waiting')} waiting`,
  );
  print(
    table(
      ['run', 'status', 'time', 'folder'].map(paint.dim),
      jobs.map((job) => [
        job.label,
        colours[job.status](job.status),
        job.result ? duration(job.result.seconds) : (job.error ?? ''),
        job.folder,
      ]),
    ),
  );
}
