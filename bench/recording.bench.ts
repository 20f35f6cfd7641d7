/** Reading and writing recordings beside numpy (npz) and DuckDB (Parquet, one thread), and the memory that 10 million rows take. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Chunk, Column } from '../src/recording/column.ts';
import { createRecording, openRecording, writeWhole } from '../src/recording/node.ts';
import { encodeChunk } from '../src/recording/writer.ts';
import { type Figure, figure, interleaved, output, peakMemory, python, timed } from './support.ts';

export const needs = ['python3-numpy'];

const width = 8;
const flat = ['iteration', 'episode', 't', 'agent', 'old_logp', 'reward', 'value', 'advantage'];
const lists = ['subset', 'legal', 'logits'];

/** Rows like those of a run: keys that repeat, measurements that do not. */
export function sampleRows(rows: number, first = 0): Map<string, Column> {
  const ints = (make: (i: number) => number): Column => ({
    kind: 'int',
    rows,
    values: Int32Array.from({ length: rows }, (_, i) => make(first + i)),
  });
  let state = 12345 + first;
  const noise = () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state / 2 ** 31;
  };
  const floats = (): Column => ({ kind: 'float', rows, values: Float32Array.from({ length: rows }, noise) });
  const offsets = Int32Array.from({ length: rows + 1 }, (_, i) => i * width);
  const list = (kind: 'int' | 'float' | 'bool', values: Int32Array | Float32Array | Uint8Array): Column => ({
    kind,
    rows,
    values,
    offsets,
  });
  const many = rows * width;
  return new Map<string, Column>([
    ['iteration', ints((i) => Math.floor(i / 32768))],
    ['episode', ints((i) => Math.floor(i / 140))],
    ['t', ints((i) => Math.floor(i / 4) % 35)],
    ['agent', ints((i) => i % 4)],
    ['old_logp', floats()],
    ['reward', floats()],
    ['value', floats()],
    ['advantage', floats()],
    [
      'subset',
      list(
        'int',
        Int32Array.from({ length: many }, () => Math.floor((noise() + 1) * 50)),
      ),
    ],
    [
      'legal',
      list(
        'bool',
        Uint8Array.from({ length: many }, () => (noise() > -0.6 ? 1 : 0)),
      ),
    ],
    ['logits', list('float', Float32Array.from({ length: many }, noise))],
  ]);
}

const only = (columns: Map<string, Column>, names: readonly string[]) =>
  new Map(names.map((name) => [name, columns.get(name) as Column]));

