/** What a request can make the studio start: words of a request reach the program as values alone. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Jobs } from './jobs.ts';

let base: string;
let jobs: Jobs;
let told: string;
let program: string;
const runs = () => join(base, 'runs');

beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'trueline-jobs-')));
  told = join(base, 'told.json');
  // Stands for trueline: tells what it was called with and the settings that it was given, and runs until it is stopped where a game of many steps is asked for.
  program = join(base, 'program.mjs');
  await writeFile(
    program,
    `import { readFileSync, writeFileSync } from 'node:fs';
     const args = process.argv.slice(2);
     const config = args.find((arg) => arg.startsWith('--config='))?.slice(9);
     const settings = config ? JSON.parse(readFileSync(config, 'utf8')) : null;
     if (settings?.seed === 666) throw new Error('no luck');
     if (settings?.steps > 1e6) {
       const timer = setInterval(() => undefined, 1000);
       process.on('SIGINT', () => {
         clearInterval(timer);
         console.log('{"stopped": true}');
       });
     } else console.log('{"stopped": false}');
     writeFileSync(${JSON.stringify(told)}, JSON.stringify({ args, settings }));`,
  );
  jobs = await Jobs.open(runs(), program);
});
afterAll(() => rm(base, { recursive: true, force: true }));

async function started(work: Promise<unknown>): Promise<{ args: string[]; settings: unknown }> {
  const ended = new Promise<void>((resolve) => {
    const stop = jobs.subscribe(() => {
      if (jobs.list().some(({ state }) => state === 'running')) return;
      stop();
      resolve();
    });
  });
  expect(await work).toMatchObject({ state: 'running' });
  await ended;
  return JSON.parse(await readFile(told, 'utf8')) as { args: string[]; settings: unknown };
}

it('a training gets its game and settings in a file, and no word that could be an option', async () => {
  const { args, settings } = await started(
    jobs.train({ name: 'one', settings: { game: 'stag-hunt', steps: 5000 }, fault: 'advantage-late' }),
  );
  const out = join(base, 'runs', 'one');
  const config = join(base, 'runs', '.studio', 'one.settings.json');
  expect(args).toEqual([
    'train',
    '--json',
    '--clock',
    `--config=${config}`,
    '--fault=advantage-late',
    `--out=${out}`,
    '--',
  ]);
  expect(settings).toEqual({ game: 'stag-hunt', steps: 5000 });
});

it("an investigation's game comes after the options end", async () => {
  const { args } = await started(jobs.investigate({ name: 'two', game: 'echo', seeds: 4, quick: true }));
  const out = join(base, 'runs', 'two');
  expect(args).toEqual(['symmetry', '--json', '--seeds=4', '--quick', `--out=${out}`, '--', 'echo']);
});

it.each(['--schema=FILE', '--resume=FILE', '-h', '--describe', '../echo', 'echo/constructor', '__proto__', 'echo\n'])(
  'the game %s is refused, and nothing starts or is written',
  async (name) => {
    const file = join(base, 'victim.txt');
    await writeFile(file, 'mine');
    const game = name.replace('FILE', file);
    const refused = { error: expect.stringMatching(/There is no game|has no preset/i) };
    expect(await jobs.train({ name: 'three', settings: { game } })).toMatchObject(refused);
    expect(await jobs.investigate({ name: 'three', game })).toMatchObject(refused);
    expect(await readFile(file, 'utf8')).toBe('mine');
    expect(existsSync(join(base, 'runs', 'three'))).toBe(false);
    expect(existsSync(join(base, 'runs', '.studio', 'three.settings.json'))).toBe(false);
  },
);

it('settings of the game and keys that are no settings are refused by name', async () => {
  const train = (settings: unknown) => jobs.train({ name: 'four', settings });
  expect(await train({ game: 'echo', gameSettings: { seats: -1 } })).toMatchObject({
    error: expect.stringMatching(/seats/),
  });
  expect(await train(JSON.parse('{"__proto__": {"steps": 5}}'))).toMatchObject({
    error: expect.stringMatching(/__proto__/),
  });
  expect(await train(JSON.parse('{"game": "echo", "ppo": {"__proto__": {}}}'))).toMatchObject({
    error: expect.stringMatching(/__proto__/),
  });
  expect(await jobs.train({ name: 'four', settings: {}, fault: 'x'.repeat(1e6) })).toMatchObject({
    error: expect.any(String),
  });
});

describe('what the studio started goes on without it', () => {
  const long = (name: string) => jobs.train({ name, settings: { game: 'echo', steps: 2_000_000 } });
  /** A studio that is started later; the first one looks no more. */
  const later = async () => {
    jobs.close();
    jobs = await Jobs.open(runs(), program);
    return jobs;
  };
  const becomes = (id: string, state: string) =>
    vi.waitFor(() => expect(jobs.list()).toContainEqual(expect.objectContaining({ id, state })), { timeout: 20_000 });
  const begun = (name: string) =>
    vi.waitFor(async () => expect(await readFile(told, 'utf8')).toContain(`${name}.settings.json`), {
      timeout: 20_000,
    });

  it('the next studio lists what still runs, stops it, and then forgets it', async () => {
    await long('long');
    await begun('long');
    await later();
    expect(jobs.list()).toEqual([{ id: 'long', kind: 'training', state: 'running' }]);
    expect(await jobs.stop('long')).toBe(true);
    expect(await jobs.stop('long')).toBe(false);
    expect((await later()).list()).toEqual([]);
    expect(await readdir(join(runs(), '.studio'))).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/^long/)]),
    );
  });

  it('a third is refused while two of an earlier studio run', async () => {
    for (const name of ['first', 'second']) {
      await long(name);
      await begun(name);
    }
    await later();
    expect(await long('third')).toEqual({ error: expect.stringMatching(/Two are running already/) });
    for (const name of ['first', 'second']) expect(await jobs.stop(name)).toBe(true);
  });

  it('what ended while no studio was there is told by the next one: done, stopped by others, failed, killed', async () => {
    const process_ = async (name: string) =>
      (JSON.parse(await readFile(join(runs(), '.studio', `${name}.job.json`), 'utf8')) as { process: number }).process;
    await later();
    await jobs.train({ name: 'well', settings: { game: 'echo', steps: 5000 } });
    await jobs.train({ name: 'badly', settings: { game: 'echo', seed: 666 } });
    await becomes('well', 'done');
    await becomes('badly', 'failed');
    expect(jobs.list().find(({ id }) => id === 'badly')?.message).not.toBe('');
    await long('killed');
    await begun('killed');
    await long('ended');
    await begun('ended');
    jobs.close();
    process.kill(await process_('killed'), 'SIGKILL');
    process.kill(await process_('ended'), 'SIGINT');
    await later();
    await becomes('killed', 'failed');
    await becomes('ended', 'stopped');
    expect(jobs.list().find(({ id }) => id === 'killed')?.message).toMatch(/train --resume/);
  });

  it('a record that names another process stops nothing', async () => {
    const record = { format: 'trueline/studio-job/1', process: process.pid };
    await mkdir(join(runs(), '.studio'), { recursive: true });
    const file = join(runs(), '.studio', 'forged.job.json');
    await writeFile(file, JSON.stringify({ ...record, job: { id: 'forged', kind: 'training', state: 'running' } }));
    await writeFile(join(runs(), '.studio', 'other.job.json'), 'nonsense');
    await later();
    expect(await jobs.stop('forged')).toBe(false);
    expect(jobs.list()).toContainEqual(expect.objectContaining({ id: 'forged', state: 'failed' }));
  });
});
