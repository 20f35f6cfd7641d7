/** What a whole run must keep: the same bits on one thread and on two, killed and resumed or not, in flat memory, with a recording that validates. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine } from '../../src/net/engine.ts';
import { validate } from '../../src/recording/check/validate.ts';
import { Recording } from '../../src/recording/index.ts';
import { folderStore } from '../../src/recording/node.ts';
import { timeFile } from '../../src/recording/run-files.ts';
import { resumeFrom, trainInto } from '../../src/training/node.ts';
import type { TrainResult } from '../../src/training/run.ts';
import type { SettingsInput } from '../../src/training/settings.ts';
import { Trainer } from '../../src/training/trainer.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trueline-training-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const settings: SettingsInput = {
  game: 'echo',
  gameSettings: { seats: 3 },
  worlds: 16,
  rollout: 32,
  steps: 16 * 32 * 3 * 12,
  network: { hidden: [32, 32] },
  checkpoint: 4,
};

const parameters = ({ trainer }: TrainResult) =>
  trainer.learners.map(({ policy }) => policy.parameters.map((_, i) => Array.from(policy.read(i))));

/** Every file of a recording by name, as bytes in base 64. */
async function tables(run: string): Promise<Record<string, string>> {
  const store = folderStore(run);
  const files: Record<string, string> = {};
  for (const path of await store.list()) {
    if (path.startsWith('checkpoints')) continue;
    const source = await store.open(path);
    files[path] = Buffer.from(await source.read(0, source.size)).toString('base64');
  }
  return files;
}

