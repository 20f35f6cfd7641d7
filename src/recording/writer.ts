/**
 * Writes a recording chunk by chunk. A chunk appears under its name only when it is whole, and the manifest is there from the start, so a killed run leaves
 * a recording that opens. A writer that goes on from a position removes nothing until it has written what takes its place.
 */
import { told } from '../language/language.ts';
import { BadInput } from './bad-input.ts';
import { checkRequired, conform, unknownBool } from './check/conform.ts';
import { mergeChunks, removeCovered } from './chunks/merge.ts';
import { chunkName, chunkNumbers } from './chunks/names.ts';
import type { Chunk, Column, Offsets, Values } from './column.ts';
import { columnSpec, tableSpec, tables } from './columns.ts';
import { concatenate } from './concatenate.ts';
import { codec } from './files/codec.ts';
import { encodeJsonl } from './files/jsonl.ts';
import { encodeNpz } from './files/npz.ts';
import { encodeParquet } from './files/parquet-chunk.ts';
import { type Manifest, manifestBytes, manifestSchema, parseManifest } from './manifest.ts';
import { join, type Store, type WritableStore } from './source.ts';

export type Encoding = 'npz' | 'parquet' | 'jsonl' | 'jsonl.gz';

/** Numbers, texts, or a ragged column; booleans are a Uint8Array. */
export type ColumnData = Values | string[] | { values: Values; offsets: Offsets };

export interface WriterOptions {
  encoding?: Encoding;
  /** Deflate npz (numpy reads both); for Parquet choose zstd instead of snappy. */
  compress?: boolean;
  /** Rows of a chunk file. */
  chunkRows?: number;
  /** Chunks per table to go on from, as `position` gave them; later ones are replaced. */
  resume?: Record<string, number>;
}

export class RecordingWriter {
  private readonly pending = new Map<string, { chunks: Chunk[]; rows: number }>();
  private readonly written = new Map<string, number>();
  /** Chunks beyond the position, by table, in their order: another writer's, which ours will have replaced when it ends. */
  private readonly later = new Map<string, string[]>();

  private constructor(
    private readonly store: WritableStore,
    private manifest: Manifest,
    private readonly encoding: Encoding,
    private readonly compress: boolean,
    private readonly chunkRows: number,
  ) {}

  static async create(store: WritableStore, manifest: Manifest, options: WriterOptions = {}): Promise<RecordingWriter> {
    const writer = new RecordingWriter(
      store,
      manifestSchema.parse(manifest),
      options.encoding ?? 'npz',
      options.compress ?? false,
      options.chunkRows ?? 65536,
    );
    if (options.resume) await writer.goOn(options.resume);
    else await requireEmpty(store);
    await writer.updateManifest({});
    return writer;
  }

  private async goOn(position: Record<string, number>): Promise<void> {
    await removeCovered(this.store);
    const present = new Set(await this.store.list());
    for (const path of present) {
      const chunk = chunkNumbers(path);
      const from = chunk && (position[chunk.table] ?? 0);
      if (chunk && from !== undefined && chunk.first < from && chunk.last >= from)
        throw new BadInput(
          told(
            `holds rows before and after where the run goes on; go on from a newer checkpoint`,
            '同时含有继续点之前和之后的行；请从更新的检查点继续',
          ),
          {
            file: `${this.store.name}/${path}`,
          },
        );
    }
    for (const [table, chunks] of Object.entries(position)) this.written.set(table, chunks);
    for (const table of new Set([...tables.map(({ name }) => name), ...this.written.keys()])) {
      // Only names that a writer gives, one after the other without a gap; whatever else is there is somebody else's.
      const found: string[] = [];
      for (let number = position[table] ?? 0; ; number++) {
        const paths = encodings
          .map((encoding) => chunkPath(table, number, encoding))
          .filter((path) => present.has(path));
        if (paths.length === 0) break;
        found.push(...paths);
      }
      if (found.length > 0) this.later.set(table, found);
    }
  }

  /** Takes rows. They are copied, so the caller may use its arrays again. */
  async append(table: string, data: Record<string, ColumnData>): Promise<void> {
    const columns = new Map(Object.entries(data).map(([name, values]) => [name, column(table, name, values)]));
    await this.appendChunk(table, { rows: columns.values().next().value?.rows ?? 0, columns });
  }

