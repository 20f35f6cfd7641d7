/** What a request can make the studio start: words of a request reach the program as values alone. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Jobs } from './jobs.ts';

let base: string;
let jobs: Jobs;
let told: string;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'trueline-jobs-'));
  told = join(base, 'told.json');
  // Stands for trueline, and tells what it was called with and the settings that it was given.
  const program = join(base, 'program.mjs');
  await writeFile(
    program,
    `import { readFileSync, writeFileSync } from 'node:fs';
     const args = process.argv.slice(2);
     const config = args.find((arg) => arg.startsWith('--config='))?.slice(9);
     writeFileSync(${JSON.stringify(told)}, JSON.stringify({ args, settings: config ? JSON.parse(readFileSync(config, 'utf8')) : null }));`,
  );
  jobs = new Jobs(join(base, 'runs'), program);
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
  const config = join(base, 'runs', '.one.settings.json');
  expect(args).toEqual(['train', '--clock', `--config=${config}`, '--fault=advantage-late', `--out=${out}`, '--']);
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
    expect(existsSync(join(base, 'runs', '.three.settings.json'))).toBe(false);
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
