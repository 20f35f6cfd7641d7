import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { diagnose } from '../../doctor/diagnose.ts';
import { applyFault, faults } from '../../faults/index.ts';
import { memoryStore } from '../../recording/index.ts';
import { Recording } from '../../recording/recording.ts';
import { RecordingWriter } from '../../recording/writer.ts';
import { train } from '../../training/run.ts';
import { Diagnosed, expectHealthy, expectTrains } from './testing.ts';

const recordings = resolve(import.meta.dirname, '../../../test/recordings');
const settings = {
  game: 'echo',
  gameSettings: { seats: 2 },
  seed: 1,
  steps: 12_000,
  worlds: 16,
  rollout: 32,
  kernel: 'simd' as const,
  network: { hidden: [16] },
};

describe('a run that has only begun', () => {
  it('is too early to say of, and taken for no log though its figures are there', async () => {
    const store = memoryStore('begun');
    const recording = (manifest: Parameters<typeof RecordingWriter.create>[1]) =>
      RecordingWriter.create(store, manifest);
    (await train({ ...settings, steps: 1000 }, { recording })).dispose();
    const early = await diagnose(await Recording.open(store), { unfinished: true });
    expect([early.verdict, early.so_far, early.scalars]).toEqual(['not-enough-evidence', true, undefined]);
  });
});

describe('guards for tests', () => {
  it('let a healthy run pass, and fail a faulty one with the diagnosis as the message', async () => {
    expect((await expectHealthy(join(recordings, 'healthy/echo-1.zip'))).verdict).toBe('healthy');
    const faulty = join(recordings, 'advantage-time-shifted/advantage-late.zip');
    const error = await expectHealthy(faulty).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Diagnosed);
    expect((error as Diagnosed).message).toMatch(
      /^faulty \(advantage-time-shifted\): [\s\S]*\nproof: residual [\s\S]*\nchange: Align/,
    );
    await expectHealthy(faulty, { ignore: ['advantage-time-shifted'] });
    await expectHealthy(faulty, { failOn: ['unexplained'] });
  });

  it('train for the test itself, with stages of its own', async () => {
    expect((await expectTrains(settings)).verdict).toBe('healthy');
    const late = faults.find(({ id }) => id === 'advantage-late')!;
    const { stages } = applyFault(late, 1, undefined, settings);
    await expect(expectTrains({ ...settings, guard: 'off' }, { stages })).rejects.toThrow(
      /^faulty \(advantage-time-shifted\)/,
    );
  });
});
