/** The doctor runs the policies of real recordings again, in onnxruntime-web. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { echo, pointerEcho, stagHunt } from '../../test/support/tiny-runs.ts';
import { diagnose } from '../doctor/diagnose.ts';
import { onnxRuntime } from '../doctor/onnx.ts';
import type { OpenPolicy } from '../doctor/policy-replay.ts';
import { createEngine } from '../net/engine.ts';
import type { Engine } from '../net/types.ts';
import { memoryStore, Recording, RecordingWriter, type WritableStore } from '../recording/index.ts';
import type { SettingsInput } from '../training/settings.ts';
import { cleanStages, type Stages } from '../training/stages.ts';
import { Trainer } from '../training/trainer.ts';
import { applyFault, findFault } from './index.ts';

let engine: Engine;
let onnx: OpenPolicy;
beforeAll(async () => {
  engine = await createEngine({ kernel: 'simd', threads: 1 });
  onnx = (await onnxRuntime())!;
});
afterAll(() => engine.dispose());

/** `without` are columns of samples that are left out of the recording. */
async function record(
  input: SettingsInput,
  without: string[] = [],
  stages: Stages = cleanStages,
): Promise<WritableStore> {
  const trainer = new Trainer({ ...input, recording: { record: 'all', policies: true } }, { engine, stages });
  const store = memoryStore('run');
  const writer = await RecordingWriter.create(store, trainer.manifest());
  trainer.record({
    append: (table, columns) =>
      writer.append(
        table,
        table === 'samples'
          ? Object.fromEntries(Object.entries(columns).filter(([name]) => !without.includes(name)))
          : columns,
      ),
    flush: () => writer.flush(),
    position: () => writer.position(),
    close: () => writer.close(),
    snapshot: (policy, iteration, model) => writer.snapshot(policy, iteration, model),
  });
  for (let i = 0; i < 4; i++) await trainer.iterate();
  await writer.close();
  return store;
}

async function bytes(store: WritableStore, path: string): Promise<Uint8Array> {
  const source = await store.open(path);
  return source.read(0, source.size);
}

const read = async (store: WritableStore, options: { onnx?: OpenPolicy | null } = { onnx }) =>
  diagnose(await Recording.open(store), options);
const check = (diagnosis: Awaited<ReturnType<typeof diagnose>>, id: string) =>
  diagnosis.checks.find((item) => item.id === id)!;

describe('policies that are run again', () => {
  it.each([
    ['fixed head', echo],
    ['pointer head', pointerEcho],
    ['a game with masks and agents that leave', stagHunt],
  ])('give the stored log-probabilities of a healthy run: %s', async (_, settings) => {
    const diagnosis = await read(await record(settings));
    expect(diagnosis.causes).toEqual([]);
    const { status, measured } = check(diagnosis, 'policy-replay');
    expect(status).toBe('pass');
    expect(measured.rows as number).toBeGreaterThan(400);
    expect(measured.disagreeing).toBe(0);
  });

  it('take the place of logits that were not recorded, and the cause is proved as with them', async () => {
    for (const fault of ['mask-ignored', 'temperature-in-update', 'subset-reversed'].map(findFault)) {
      const { stages, settings } = applyFault(fault, 1, cleanStages, echo);
      const store = await record(settings, ['logits'], stages);
      const withPolicies = await read(store);
      expect(withPolicies.causes[0]).toMatchObject({ id: fault.cause });
      expect(check(withPolicies, 'policy-replay').status).toBe('pass');
    }
  });

  it('show that rows were sampled from the policy of an earlier iteration', async () => {
    const store = await record(echo);
    const shifted = await shiftedSnapshots(store);
    const diagnosis = await read(shifted);
    expect(diagnosis.causes[0]).toMatchObject({ id: 'stale-samples', transform: { id: 'snapshot', before: 1 } });
  });

  it("show that an agent's rows were sampled from another agent's policy", async () => {
    const store = await record(echo);
    const models = await Promise.all([1, 2].map((player) => bytes(store, `policies/player_${player}-0.onnx`)));
    await store.write('policies/player_1-0.onnx', [models[1]]);
    await store.write('policies/player_2-0.onnx', [models[0]]);
    const diagnosis = await read(store);
    const cause = diagnosis.causes.find(({ id }) => id === 'trained-on-other-agent')!;
    expect([...cause.agents].sort()).toEqual(['player_1', 'player_2']);
  });

  it('that belong to no iteration are a warning, never a cause, and never healthy', async () => {
    const store = await record(echo);
    const late = await bytes(store, 'policies/player_1-3.onnx');
    await store.write('policies/player_1-0.onnx', [late]);
    const diagnosis = await read(store);
    expect(diagnosis).toMatchObject({ verdict: 'unexplained', causes: [] });
    expect(check(diagnosis, 'policy-replay')).toMatchObject({
      status: 'warn',
      note: expect.stringMatching(/do they belong to the iterations/),
    });
  });

  it('that are damaged, or of another shape, are told in a sentence', async () => {
    const store = await record(echo);
    const pointer = await record(pointerEcho, ['candidate_features']);
    await store.write('policies/player_1-0.onnx', [Uint8Array.of(1, 2, 3)]);
    expect(check(await read(store), 'policy-replay').note).toMatch(/player_1-0.onnx is no model that can be run/);
    expect(check(await read(pointer), 'policy-replay').note).toMatch(/samples.candidate_features is needed/);
  });

  it('are not run without onnxruntime-web, and the report says what to install', async () => {
    const diagnosis = await read(await record(echo), { onnx: null });
    expect(check(diagnosis, 'policy-replay')).toMatchObject({
      status: 'not-checked',
      note: expect.stringMatching(/npm install onnxruntime-web/),
    });
    expect(diagnosis.verdict).toBe('healthy');
  });
});

/** Every snapshot under the number of the iteration before its own, as if rows had been sampled with weights one update old. */
async function shiftedSnapshots(store: WritableStore): Promise<WritableStore> {
  for (const name of ['player_1', 'player_2', 'player_3'])
    for (const iteration of [1, 2, 3])
      await store.write(`policies/${name}-${iteration - 1}.onnx`, [
        await bytes(store, `policies/${name}-${iteration}.onnx`),
      ]);
  return store;
}
