/** The programs that are struck: each with a small task of its own, and how a user goes on with it. */
import { cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from '../../src/recording/check/validate.ts';
import { openRecording } from '../../src/recording/node.ts';
import { python } from '../support.ts';
import { ended, must, type Program, trueline } from './programs.ts';
import type { How, Target } from './strikes.ts';
import { workerTarget } from './worker.ts';

const root = process.cwd();
const kills: readonly How[] = ['before', 'after', 'torn', 'power'];
const small = {
  game: 'echo',
  gameSettings: { seats: 2, length: 4 },
  worlds: 4,
  rollout: 8,
  kernel: 'simd',
  network: { hidden: [8] },
  guard: 'off',
};
const iterations = (count: number) => 4 * 8 * 2 * count;

const settings = (folder: string, count: number, checkpoint = 2) => {
  writeFileSync(
    join(folder, 'settings.json'),
    JSON.stringify({ ...small, steps: iterations(count), checkpoint, recording: { policies: true, first: 1 } }),
  );
};
const run = (folder: string) => join(folder, 'run');
const training = (folder: string) => [
  ...['train', '--config', join(folder, 'settings.json'), '--threads', '1', '--evaluate', '0', '--out', run(folder)],
];

/** What a killed run left is resumed where it has a checkpoint; without one it must be empty, and is begun anew in the same folder. */
async function resumeOrBegin(folder: string): Promise<void> {
  const checkpoints = join(run(folder), 'checkpoints');
  const begun = existsSync(checkpoints) && readdirSync(checkpoints).some((name) => /^\d+\.checkpoint$/.test(name));
  if (begun) return must('train', '--resume', run(folder), '--threads', '1', '--evaluate', '0');
  if (existsSync(join(run(folder), 'manifest.json')) && !(await validate(await openRecording(run(folder)))).empty)
    throw new Error('there are rows, and no checkpoint to go on from');
  await must(...training(folder));
}

const log = ['step,approx_kl,clip_fraction,entropy', '1,0.01,0.1,1.2', '2,0.02,0.2,1.1', '3,0.01,0.1,1.0'].join('\n');

/** `made` is what the command makes: whole or not there after a strike, and the same command makes it then. */
async function whole(folder: string, args: string[]): Promise<void> {
  const made = join(folder, 'made');
  if (existsSync(made)) {
    const { problems, empty } = await validate(await openRecording(made));
    if (problems.length > 0 || empty) throw new Error(`what is there is not whole: ${problems[0] ?? 'it is empty'}`);
  } else await must(...args);
}

const converting = (folder: string, to: string) => [
  'convert',
  join(root, 'examples/echo'),
  join(folder, 'made'),
  '--to',
  to,
];
const importing = (folder: string) => ['import', join(folder, 'log.csv'), join(folder, 'made')];
const sweeping = (folder: string) => [
  'sweep',
  join(folder, 'list.json'),
  '--out',
  join(folder, 'runs'),
  '--threads',
  '1',
];

const recording = (folder: string, ...more: string[]): Program => ({
  program: python('numpy'),
  args: [join(root, 'bench/kills/record.py'), join(folder, 'run'), ...more],
});

const queued = { ...small, steps: iterations(5), checkpoint: 2, recording: { first: 1 } };

/** A run that is gone on with from where a copy of it was stopped. */
function resumed(name: string, at: { stopped: number; whole: number; checkpoint: number }): Target {
  const on = ['--steps', String(iterations(at.whole)), '--threads', '1', '--evaluate', '0'];
  const resume = (folder: string) => ['train', '--resume', run(folder), ...on];
  return {
    name,
    hows: [...kills, 'full'],
    prepare: async (folder) => {
      const begun = join(folder, '..', `${name}-begun`);
      if (!existsSync(begun)) {
        settings(folder, at.stopped, at.checkpoint);
        await must(...training(folder));
        cpSync(run(folder), begun, { recursive: true });
      } else cpSync(begun, run(folder), { recursive: true });
      settings(folder, at.whole, at.checkpoint);
    },
    command: (folder) => trueline(...resume(folder)),
    recover: async (folder) => must(...resume(folder)),
  };
}

export const targets: Target[] = [
  {
    name: 'train',
    smallDisk: true,
    hows: [...kills, 'full'],
    prepare: (folder) => settings(folder, 5),
    command: (folder) => trueline(...training(folder)),
    recover: resumeOrBegin,
  },
  // Stopped between two checkpoints, with rows beyond the last, as a kill leaves it.
  { ...resumed('resume', { stopped: 3, whole: 5, checkpoint: 2 }), smallDisk: true },
  // With so many chunks that the first ten of every table become one.
  { ...resumed('merge', { stopped: 9, whole: 12, checkpoint: 1 }), turns: true },
  {
    name: 'sweep',
    turns: true,
    hows: kills,
    prepare: (folder) => {
      const base = { ...small, steps: iterations(12), recording: { record: 'off' } };
      writeFileSync(join(folder, 'list.json'), JSON.stringify({ base, seeds: 2 }));
    },
    command: (folder) => trueline(...sweeping(folder)),
    recover: async (folder) => must(...sweeping(folder)),
  },
  workerTarget('worker', queued, true),
  workerTarget('worker-apart', queued, false),
  {
    name: 'convert',
    smallDisk: true,
    turns: true,
    hows: [...kills, 'full'],
    command: (folder) => trueline(...converting(folder, 'parquet')),
    recover: (folder) => whole(folder, converting(folder, 'parquet')),
  },
  {
    name: 'zip',
    smallDisk: true,
    turns: true,
    hows: [...kills, 'full'],
    command: (folder) => trueline(...converting(folder, 'zip')),
    recover: (folder) => whole(folder, converting(folder, 'zip')),
  },
  {
    name: 'import',
    smallDisk: true,
    turns: true,
    hows: [...kills, 'full'],
    prepare: (folder) => writeFileSync(join(folder, 'log.csv'), log),
    command: (folder) => trueline(...importing(folder)),
    recover: (folder) => whole(folder, importing(folder)),
  },
  {
    name: 'recorder',
    turns: true,
    // On a full disk the recorder says so and training goes on.
    hows: [...kills, 'full'],
    command: (folder) => recording(folder),
    recover: async (folder) => {
      const made = join(folder, 'run');
      if (existsSync(join(made, 'manifest.json'))) {
        const { problems } = await validate(await openRecording(made));
        if (problems.length > 0) throw new Error(`what is there is not whole: ${problems[0]}`);
      }
      await ended({ ...recording(folder, 'again'), env: { STRIKE_TALLY: join(folder, '..', 'recorder.again') } });
    },
  },
];
