/** Every reader of what strangers send, with good input to spoil. A target gets a stream and does one case; a BadInput is an answer, any other error is a crash. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireGame } from '../../src/cli/common/settings.ts';
import { diagnose } from '../../src/doctor/diagnose.ts';
import { onnxRuntime } from '../../src/doctor/onnx.ts';
import type { RandomStream } from '../../src/math/random.ts';
import { BadInput } from '../../src/recording/bad-input.ts';
import { inspect } from '../../src/recording/check/inspect.ts';
import { validate } from '../../src/recording/check/validate.ts';
import type { Chunk } from '../../src/recording/column.ts';
import { ZipBuilder, zipStore } from '../../src/recording/files/zip.ts';
import { maskedCrc32c } from '../../src/recording/importers/formats/crc32c.ts';
import { importLog, logRecording } from '../../src/recording/importers/open.ts';
import { folderStore, openRecording } from '../../src/recording/node.ts';
import { Recording } from '../../src/recording/recording.ts';
import { Budget, bytesSource, memoryStore } from '../../src/recording/source.ts';
import { version } from '../../src/recording/version.ts';
import { type Encoding, encodeChunk, RecordingWriter } from '../../src/recording/writer.ts';
import { readEntry } from '../../src/sweep/redis/entry.ts';
import { decodeCheckpoint, encodeCheckpoint } from '../../src/training/checkpoint.ts';
import { train } from '../../src/training/run.ts';
import { readSettings } from '../../src/training/settings.ts';
import { pick, spoilBytes, spoilChunk, spoilJson, spoilText, writtenOut } from './mutate.ts';
import { outsideTargets } from './outside.ts';

export interface Target {
  name: string;
  /** How often it is chosen. */
  weight: number;
  attack(random: RandomStream): Promise<Verdict>;
}

/** What came of a case beyond its errors: whether something healthy was said over damage. */
export interface Verdict {
  deceived?: boolean;
}

const encodings: readonly Encoding[] = ['npz', 'parquet', 'jsonl', 'jsonl.gz'];