export async function bench(
  say: (line: string) => void,
  rows = 1_000_000,
  million = 10,
  rounds = 7,
): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'trueline-bench-'));
  try {
    return [
      ...(await npz(say, folder, rows, rounds)),
      ...(await parquet(say, folder, rows, rounds)),
      ...memory(say, folder, million),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function npz(say: (line: string) => void, folder: string, rows: number, rounds: number): Promise<Figure[]> {
  say(`npz: ${rows} rows beside numpy ...`);
  const py = python('numpy');
  const chunk: Chunk = { rows, columns: sampleRows(rows) };
  const run = join(folder, 'npz');
  const figures: Figure[] = [];
  for (const compress of [false, true]) {
    const file = join(run, 'samples', '000000.npz');
    await writeWhole(join(run, 'manifest.json'), [new TextEncoder().encode('{"format":"trueline/1"}')]);
    const write = () => timed(async () => writeWhole(file, await encodeChunk(chunk, 'npz', compress)));
    await write();
    const theirs = join(folder, 'theirs.npz');
    const script = (what: string) =>
      Number(
        output(py, [
          '-c',
          `import numpy as np, time\nf = np.load('${file}')\narrays = {k: f[k] for k in f.files}\n${what}`,
        ]),
      );
    const save = compress ? 'np.savez_compressed' : 'np.savez';
    const numpyWrite = () =>
      script(`b = time.perf_counter(); ${save}('${theirs}', **arrays); print(time.perf_counter() - b)`);
    const numpyRead = () =>
      script(
        `b = time.perf_counter(); f = np.load('${theirs}'); arrays = {k: f[k] for k in f.files}; print(time.perf_counter() - b)`,
      );
    // The file that numpy wrote is read by both.
    numpyWrite();
    const read = async () => {
      await writeWhole(file, [(await import('node:fs')).readFileSync(theirs)]);
      return timed(async () => (await openRecording(run)).read('samples'));
    };
    const [ourWrite, theirWrite, ourRead, theirRead] = await interleaved(compress ? Math.min(3, rounds) : rounds, [
      write,
      numpyWrite,
      read,
      numpyRead,
    ]);
    const kind = compress ? 'deflated' : 'stored';
    figures.push(
      figure(
        `npz ${kind}: reading, times numpy's time`,
        ourRead / theirRead,
        'x',
        { most: 2 },
        `${(ourRead * 1000).toFixed(0)} ms`,
      ),
      figure(
        `npz ${kind}: writing, times numpy's time`,
        ourWrite / theirWrite,
        'x',
        { most: 2 },
        `${(ourWrite * 1000).toFixed(0)} ms`,
      ),
    );
  }
  return figures;
}

async function parquet(say: (line: string) => void, folder: string, rows: number, rounds: number): Promise<Figure[]> {
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
  const figures: Figure[] = [];
  const all = sampleRows(rows);
  for (const [kind, names, most] of [
    ['flat', flat, 3],
    ['LIST', lists, 6],
  ] as const) {
    say(`Parquet, ${kind} columns: ${rows} rows beside DuckDB on one thread ...`);
    const run = join(folder, `parquet-${kind}`);
    // A table of its own name has no required columns, so that flat and LIST columns can be timed apart.
    mkdirSync(join(run, 'part'), { recursive: true });
    writeFileSync(join(run, 'manifest.json'), '{"format":"trueline/1"}');
    const chunk: Chunk = { rows, columns: only(all, names) };
    const ours = join(run, 'part', '000000.parquet');
    const theirs = join(folder, 'theirs.parquet');
    const write = () => timed(async () => writeWhole(ours, await encodeChunk(chunk, 'parquet', false)));
    await write();
    await connection.run(`CREATE OR REPLACE TABLE rows AS SELECT * FROM '${ours}'`);
    const duckWrite = () =>
      timed(() => connection.run(`COPY rows TO '${theirs}' (FORMAT parquet, COMPRESSION snappy)`));
    const duckRead = (file: string) => () =>
      timed(() => connection.run(`CREATE OR REPLACE TABLE again AS SELECT * FROM '${file}'`));
    const read = () => timed(async () => (await openRecording(run)).read('part'));
    const [ourWrite, theirWrite, ourRead, theirRead] = await interleaved(rounds, [
      write,
      duckWrite,
      read,
      duckRead(ours),
    ]);
    figures.push(
      figure(
        `Parquet ${kind}: writing, times DuckDB's time`,
        ourWrite / theirWrite,
        'x',
        { most },
        `${(ourWrite * 1000).toFixed(0)} ms`,
      ),
      figure(
        `Parquet ${kind}: reading our file, times DuckDB's time`,
        ourRead / theirRead,
        'x',
        { most },
        `${(ourRead * 1000).toFixed(0)} ms`,
      ),
    );
    await duckWrite();
    await writeWhole(ours, [(await import('node:fs')).readFileSync(theirs)]);
    const [ourRead2, theirRead2] = await interleaved(rounds, [read, duckRead(theirs)]);
    figures.push(
      figure(
        `Parquet ${kind}: reading DuckDB's file, times DuckDB's time`,
        ourRead2 / theirRead2,
        'x',
        { most },
        `${(ourRead2 * 1000).toFixed(0)} ms`,
      ),
    );
  }
  return figures;
}

function memory(say: (line: string) => void, folder: string, million: number): Figure[] {
  const figures: Figure[] = [];
  for (const encoding of ['npz', 'parquet']) {
    say(`memory: writing and reading ${million} million rows as ${encoding} ...`);
    const path = join(folder, `long-${encoding}`);
    const self = new URL(import.meta.url).pathname;
    const child = (work: string) =>
      JSON.parse(
        output(process.execPath, [
          '--input-type=module',
          '-e',
          `const m = await import(${JSON.stringify(self)}); console.log(JSON.stringify(await m.${work}));`,
        ]),
      );
    child(`writeLong(${JSON.stringify(path)}, ${million * 1e6}, '${encoding}')`);
    const { peak, rows, seconds } = child(`readLong(${JSON.stringify(path)})`);
    if (rows !== million * 1e6) throw new Error(`${rows} rows were read where ${million} million were written`);
    figures.push(
      figure(
        `${encoding}: peak memory while reading ${million} million rows`,
        peak / 2 ** 20,
        'MiB',
        { most: 1024 },
        `${seconds.toFixed(1)} s`,
      ),
    );
    rmSync(path, { recursive: true });
  }
  return figures;
}

/** Run in processes of their own, so that their memory is theirs. */
export async function writeLong(path: string, rows: number, encoding: 'npz' | 'parquet'): Promise<{ peak: number }> {
  const writer = await createRecording(path, { format: 'trueline/1' }, { encoding });
  const step = 100_000;
  const columns = sampleRows(step);
  for (let at = 0; at < rows; at += step) await writer.appendChunk('samples', { rows: step, columns });
  await writer.close();
  return { peak: peakMemory() };
}

export async function readLong(path: string): Promise<{ peak: number; rows: number; seconds: number }> {
  let rows = 0;
  const seconds = await timed(async () => {
    for await (const chunk of (await openRecording(path)).chunks('samples', [...flat, ...lists])) rows += chunk.rows;
  });
  return { peak: peakMemory(), rows, seconds };
}
