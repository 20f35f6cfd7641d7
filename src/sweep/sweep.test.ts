import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openRecording } from '../recording/node.ts';
import { compareRuns } from './compare.ts';
import { readCurve } from './curves.ts';
import { readSweep } from './file.ts';
import { InlineRunner } from './inline.ts';
import { canonical, differences, jobId, makeJob } from './job.ts';
import { readRuns } from './node.ts';
import type { Runner } from './runner.ts';
import { runSweep, sweepStatus } from './sweep.ts';
import { readResult, runJob } from './work.ts';

const folders: string[] = [];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trueline-sweep-'));
  folders.push(folder);
});
afterAll(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true });
});

const tiny = {
  game: 'echo',
  gameSettings: { seats: 2, length: 4 },
  steps: 4 * 8 * 2 * 3,
  worlds: 4,
  rollout: 8,
  kernel: 'simd',
  network: { hidden: [8] },
  recording: { record: 'off' },
};

describe('a job', () => {
  it('has an id that its data decide, and nothing else', () => {
    const job = makeJob(tiny, 3);
    expect(jobId(makeJob({ ...tiny, threads: 2, name: 'other', checkpoint: 5, seed: 9 }, 3))).toBe(jobId(job));
    expect(jobId(JSON.parse(canonical(job)))).toBe(jobId(job));
    const others = [
      makeJob(tiny, 4),
      makeJob({ ...tiny, steps: 1000 }, 3),
      { ...job, version: '0.0.0' },
      makeJob(tiny, 3, { fault: { id: 'seat-paid-more', seed: 1 } }),
      makeJob(tiny, 3, { evaluate: [{ episodes: 10, deal: true }] }),
    ];
    expect(new Set([job, ...others].map(jobId)).size).toBe(others.length + 1);
  });

  it('has no id that a queue takes for a number, which one job in 1,850 would have', () => {
    const job = makeJob(tiny, 3);
    const ids = Array.from({ length: 15_000 }, (_, seed) => jobId({ ...job, seed }));
    expect(ids.filter((id) => id.length !== 16 || `${Number.parseInt(id, 10)}` === id)).toEqual([]);
    expect(ids.filter((id) => id.startsWith('j')).length).toBeGreaterThan(0);
  });

  it('is compared with others field by field', () => {
    const found = differences([
      { a: 1, b: { c: [1], d: 2 } },
      { a: 1, b: { c: [2], d: 2 }, e: 3 },
    ]);
    expect(Object.fromEntries(found)).toEqual({ 'b.c': [[1], [2]], e: [undefined, 3] });
  });

  it('of another version is refused in one sentence', async () => {
    await expect(runJob({ ...makeJob(tiny, 1), version: '0.0.0' }, join(folder, 'run'))).rejects.toThrow(
      /made by version 0\.0\.0/,
    );
  });
});

describe('a sweep file', () => {
  it('gives every combination with every seed, over what the game recommends', () => {
    const { jobs } = readSweep({
      base: { game: 'stag-hunt', steps: 1000 },
      vary: { 'ppo.gamma': [0.9, 0.99], sharing: ['separate', 'shared'] },
      seeds: [5, 7],
    });
    expect(jobs.map(({ label }) => label)).toEqual([
      'ppo.gamma=0.9 sharing=separate seed 5',
      'ppo.gamma=0.9 sharing=separate seed 7',
      'ppo.gamma=0.9 sharing=shared seed 5',
      'ppo.gamma=0.9 sharing=shared seed 7',
      'ppo.gamma=0.99 sharing=separate seed 5',
      'ppo.gamma=0.99 sharing=separate seed 7',
      'ppo.gamma=0.99 sharing=shared seed 5',
      'ppo.gamma=0.99 sharing=shared seed 7',
    ]);
    expect(jobs[7].job.settings).toMatchObject({ worlds: 256, sharing: 'shared', ppo: { gamma: 0.99 } });
  });

  it.each([
    [{ base: {} }, /no game is named/],
    [{ base: { game: 'echo', seed: 3 } }, /base\.seed/],
    [{ base: { game: 'echo' }, seeds: 0 }, /seeds/],
    [{ base: { game: 'echo' }, values: {} }, /a sweep has name, base, vary and seeds/],
    [{ base: { game: 'echo' }, vary: { 'ppo.gama': [1] } }, /ppo/],
  ])('says what is wrong with %j', (data, message) => {
    expect(() => readSweep(data)).toThrow(message);
  });
});

const seeds = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ label: `seed ${i + 1}`, job: makeJob(tiny, i + 1) }));

