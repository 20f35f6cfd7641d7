import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordRun } from '../../test/support/tiny-runs.ts';
import { diagnose } from '../doctor/diagnose.ts';
import { createEngine } from '../net/engine.ts';
import type { Engine } from '../net/types.ts';
import { memoryStore, Recording } from '../recording/index.ts';
import type { Manifest } from '../recording/manifest.ts';
import { RecordingWriter } from '../recording/writer.ts';
import type { SettingsInput } from '../training/settings.ts';
import { cleanStages } from '../training/stages.ts';
import { applyFault, findFault } from './index.ts';

const settings: SettingsInput = {
  game: 'echo',
  gameSettings: { seats: 3, length: 7, delay: 1 },
  worlds: 8,
  rollout: 21,
  steps: 8 * 21 * 3 * 4,
  guard: 'off',
  recording: { record: 'all' },
  network: { hidden: [16], head: 'fixed' },
  ppo: { epochs: 2, minibatches: 3 },
};

let engine: Engine;
beforeAll(async () => {
  engine = await createEngine({ kernel: 'simd', threads: 1 });
});
afterAll(() => engine.dispose());

function faulty(...ids: string[]): Promise<Recording> {
  return made(ids, 4);
}

function made(ids: readonly string[], iterations: number): Promise<Recording> {
  let all: { stages: typeof cleanStages; settings: SettingsInput } = { stages: cleanStages, settings };
  for (const id of ids) all = applyFault(findFault(id), 3, all.stages, all.settings);
  return recordRun(engine, all.settings, all.stages, iterations);
}

/** Causes, then remarks: a reading that misleads and drives nothing is one. */
const named = async (recording: Recording) => {
  const { causes, remarks } = await diagnose(recording);
  return [...causes, ...remarks].map(({ id }) => id);
};
/** Columns without which a question that decides cannot be asked. */
const deciding = ['samples.reward', 'samples.value', 'samples.terminated', 'samples.advantage'];

/** The same tables under another manifest, without some columns. */
async function copy(recording: Recording, manifest: Manifest, without: readonly string[] = []): Promise<Recording> {
  const store = memoryStore('copy');
  const writer = await RecordingWriter.create(store, manifest);
  for (const table of recording.tables)
    for await (const { rows, columns } of recording.chunks(table)) {
      const kept = new Map([...columns].filter(([name]) => !without.includes(`${table}.${name}`)));
      await writer.appendChunk(table, { rows, columns: kept });
    }
  await writer.close();
  return Recording.open(store);
}

describe('the doctor reads the recording, never the fault switch', () => {
  const ids = [
    'subset-sorted',
    'old-logp-zero',
    'advantage-late',
    'done-late',
    'optimizer-unbound',
    'entropy-bonus-undeclared',
    'head-scaled-away',
    'metric-entropy-in-bits',
  ];
  it.each(ids)('%s: the same diagnosis from a manifest that tells only what the format needs', async (id) => {
    const recording = await faulty(id);
    const { agents, policies, tensors, settings: declared, names } = recording.manifest;
    const scrubbed = {
      format: 'trueline/1' as const,
      agents: agents!.map(({ policy }, i) => ({ name: `a${i}`, policy })),
      policies: policies!.map((_, i) => ({ name: `p${i}` })),
      tensors,
      settings: declared,
      ...(names ? { names } : {}),
    } as Manifest;
    const told = async (of: Recording) => {
      const { causes, remarks } = await diagnose(of);
      return [
        ...causes.map(({ id, confidence, transform, onset, rows }) => ({
          id,
          confidence,
          transform: transform ?? null,
          onset,
          rows,
        })),
        ...remarks,
      ];
    };
    const whole = await told(recording);
    expect(whole[0].id).toBe(findFault(id).cause);
    expect(await told(await copy(recording, scrubbed))).toEqual(whole);
  });
});

describe('two independent faults at once', () => {
  // The one nearer the beginning of the flow is to be fixed first.
  it.each([
    ['subset-sorted', 'advantage-late'],
    ['old-logp-zero', 'metric-entropy-in-bits'],
    ['reward-late', 'optimizer-unbound'],
    ['mask-ignored', 'reward-late'],
    ['advantage-of-next-agent', 'metric-entropy-in-bits'],
    ['temperature-in-update', 'advantage-negated'],
  ])('%s and %s are both named, the first leading', async (first, second) => {
    const ids = await named(await faulty(second, first));
    expect(ids[0]).toBe(findFault(first).cause);
    expect(ids).toContain(findFault(second).cause);
  });
});

describe('a recording without one of its optional columns', () => {
  const required = new Set(
    'iteration episode t agent old_logp epoch minibatch sample new_logp tensor policy return name value'.split(' '),
  );
  const columns = async (recording: Recording) => {
    const found: string[] = [];
    for (const table of ['samples', 'replays', 'steps', 'tensors'])
      for (const name of (await recording.read(table)).columns.keys())
        if (!required.has(name) || (table === 'samples' && (name === 'value' || name === 'return')))
          found.push(`${table}.${name}`);
    return found;
  };

  it('is still healthy where the run is', async () => {
    const recording = await recordRun(engine, settings, cleanStages, 2);
    for (const column of await columns(recording)) {
      const { verdict, causes } = await diagnose(await copy(recording, recording.manifest, [column]));
      expect({ column, verdict, causes: causes.map(({ id }) => id) }).toEqual({
        column,
        verdict: deciding.includes(column) ? 'not-enough-evidence' : 'healthy',
        causes: [],
      });
    }
  });

  it.each(['subset-sorted', 'optimizer-unbound'])('never has a wrong cause named first: %s', async (id) => {
    // As long as the healthy run: every column is left out once, and each time the whole is diagnosed.
    const recording = await made([id], 2);
    const { cause } = findFault(id);
    for (const column of await columns(recording)) {
      const [first] = await named(await copy(recording, recording.manifest, [column]));
      expect([cause, undefined], `without ${column}`).toContain(first);
    }
  });
});

describe('a run of one iteration', () => {
  it.each(['subset-sorted', 'old-logp-zero', 'advantage-late', 'optimizer-unbound', 'metric-entropy-in-bits'])(
    '%s is named',
    async (id) => {
      const made = applyFault(findFault(id), 1, cleanStages, { ...settings, steps: 8 * 21 * 3 });
      const ids = await named(await recordRun(engine, made.settings, made.stages, 1));
      expect(ids[0]).toBe(findFault(id).cause);
    },
  );
});