  /** Takes a chunk whose columns are handed over, not copied. */
  async appendChunk(table: string, chunk: Chunk): Promise<void> {
    if (!/^[A-Za-z][\w-]*$/.test(table))
      throw new BadInput(
        told(
          `the table name ${JSON.stringify(table)} is not a plain word`,
          `表名 ${JSON.stringify(table)} 不是普通的单词`,
        ),
      );
    const whole = chunk.rows > 0 ? chunk : withRequired(table, chunk);
    checkRequired(table, [...whole.columns.keys()], this.store.name);
    const conformed = conform(table, whole, this.store.name);
    const waiting = this.pending.get(table) ?? { chunks: [], rows: 0 };
    this.pending.set(table, waiting);
    waiting.chunks.push(conformed);
    waiting.rows += chunk.rows;
    if (waiting.rows >= this.chunkRows) await this.write(table);
  }

  /** Keeps a policy as it was when it sampled an iteration's rows: policies/<policy>-<iteration>.onnx. */
  async snapshot(policy: string, iteration: number, model: Uint8Array): Promise<void> {
    await this.store.write(`policies/${snapshotName(policy, iteration)}`, [model]);
  }

  /** Writes every row taken so far. */
  async flush(): Promise<void> {
    await Promise.all([...this.pending.keys()].map((table) => this.write(table)));
  }