describe('a sweep', () => {
  it('leaves a recording and a result for each job, and repeats none', async () => {
    const first = await runSweep(seeds(2), folder, { runner: new InlineRunner() });
    expect(first.jobs.map(({ status }) => status)).toEqual(['done', 'done']);
    const file = join(first.jobs[0].folder, 'result.json');
    const written = statSync(file).mtimeMs;
    const ran: string[] = [];
    const again = await runSweep(seeds(3), folder, {
      runner: new InlineRunner(),
      onOutcome: (_, label) => ran.push(label),
    });
    expect(again.before).toBe(2);
    expect(ran).toEqual(['seed 3']);
    expect(statSync(file).mtimeMs).toBe(written);
    const curve = await readCurve(await openRecording(first.jobs[0].folder));
    expect(curve.steps[2]).toBe(tiny.steps);
    expect(curve.last.every((value) => value >= 0 && value <= 4)).toBe(true);
  });

  it('goes on after a stop and ends with the same bits', async () => {
    const entry = seeds(1);
    const whole = await runSweep(entry, join(folder, 'whole'), { runner: new InlineRunner() });
    const stop = new AbortController();
    const stopped = await runSweep(entry, join(folder, 'stopped'), {
      runner: new InlineRunner(),
      signal: stop.signal,
      onProgress: ({ running }) => {
        if (running.length > 0) stop.abort();
      },
    });
    expect(stopped.stopped).toBe(true);
    expect((await sweepStatus(join(folder, 'stopped'))).jobs[0].status).toBe('begun');
    const resumed = await runSweep(entry, join(folder, 'stopped'), { runner: new InlineRunner() });
    expect(resumed.jobs[0].status).toBe('done');
    const [a, b] = await Promise.all(
      [whole, resumed].map(async ({ jobs }) => readCurve(await openRecording(jobs[0].folder))),
    );
    expect(b).toEqual(a);
  });

  it('reports a job that fails, does the others, and tries it again', async () => {
    const bad = { label: 'bad', job: makeJob({ ...tiny, gameSettings: { seats: -1 } }, 1) };
    const outcome = await runSweep([bad, ...seeds(1)], folder, { runner: new InlineRunner() });
    expect(outcome.jobs.map(({ status }) => status)).toEqual(['failed', 'done']);
    expect(outcome.jobs[0].error).toMatch(/seats/);
    const { jobs } = await sweepStatus(folder);
    expect(jobs.map(({ status }) => status)).toEqual(['failed', 'done']);
    const again = await runSweep([bad], folder, { runner: new InlineRunner() });
    expect(again.jobs[0].status).toBe('failed');
  });

  it('does a job again that failed for a reason which has gone, such as a full disk', async () => {
    const full: Runner = {
      run: async (jobs) => jobs.map(({ id }) => ({ id, status: 'failed', error: 'there is no room left' })),
    };
    const out = join(folder, 'full');
    await runSweep(seeds(1), out, { runner: full });
    expect((await sweepStatus(out)).jobs[0]).toMatchObject({ status: 'failed', error: 'there is no room left' });
    const again = await runSweep(seeds(1), out, { runner: new InlineRunner() });
    expect(again.jobs[0]).toMatchObject({ status: 'done' });
    expect(existsSync(join(again.jobs[0].folder, 'failure.json'))).toBe(false);
  });

  it('tells the time left from the steps of the whole list', async () => {
    const told: number[] = [];
    // A runner that only tells: half of the first of two jobs is done.
    const runner: Runner = {
      async run(jobs, hooks) {
        const [{ id, job }] = jobs;
        const { steps } = job.settings;
        hooks?.onProgress?.({ id, steps: 0, allSteps: steps, secondsLeft: 1 });
        hooks?.onProgress?.({ id, steps: steps / 2, allSteps: steps, secondsLeft: 1 });
        return [];
      },
    };
    const outcome = await runSweep(seeds(2), folder, {
      runner,
      onProgress: ({ secondsLeft }) => told.push(secondsLeft),
    });
    expect(told.slice(0, 2).every(Number.isNaN)).toBe(true);
    expect(told[2]).toBeGreaterThan(0);
    expect(outcome.stopped).toBe(true);
  });

  it('evaluates the learnt policies by agent and seat where asked', async () => {
    const job = makeJob(tiny, 1, {
      evaluate: [
        { episodes: 64, deal: true },
        { episodes: 64, deal: false },
      ],
    });
    const result = await runJob(job, join(folder, 'run'));
    expect(result).toEqual(await readResult(join(folder, 'run')));
    const [dealt, fixed] = result!.evaluations;
    expect(dealt.count.flat().reduce((a, b) => a + b)).toBe(128);
    expect(dealt.count.flat().every((count) => count > 0)).toBe(true);
    expect(fixed.mean[0][1]).toBeNull();
    expect(JSON.parse(readFileSync(join(folder, 'run', 'result.json'), 'utf8')).id).toBe(jobId(job));
  });
});

describe('a comparison', () => {
  it('groups runs by their settings and ranks a group that learnt longer higher', async () => {
    const job = (steps: number, seed: number) => makeJob({ ...tiny, steps, ppo: { learningRate: 0.03 } }, seed);
    const list = [200, 2400].flatMap((steps) =>
      [1, 2, 3].map((seed) => ({ label: `${steps}`, job: job(steps, seed) })),
    );
    await runSweep(list, folder, { runner: new InlineRunner() });
    const { groups } = compareRuns(await readRuns([folder]));
    expect(groups.map(({ settings }) => settings)).toEqual([{ steps: 200 }, { steps: 2400 }]);
    expect(groups.map(({ games }) => games[0].runs)).toEqual([3, 3]);
    expect(groups[1].improvement?.estimate).toBe(1);
    const { low, estimate, high } = groups[1].games[0].interquartileMean;
    expect(low <= estimate && estimate <= high).toBe(true);
  });
});
