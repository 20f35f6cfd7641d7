/** `trueline sweep`: runs every combination of a file's settings with every seed, on all cores, and goes on where it was stopped. */
import { basename } from 'node:path';
import { Command } from 'commander';
import { style, wantsColour } from '../../report/style.ts';
import { duration, number, table } from '../../report/table.ts';
import { readSweep } from '../../sweep/file.ts';
import { runSweep, type StatusEntry, type SweepOutcome, sweepStatus } from '../../sweep/sweep.ts';
import { readConfig } from '../common/config.ts';
import { interruptible } from '../common/interrupt.ts';
import { exitStatus, json, print } from '../common/options.ts';
import {
  addRunnerOptions,
  addressOf,
  needingQueue,
  type RunnerFlags,
  runnerOf,
  typed,
  typedRunner,
} from '../common/runner.ts';
import { requireGame } from '../common/settings.ts';
import { SweepView } from './sweep-view.ts';

interface Flags extends RunnerFlags {
  out?: string;
  json?: boolean;
  status?: boolean;
}

export function sweepCommand(): Command {
  const command = new Command('sweep')
    .description(
      'Run every combination of settings and seeds on all cores; if interrupted, the same command continues.',
    )
    .argument('<file>', 'a .yaml or .json file with base, vary and seeds')
    .option('--out <folder>', 'folder for the runs (default: runs/<name of the file>)');
  return addRunnerOptions(command)
    .option('--status', 'only report the progress of the sweep')
    .addOption(json())
    .addHelpText(
      'after',
      '\nExamples:\n  $ trueline sweep examples/sweep.yaml --out runs/gamma\n  $ trueline sweep examples/sweep.yaml --out runs/gamma --status\n  $ trueline compare runs/gamma\n  $ trueline sweep examples/sweep.yaml --redis redis://10.0.0.1:6379 --queue gamma\n',
    )
    .action(async (file: string, flags: Flags) => {
      const { name = basename(file).replace(/\.[^.]+$/, ''), jobs } = readSweep(await readConfig(file), {
        portable: flags.redis !== undefined,
      });
      for (const { job } of jobs) requireGame({ game: job.settings.game, gameSettings: job.settings.gameSettings });
      const folder = flags.out ?? `runs/${name}`;
      if (flags.status) return flags.redis === undefined ? status(folder, flags) : queueState(flags);
      const interrupt = interruptible('Finishing the iterations under way and saving; once more ends at once.');
      const paint = style(wantsColour(process.stderr, process.env));
      const view = new SweepView(process.stderr, paint);
      try {
        const outcome = await runSweep(jobs, folder, {
          name,
          runner: await runnerOf(flags),
          signal: interrupt.signal,
          onProgress: (progress) => view.update(progress),
          onOutcome: ({ status, error }, label) => {
            if (status === 'failed') view.say(`${paint.red('failed')} ${label}: ${error}`);
          },
        });
        view.finish();
        await finish(outcome, name, flags, file);
      } finally {
        view.finish();
        interrupt.end();
      }
    });
}

async function queueState(flags: Flags): Promise<void> {
  const { queueStatus } = await needingQueue(() => import('../../sweep/redis/status.ts'));
  const found = await queueStatus(addressOf(flags), flags.queue);
  if (flags.json) return print(JSON.stringify(found, null, 2));
  const paint = style(wantsColour(process.stdout, process.env));
  const { jobs, machines, running, failed, perMinute, secondsLeft } = found;
  print(
    `${paint.bold(found.queue)}: ${jobs.completed} done, ${jobs.failed} set aside, ${jobs.active} under way, ${jobs.waiting + jobs.delayed} waiting`,
  );
  if (perMinute !== null)
    print(`${number(perMinute)} jobs a minute${secondsLeft === null ? '' : `, ${duration(secondsLeft)} left`}`);
  if (machines.length === 0) print('No machine works on it; start one with trueline worker.');
  else
    print(
      table(
        ['machine', 'threads', 'done', 'under way'].map(paint.dim),
        machines.map((machine) => [
          machine.name,
          String(machine.threads),
          number(machine.done),
          machine.jobs.join(' '),
        ]),
      ),
    );
  if (running.length > 0)
    print(
      table(
        ['job', 'game', 'seed', 'steps', 'left', 'machine'].map(paint.dim),
        running.map((job) => [
          job.id,
          job.game,
          String(job.seed),
          `${number(job.steps)} / ${number(job.allSteps)}`,
          Number.isFinite(job.secondsLeft) ? duration(job.secondsLeft) : '',
          job.machine,
        ]),
      ),
    );
  for (const { id, error } of failed) print(`${paint.red('set aside')} ${id}: ${error}`);
}

async function finish(outcome: SweepOutcome, name: string, flags: Flags, file: string): Promise<void> {
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
  const out = flags.out === undefined ? '' : ` --out ${typed(flags.out)}`;
  const same = `trueline sweep ${typed(file)}${out}${await typedRunner(flags)}`;
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