  /** Chunks per table that are written; after a flush, where a resumed writer goes on. */
  position(): Record<string, number> {
    return Object.fromEntries([...this.written].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Puts small chunks together below a position that nobody will go on from any more; reading gives the same rows. */
  async merge(below: Readonly<Record<string, number>>): Promise<void> {
    await mergeChunks(this.store, below, async (chunk, ending) =>
      ending === 'npz' || ending === 'parquet' ? encodeChunk(chunk, ending, this.compress) : null,
    );
  }

  async updateManifest(patch: Partial<Manifest>): Promise<void> {
    this.manifest = { ...this.manifest, ...patch };
    await this.store.write('manifest.json', [manifestBytes(this.manifest)]);
  }

  async close(patch: Partial<Manifest> = {}): Promise<void> {
    await this.flush();
    for (const table of this.later.keys()) await this.removeLater(table, () => true);
    await this.updateManifest(patch);
  }

  /** From the last to the first, so that what is left is at any moment what a killed run would have left. */
  private async removeLater(table: string, wanted: (path: string) => boolean): Promise<void> {
    for (const path of (this.later.get(table) ?? []).filter(wanted).reverse()) await this.store.remove(path);
    this.later.delete(table);
  }

  private async write(table: string): Promise<void> {
    const waiting = this.pending.get(table);
    const number = this.written.get(table) ?? 0;
    // A table without rows is worth a file only if it would not be there otherwise.
    if (!waiting || (waiting.rows === 0 && number > 0)) return;
    const chunk = concatenate(waiting.chunks, (name) => columnSpec(table, name));
    this.pending.delete(table);
    const parts = await encodeChunk(chunk, this.encoding, this.compress);
    const path = chunkPath(table, number, this.encoding);
    if (!(await this.replaces(table, path, parts))) await this.store.write(path, parts);
    this.written.set(table, number + 1);
  }

  /** Whether the same bytes are there already. Where others are, the rows are divided otherwise this time, and the chunks after them would repeat some. */
  private async replaces(table: string, path: string, parts: readonly Uint8Array[]): Promise<boolean> {
    const [next, ...rest] = this.later.get(table) ?? [];
    if (next === undefined) return false;
    if (next === path && (await sameBytes(this.store, path, parts))) {
      if (rest.length > 0) this.later.set(table, rest);
      else this.later.delete(table);
      return true;
    }
    await this.removeLater(table, (later) => later !== path);
    return false;
  }
}

/** The file of a policy. Names of policies come from settings, and some would lead elsewhere. */
export function snapshotName(policy: string, iteration: number): string {
  if (!/^[^./\\\0][^/\\\0]{0,199}$/.test(policy))
    throw new BadInput(
      told(
        `the policy ${JSON.stringify(policy)} cannot be kept in a file of its name; name it otherwise`,
        `策略 ${JSON.stringify(policy)} 不能保存为同名文件；请改名`,
      ),
    );
  return `${policy}-${iteration}.onnx`;
}

const encodings: readonly Encoding[] = ['npz', 'parquet', 'jsonl', 'jsonl.gz'];
const chunkPath = (table: string, number: number, encoding: Encoding) => chunkName(table, number, number, encoding);

async function sameBytes(store: WritableStore, path: string, parts: readonly Uint8Array[]): Promise<boolean> {
  const source = await store.open(path);
  const bytes = join(parts);
  if (source.size !== bytes.length) return false;
  const found = await source.read(0, source.size);
  return found.every((byte, i) => byte === bytes[i]);
}

/** A recording is begun only where nothing can be lost: where there is no file, or the manifest alone of a run that was killed before it recorded anything. */
export async function requireEmpty(store: Store): Promise<void> {
  const present = await store.list();
  const other = present.find((path) => path !== 'manifest.json');
  if (present.length > 0) {
    const source = await store.open('manifest.json').catch(() => null);
    const bytes = source && (await source.read(0, source.size));
    const ours = bytes !== null && isManifest(bytes);
    if (ours && other !== undefined)
      throw new BadInput(
        told('already holds a run; resume it, or give another folder', '已经有一次训练；请继续它，或换一个文件夹'),
        { file: store.name },
      );
    if (!ours)
      throw new BadInput(
        told(
          `is not empty, and what it holds (${present[0]}) is no run; give another folder`,
          `不是空的，而其中的 ${present[0]} 不是训练；请换一个文件夹`,
        ),
        {
          file: store.name,
        },
      );
  }
}

function isManifest(bytes: Uint8Array): boolean {
  try {
    parseManifest(bytes, 'manifest.json');
    return true;
  } catch {
    return false;
  }
}

export async function encodeChunk(chunk: Chunk, encoding: Encoding, compress: boolean): Promise<Uint8Array[]> {
  if (encoding === 'jsonl') return encodeJsonl(chunk);
  if (encoding === 'jsonl.gz') return [await codec().gzip(join(encodeJsonl(chunk)))];
  const known: Chunk = {
    rows: chunk.rows,
    columns: new Map([...chunk.columns].map(([name, item]) => [name, withUnknown(item)])),
  };
  if (encoding === 'parquet') return encodeParquet(known, compress);
  return encodeNpz(known, compress);
}

/** A truth value or a whole number that is not known has no place in arrays of its own kind; as floats, NaN says it. */
function withUnknown(item: Column): Column {
  if (item.kind === 'int' && item.values instanceof Float64Array && item.values.some(Number.isNaN)) {
    return { ...item, kind: 'float' };
  }
  if (item.kind !== 'bool' || !(item.values as Uint8Array).includes(unknownBool)) return item;
  const values = Float32Array.from(item.values as Uint8Array, (value) => (value === unknownBool ? Number.NaN : value));
  return { ...item, kind: 'float', values };
}

/** No rows, but every column that the table must have. */
function withRequired(table: string, chunk: Chunk): Chunk {
  const columns = new Map(chunk.columns);
  for (const { name, kind, required } of tableSpec(table)?.columns ?? []) {
    if (!required || columns.has(name)) continue;
    columns.set(name, kind === 'text' ? { kind, rows: 0, values: [] } : { kind, rows: 0, values: new Float32Array(0) });
  }
  return { rows: 0, columns };
}

function column(table: string, name: string, data: ColumnData): Column {
  if (Array.isArray(data)) return { kind: 'text', rows: data.length, values: data.slice() };
  const ragged = !ArrayBuffer.isView(data);
  const values = (ragged ? data.values : data).slice() as Values;
  const spec = columnSpec(table, name);
  const floats = values instanceof Float32Array || values instanceof Float64Array;
  const kind = spec?.kind === 'bool' && values instanceof Uint8Array ? 'bool' : floats ? 'float' : 'int';
  if (!ragged) return { kind, rows: values.length, values };
  return { kind, rows: data.offsets.length - 1, values, offsets: data.offsets.slice() };
}