describe('a run', () => {
  it.each(['simd', 'relaxed'] as const)('is the same bit for bit on one thread and on two (%s)', async (kernel) => {
    const results: unknown[] = [];
    for (const threads of [1, 2] as const) {
      const engine = await createEngine({ kernel, threads });
      expect(engine.threads).toBe(threads);
      const trainer = new Trainer({ ...settings, worlds: 64 }, { engine });
      const reports = [];
      for (let i = 0; i < 3; i++) reports.push(await trainer.iterate());
      const bits = trainer.learners.map(({ policy }) => policy.parameters.map((_, k) => Array.from(policy.read(k))));
      results.push({ reports, bits });
      engine.dispose();
    }
    expect(results[1]).toEqual(results[0]);
  });

  it('that was killed goes on from its checkpoint to the same policies and the same recording, bit for bit', async () => {
    const whole = await trainInto(join(folder, 'whole'), settings);
    const killed = new Error('killed');
    const dying = trainInto(join(folder, 'killed'), settings, {
      onIteration: ({ iteration }) => {
        // Two iterations after a checkpoint, so that there is work to lose.
        if (iteration === 9) throw killed;
      },
    });
    await expect(dying).rejects.toBe(killed);
    const resumed = await resumeFrom(join(folder, 'killed'));
    expect(parameters(resumed)).toEqual(parameters(whole));
    expect(resumed.last?.readings).toEqual(whole.last?.readings);
    expect(await tables(join(folder, 'killed'))).toEqual(await tables(join(folder, 'whole')));
    whole.dispose();
    resumed.dispose();
  });

  it('that is stopped finishes the iteration, saves, and goes on to the same end', async () => {
    const whole = await trainInto(join(folder, 'whole-2'), settings);
    const stop = new AbortController();
    const stopped = await trainInto(join(folder, 'stopped'), settings, {
      signal: stop.signal,
      onIteration: ({ iteration }) => iteration === 4 && stop.abort(),
    });
    expect(stopped.stopped).toBe(true);
    expect(stopped.trainer.iteration).toBe(5);
    stopped.dispose();
    const resumed = await resumeFrom(join(folder, 'stopped'), { threads: 1 });
    expect(parameters(resumed)).toEqual(parameters(whole));
    expect(resumed.stopped).toBe(false);
    whole.dispose();
    resumed.dispose();
  });

  it('that is resumed keeps its checkpoints until the next one is there, and two from then on', async () => {
    const own = join(folder, 'kept');
    const names = () => readdir(join(own, 'checkpoints'));
    const stop = new AbortController();
    const first = await trainInto(own, settings, {
      signal: stop.signal,
      onIteration: ({ iteration }) => iteration === 8 && stop.abort(),
    });
    first.dispose();
    const before = await names();
    expect(before).toEqual(['00000008.checkpoint', '00000009.checkpoint']);
    const seen: string[][] = [];
    const resumed = await resumeFrom(
      own,
      { steps: 16 * 32 * 3 * 13 },
      { onStart: async () => seen.push(await names()), onCheckpoint: async () => void seen.push(await names()) },
    );
    resumed.dispose();
    expect(seen[0]).toEqual(before);
    expect(seen.every(({ length }) => length === 2)).toBe(true);
  });

  it('whose newest checkpoint has one wrong bit goes on from the one before, and says so', async () => {
    const own = join(folder, 'flipped');
    await cp(join(folder, 'whole'), own, { recursive: true });
    const [older, newest] = (await readdir(join(own, 'checkpoints'))).sort();
    const file = join(own, 'checkpoints', newest);
    const whole = await readFile(file);
    const bytes = Buffer.from(whole);
    bytes[bytes.length >> 1] ^= 16;
    await writeFile(file, bytes);
    const notices: string[] = [];
    const resumed = await resumeFrom(own, {}, { onNotice: (sentence) => notices.push(sentence) });
    resumed.dispose();
    expect(notices[0]).toContain(`${newest}: the checkpoint is cut off or damaged`);
    expect(notices[0]).toContain(older);
    expect(await readFile(file)).toEqual(whole);
    expect(await tables(own)).toEqual(await tables(join(folder, 'whole')));
    for (const name of [older, newest]) await writeFile(join(own, 'checkpoints', name), bytes);
    await expect(resumeFrom(own)).rejects.toThrow(/damaged.*no other is whole/);
  });

  it('keeps a second one out of its folder, and leaves no lock', async () => {
    const own = join(folder, 'claimed');
    let second: Promise<unknown> | undefined;
    const first = await trainInto(own, settings, {
      onIteration: ({ iteration }) => {
        if (iteration === 1) second = resumeFrom(own).catch((error: Error) => error.message);
      },
    });
    first.dispose();
    expect(await second).toMatch(/process \d+ on .* is writing there/);
    expect(await tables(own)).toEqual(await tables(join(folder, 'whole')));
    expect((await readdir(own)).filter((name) => name.startsWith('.'))).toEqual([timeFile]);
  });

  it('refuses a folder that holds anything but an empty run, and touches nothing in it', async () => {
    const photographs = join(folder, 'photographs');
    await mkdir(join(photographs, 'sub'), { recursive: true });
    for (const name of ['20240101.jpg', '20240102.npz']) await writeFile(join(photographs, 'sub', name), name);
    await expect(trainInto(photographs, settings)).rejects.toThrow(/is not empty/);
    await expect(trainInto(join(folder, 'whole'), settings)).rejects.toThrow(/already holds a run/);
    expect(await readdir(photographs, { recursive: true })).toHaveLength(3);
    await cp(join(folder, 'whole', 'manifest.json'), join(folder, 'empty', 'manifest.json'));
    await expect(resumeFrom(join(folder, 'empty'))).rejects.toThrow(/holds no checkpoint/);
  });

  it('leaves a recording that validates, with nothing in it that the format does not know', async () => {
    const found = await validate(await Recording.open(folderStore(join(folder, 'whole'))));
    expect(found.problems).toEqual([]);
    expect(found.unknown).toEqual([]);
    expect(Object.keys(found.rows).sort()).toEqual([
      'counters',
      'episodes',
      'replays',
      'samples',
      'scalars',
      'steps',
      'tensors',
    ]);
    const store = folderStore(join(folder, 'whole'));
    expect((await store.list()).some((path) => path.includes('.tmp'))).toBe(false);
  });
});
