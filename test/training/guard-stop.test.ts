import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diagnose } from '../../src/doctor/diagnose.ts';
import { applyFault, findFault } from '../../src/faults/index.ts';
import { createEngine } from '../../src/net/engine.ts';
import type { Engine } from '../../src/net/types.ts';
import { Recording } from '../../src/recording/recording.ts';
import { memoryStore } from '../../src/recording/source.ts';
import { RecordingWriter } from '../../src/recording/writer.ts';
import { GuardStop } from '../../src/training/guard/guard.ts';
import { train } from '../../src/training/run.ts';
import { cleanStages } from '../../src/training/stages.ts';
import { echo } from '../support/tiny-runs.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await createEngine({ kernel: 'reference' });
});
afterAll(() => engine.dispose());

describe('what a strict guard stopped', () => {
  it.each([
    ['subset-sorted', 'subset-not-replayed'],
    ['mask-ignored', 'mask-not-replayed'],
    ['old-logp-zero', 'old-logp-wrong'],
  ])('is recorded, so that the doctor names it: %s', async (id, cause) => {
    const { settings, stages } = applyFault(findFault(id), 1, cleanStages, echo);
    const store = memoryStore('stopped');
    const stopped = await train(
      { ...settings, guard: 'strict' },
      { engine, stages, recording: (manifest) => RecordingWriter.create(store, manifest) },
    ).catch((error: unknown) => error);
    expect(stopped).toBeInstanceOf(GuardStop);
    const { verdict, causes } = await diagnose(await Recording.open(store));
    expect([verdict, causes[0]?.id]).toEqual(['faulty', cause]);
  });
});
