import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { echo, pointerEcho, recordRun, stagHunt } from '../../test/support/tiny-runs.ts';
import { diagnose } from '../doctor/diagnose.ts';
import { RandomStream } from '../math/random.ts';
import { createEngine } from '../net/engine.ts';
import type { Engine } from '../net/types.ts';
import { BadInput } from '../recording/bad-input.ts';
import type { Chunk, Column } from '../recording/column.ts';
import { columnSpec } from '../recording/columns.ts';
import { memoryStore, Recording } from '../recording/index.ts';
import type { WritableStore } from '../recording/source.ts';
import { RecordingWriter } from '../recording/writer.ts';
import type { SettingsInput } from '../training/settings.ts';
import { cleanStages } from '../training/stages.ts';
import { wrapGame } from './games.ts';

const small: SettingsInput = { ...echo, ppo: { epochs: 2, minibatches: 3, learningRate: 1e-3 } };
const games: readonly SettingsInput[] = [
  small,
  { ...small, sharing: 'shared', algorithm: 'mappo' },
  { ...pointerEcho, ppo: { epochs: 1, minibatches: 1 } },
  { ...stagHunt, ppo: { ...small.ppo, advantageNormalisation: 'minibatch' } },
  { ...stagHunt, game: 'snowdrift', ppo: { ...small.ppo, advantageNormalisation: 'none' } },
  { ...small, game: 'cartpole', gameSettings: { seats: 2, horizon: 10 }, steps: 4 * 4 * 12 * 2 },
];

let engine: Engine;
const runs: Recording[] = [];
beforeAll(async () => {
  engine = await createEngine({ kernel: 'simd', threads: 1 });
  for (const settings of games) runs.push(await recordRun(engine, settings, cleanStages, 3));
});
afterAll(() => engine.dispose());

const anyRun = fc.nat(games.length - 1);
const examples = { numRuns: 16 };

type Change = (column: Column, table: string, name: string) => Column | null;

/** The same recording with every column changed, or left out, and of each table only so many rows. */
async function changed(recording: Recording, change: Change, rows = Number.POSITIVE_INFINITY): Promise<WritableStore> {
  const store = memoryStore('changed');
  const writer = await RecordingWriter.create(store, recording.manifest);
  for (const table of recording.tables) {
    const whole = await recording.read(table);
    const kept = Math.min(rows, whole.rows);
    const columns: Chunk['columns'] = new Map();
    for (const [name, column] of whole.columns) {
      const other = change(first(column, kept), table, name);
      if (other) columns.set(name, other);
    }
    if (kept > 0 || rows === 0) await writer.appendChunk(table, { rows: kept, columns });
  }
  await writer.close();
  return store;
}

function first(column: Column, rows: number): Column {
  if (column.kind === 'text') return { ...column, rows, values: column.values.slice(0, rows) };
  if (!column.offsets) return { ...column, rows, values: column.values.slice(0, rows) } as Column;
  const offsets = column.offsets.slice(0, rows + 1);
  return { ...column, rows, offsets, values: column.values.slice(0, offsets[rows]) } as Column;
}

const same: Change = (column) => column;
const floats =
  (change: (value: number, index: number) => number): Change =>
  (column) =>
    column.kind === 'float' ? { ...column, values: Float64Array.from(column.values as Float64Array, change) } : column;

const ids = async (store: WritableStore) => (await diagnose(await Recording.open(store))).causes.map(({ id }) => id);