export async function targets(root: string): Promise<Target[]> {
  const folder = join(root, 'examples', 'echo');
  const files = new Map<string, Uint8Array>();
  for (const path of await folderStore(folder).list()) files.set(path, readFileSync(join(folder, path)));
  const good = await openRecording(folder);
  const chunks = new Map<string, Chunk>();
  for (const table of good.tables) chunks.set(table, await good.read(table));
  const encoded = new Map<string, Uint8Array>();
  for (const encoding of encodings)
    for (const [table, chunk] of chunks)
      encoded.set(`${table}.${encoding}`, Buffer.concat(await encodeChunk(chunk, encoding, false)));

  const recordingOf = async (changed: ReadonlyMap<string, Uint8Array | null>) => {
    const store = memoryStore('attacked');
    for (const [path, bytes] of files) {
      const other = changed.get(path);
      if (other !== null) await store.write(path, [other ?? bytes]);
    }
    for (const [path, bytes] of changed) if (bytes && !files.has(path)) await store.write(path, [bytes]);
    return store;
  };
  const judged = async (recording: Recording): Promise<Verdict> => {
    const { valid } = await validate(recording);
    await inspect(recording).catch(asAnswer);
    const diagnosis = await diagnose(recording).catch(asAnswer);
    return { deceived: !valid && diagnosis?.verdict === 'healthy' };
  };
  const asFile = (table: string, encoding: Encoding, bytes: Uint8Array) =>
    new Map<string, Uint8Array | null>([
      [`${table}/000000.npz`, null],
      [`${table}/000000.${encoding}`, bytes],
    ]);

  const manifest: unknown = JSON.parse(Buffer.from(files.get('manifest.json')!).toString());
  const logs = {
    csv: 'step,loss,approx_kl,"a ""b"""\n1,0.5,0.01,2\n2,0.25,NaN,3\n3,,0.02,"x\ny"\n',
    jsonl: '{"step": 1, "loss": 0.5, "kl": NaN}\n{"step": 2, "loss": 0.25, "nested": {"a": 1}}\n',
    json: '{"log_history": [{"step": 1, "loss": 0.5}, {"step": 2, "loss": 0.25}]}',
    log: 'step:1 - loss:0.5 - kl:0.01\nstep:2 - loss:0.25 - kl:0.02\n',
  };
  const events = readFileSync(join(root, 'examples/stuck-log/events.out.tfevents.1700000000.run'));
  const log = async (name: string, bytes: Uint8Array): Promise<Verdict> => {
    const source = bytesSource(name, bytes);
    const imported = await importLog({ name, list: async () => [name], open: async () => source });
    await diagnose(await logRecording(imported));
    return {};
  };
  const checkpoint = encodeCheckpoint({ format: 'x', learners: [{ parameters: new Float32Array(40) }] } as never);
  const entry = {
    job: { format: 'trueline/job/1', settings: { game: 'echo', steps: 1000 }, seed: 1, version },
    shared: true,
  };

  const wandb = readFileSync(join(root, 'src/recording/importers/fixtures/run.wandb'));
  const tracked: Record<string, string> = {
    'mlruns/0/1a2b/meta.yaml': 'run_name: x\nstatus: 3\n',
    'mlruns/0/1a2b/metrics/loss': '1700000000000 0.5 1\n1700000001000 0.25 2\n',
    'mlruns/0/1a2b/metrics/approx_kl': '1700000000000 0.01 1\n1700000001000 0.02 2\n',
    'mlruns/0/1a2b/params/clip': '0.2',
  };
  const pictured = await withPolicies();
  const runtime = await onnxRuntime();

  return [
    ...(await outsideTargets(root)),
    {
      name: 'a log: W&B',
      weight: 10,
      attack: (random) => log('run.wandb', spoilBytes(random, wandb)),
    },
    {
      name: 'a log: MLflow',
      weight: 10,
      attack: async (random) => {
        const store = memoryStore('tracked');
        const spoilt = pick(random, Object.keys(tracked));
        for (const [path, text] of Object.entries(tracked))
          await store.write(path, [Buffer.from(path === spoilt ? spoilText(random, text) : text)]);
        await diagnose(await logRecording(await importLog(store)));
        return {};
      },
    },
    {
      name: 'a policy as ONNX',
      weight: 2,
      attack: async (random) => {
        const store = memoryStore('pictured');
        for (const [path, bytes] of pictured)
          await store.write(path, [path.endsWith('.onnx') ? spoilBytes(random, bytes) : bytes]);
        const recording = await Recording.open(store);
        const diagnosis = await diagnose(recording, { onnx: runtime });
        return { deceived: !(await validate(recording)).valid && diagnosis.verdict === 'healthy' };
      },
    },
    {
      name: 'bytes of a chunk',
      weight: 5,
      attack: async (random) => {
        const [table, encoding] = [pick(random, [...chunks.keys()]), pick(random, encodings)];
        const bytes = spoilBytes(random, encoded.get(`${table}.${encoding}`)!);
        return judged(await Recording.open(await recordingOf(asFile(table, encoding, bytes))));
      },
    },
    {
      name: 'columns of a table',
      weight: 5,
      attack: async (random) => {
        const [table, encoding] = [pick(random, [...chunks.keys()]), pick(random, encodings)];
        let parts: Uint8Array[];
        try {
          parts = await encodeChunk(spoilChunk(random, chunks.get(table)!), encoding, false);
        } catch {
          // Our own writer will not write it; a stranger's bytes are the other target's.
          return {};
        }
        return judged(await Recording.open(await recordingOf(asFile(table, encoding, Buffer.concat(parts)))));
      },
    },
    {
      name: 'headers of arrays',
      weight: 6,
      attack: async (random) => {
        const descr = pick(random, ['<f4', '<i8', '|b1', '|S0', '<U0', '<U5', '>f8', '|O', '<f2', '<U999999999', 'x']);
        const size = () => pick(random, ['0', '1', '768', '2000000000', '99999999999999999999', '']);
        const shape = `(${Array.from({ length: random.below(4) }, size).join(', ')},)`;
        const header = spoilText(
          random,
          `{'descr': '${descr}', 'fortran_order': ${random.below(2) ? 'True' : 'False'}, 'shape': ${shape}, }\n`,
        );
        const bytes = Buffer.from(header);
        const array = Buffer.concat([
          Buffer.from([0x93, 78, 85, 77, 80, 89, 1, 0, bytes.length & 255, (bytes.length >> 8) & 255]),
          bytes,
          Buffer.alloc(random.below(5000)),
        ]);
        const zip = new ZipBuilder();
        const parts = await zip.entry('a.npy', [array], random.below(2) === 0);
        const store = memoryStore('attacked');
        await store.write('manifest.json', [Buffer.from('{"format": "trueline/1"}')]);
        await store.write('mine/0.npz', [...parts, ...zip.end()]);
        await validate(await Recording.open(store));
        return {};
      },
    },
    {
      name: 'a zip',
      weight: 4,
      attack: async (random) => {
        const zip = new ZipBuilder();
        const parts: Uint8Array[] = [];
        for (const path of ['manifest.json', 'steps/000000.npz'])
          parts.push(...(await zip.entry(path, [files.get(path)!], random.below(2) === 0)));
        const bytes = spoilBytes(random, Buffer.concat([...parts, ...zip.end()]));
        await validate(await Recording.open(await zipStore(bytesSource('a.zip', bytes), new Budget())));
        return {};
      },
    },
    {
      name: 'a manifest',
      weight: 5,
      attack: async (random) => {
        const bytes =
          random.below(3) === 0
            ? spoilBytes(random, files.get('manifest.json')!)
            : Buffer.from(writtenOut(spoilJson(random, manifest)));
        return judged(await Recording.open(await recordingOf(new Map([['manifest.json', bytes]]))));
      },
    },
    ...(Object.keys(logs) as (keyof typeof logs)[]).map((kind) => ({
      name: `a log: ${kind}`,
      weight: 10,
      attack: (random: RandomStream) => {
        let text = logs[kind];
        for (let times = 1 + random.below(4); times > 0; times--) text = spoilText(random, text);
        return log(`a.${kind}`, Buffer.from(text));
      },
    })),
    {
      name: 'a log: event file',
      weight: 10,
      attack: async (random) => {
        const bytes = spoilBytes(random, events.subarray(0, 4000));
        // The checksums are made good again, so that what they cover is read.
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
        for (let at = 0; at + 16 <= bytes.length; ) {
          const length = view.getUint32(at, true);
          view.setUint32(at + 8, maskedCrc32c(bytes.subarray(at, at + 8)), true);
          if (view.getUint32(at + 4, true) !== 0 || at + 16 + length > bytes.length) break;
          view.setUint32(at + 12 + length, maskedCrc32c(bytes.subarray(at + 12, at + 12 + length)), true);
          at += 16 + length;
        }
        return log('events.out.tfevents.1.x', bytes);
      },
    },
    {
      name: 'a checkpoint',
      weight: 15,
      attack: async (random) => {
        decodeCheckpoint(spoilBytes(random, checkpoint));
        return {};
      },
    },
    {
      name: 'a queue entry',
      weight: 15,
      attack: async (random) => {
        readEntry(spoilJson(random, entry), '0123456789abcdef');
        return {};
      },
    },
    {
      name: 'settings of a request',
      weight: 15,
      attack: async (random) => {
        const settings = {
          game: 'stag-hunt',
          gameSettings: { width: 4 },
          ppo: { clip: 0.2 },
          players: ['ppo'],
          seed: 1,
        };
        requireGame(readSettings(spoilJson(random, settings) as Record<string, unknown>));
        return {};
      },
    },
  ];
}

function asAnswer(error: unknown): undefined {
  if (!(error instanceof BadInput)) throw error;
  return undefined;
}

/** A small run that keeps its policies. */
async function withPolicies(): Promise<Map<string, Uint8Array>> {
  const store = memoryStore('small');
  const run = await train(
    {
      game: 'echo',
      gameSettings: { seats: 2, length: 4 },
      worlds: 4,
      rollout: 8,
      steps: 128,
      network: { hidden: [4] },
      kernel: 'simd',
      recording: { policies: true },
    },
    { recording: (manifest) => RecordingWriter.create(store, manifest) },
  );
  run.dispose();
  const files = new Map<string, Uint8Array>();
  for (const path of await store.list()) {
    const source = await store.open(path);
    files.set(path, await source.read(0, source.size));
  }
  return files;
}