describe('a healthy recording', () => {
  it('that declares no normalisation keeps the scale of its rewards, which is a remark', async () => {
    const settings = { ...small, ppo: { ...small.ppo, advantageNormalisation: 'none', advantageClamp: null } } as const;
    const paid = (reward: number) => 200 * reward;
    const recording = await recordRun(engine, settings, {
      ...cleanStages,
      game: (game) => wrapGame(cleanStages.game(game), { reward: paid }),
    });
    const { verdict, causes, remarks } = await diagnose(recording);
    expect([verdict, causes, remarks.map(({ id }) => id)]).toEqual(['healthy', [], ['advantages-keep-their-scale']]);
  });

  it('of any game stays without a cause, whichever optional columns are missing', async () => {
    await fc.assert(
      fc.asyncProperty(anyRun, fc.nat(), fc.constantFrom(0.1, 0.3, 0.6), async (run, seed, share) => {
        const stream = RandomStream.of(seed, 'missing columns');
        const missing: string[] = [];
        const store = await changed(runs[run], (column, table, name) => {
          const needed = columnSpec(table, name)?.required || name === 'policy';
          if (needed || stream.uniform() >= share) return column;
          missing.push(`${table}.${name}`);
          return null;
        });
        expect({ run, missing, causes: await ids(store) }).toEqual({ run, missing, causes: [] });
      }),
      { numRuns: 48 },
    );
  });

  it('stays without a cause when it is cut off after any row', async () => {
    await fc.assert(
      fc.asyncProperty(anyRun, fc.integer({ min: 0, max: 200 }), async (run, rows) => {
        expect({ run, rows, causes: await ids(await changed(runs[run], same, rows)) }).toEqual({
          run,
          rows,
          causes: [],
        });
      }),
      examples,
    );
  });

  it('stays without a cause where figures of steps are told now and then only', async () => {
    await fc.assert(
      fc.asyncProperty(anyRun, fc.integer({ min: 2, max: 5 }), fc.nat(4), async (run, every, phase) => {
        const store = await changed(runs[run], (column, table, name) =>
          table === 'steps' && !columnSpec(table, name)?.required
            ? floats((value, row) => (row % every === phase % every ? value : Number.NaN))(column, table, name)
            : column,
        );
        const found = (await diagnose(await Recording.open(store))).causes.map(
          ({ id, summary }) => `${id}: ${summary}`,
        );
        expect({ run, every, phase, found }).toEqual({ run, every, phase, found: [] });
      }),
      examples,
    );
  });
});

describe('numbers that are none', () => {
  it('are called so where everything is NaN, and nothing else is', async () => {
    for (const recording of runs)
      for (const cause of await ids(
        await changed(
          recording,
          floats(() => Number.NaN),
        ),
      ))
        expect(cause).toBe('non-finite');
  });

  it('are called so, or are not judged, where everything is absurdly large', async () => {
    await fc.assert(
      fc.asyncProperty(anyRun, fc.nat(), fc.constantFrom(1e15, 1e30, 1e300), async (run, seed, size) => {
        const stream = RandomStream.of(seed, 'absurd');
        const absurd = floats((value) => (Number.isNaN(value) ? value : size * (2 * stream.uniform() - 1)));
        // Observations of such a size do saturate what reads them, so they are left as they are.
        const store = await changed(runs[run], (column, table, name) =>
          name === 'obs' || name === 'embed_std' ? column : absurd(column, table, name),
        );
        for (const cause of await ids(store)) expect({ run, size, cause }).toEqual({ run, size, cause: 'non-finite' });
      }),
      examples,
    );
  });
});

describe('a damaged recording', () => {
  it('is refused in a sentence, or judged by what is left', async () => {
    const stores = await Promise.all(runs.map((recording) => changed(recording, same)));
    await fc.assert(
      fc.asyncProperty(anyRun, fc.nat(), fc.constantFrom('cut', 'flip', 'lose'), async (run, seed, how) => {
        const stream = RandomStream.of(seed, 'damage');
        const store = memoryStore('damaged');
        const paths = await stores[run].list();
        const struck = paths[stream.below(paths.length)];
        for (const path of paths) {
          const source = await stores[run].open(path);
          let bytes = Uint8Array.from(await source.read(0, source.size));
          if (path === struck && how === 'lose') continue;
          if (path === struck && how === 'cut') bytes = bytes.slice(0, stream.below(bytes.length));
          if (path === struck && how === 'flip') bytes[stream.below(bytes.length)] ^= 1 << stream.below(8);
          await store.write(path, [bytes]);
        }
        try {
          expect({ run, struck, how, causes: await ids(store) }).toEqual({ run, struck, how, causes: [] });
        } catch (error) {
          if (!(error instanceof BadInput)) throw error;
          expect(error.message.split('\n')).toHaveLength(1);
        }
      }),
      { numRuns: 40 },
    );
  });
});
