/** A recording opened for reading: its manifest and its tables, chunk by chunk, only the columns asked for. */
import { told } from '../language/language.ts';
import { BadInput } from './bad-input.ts';
import { checkRequired, conform } from './check/conform.ts';
import { withoutCovered } from './chunks/names.ts';
import type { Chunk, Column } from './column.ts';
import { columnSpec, tableSpec, tables } from './columns.ts';
import { concatenate } from './concatenate.ts';
import { readJsonl } from './files/jsonl.ts';
import { openNpz } from './files/npz.ts';
import { readParquet } from './files/parquet-chunk.ts';
import { type Manifest, parseManifest } from './manifest.ts';
import { Budget, type ByteSource, formatBytes, type Store } from './source.ts';

export const chunkFile = /^([^/.][^/]*)\/([^/.][^/]*)\.(npz|parquet|jsonl|jsonl\.gz)$/;

/** Each further rank of a distributed training writes a recording of its own into a folder of this name. */
const rankFolder = /^rank-([1-9]\d{0,5})\//;

/** More would take many times as much memory once it is read. */
const largestManifest = 2 ** 24;

export interface OpenOptions {
  /** Bytes that archives may expand to, all together. */
  maxSize?: number;
}

export interface FileChunk extends Chunk {
  /** The chunk file that the rows come from. */
  file: string;
  /** Every column that the file has, asked for or not. */
  present: string[];
  /** Columns of the file that have no form here, with the reason. */
  unreadable: string[];
}

export class Recording {
  private constructor(
    readonly name: string,
    readonly manifest: Manifest,
    private readonly store: Store,
    private readonly files: ReadonlyMap<string, string[]>,
    /** Snapshots of policies, by path. */
    readonly snapshots: readonly string[],
    private readonly budget: Budget,
    /** What the other ranks recorded, in their order; each is a recording of its own. */
    readonly ranks: readonly Recording[],
  ) {}

  static async open(store: Store, options: OpenOptions = {}): Promise<Recording> {
    const paths = await store.list();
    if (!paths.includes('manifest.json')) {
      throw new BadInput(
        told(
          'is no recording: it has no manifest.json; name the folder (or the zip of it) that holds one',
          '不是记录：没有 manifest.json；请给出含有它的文件夹（或其 zip）',
        ),
        { file: store.name },
      );
    }
    const source = await store.open('manifest.json');
    if (source.size > largestManifest)
      throw new BadInput(
        told(
          `has ${formatBytes(source.size)}; at most ${formatBytes(largestManifest)} are read`,
          `有 ${formatBytes(source.size)}；最多读取 ${formatBytes(largestManifest)}`,
        ),
        {
          file: source.name,
        },
      );
    const manifest = parseManifest(await source.read(0, source.size), source.name);
    const files = new Map<string, string[]>();
    for (const path of withoutCovered(paths)) {
      const match = chunkFile.exec(path);
      if (!match || match[1] === 'policies') continue;
      files.set(match[1], [...(files.get(match[1]) ?? []), path]);
    }
    const snapshots = paths.filter((path) => /^policies\/[^/]+\.onnx$/.test(path));
    const budget = store.budget ?? new Budget(options.maxSize);
    const numbers = new Set(paths.flatMap((path) => rankFolder.exec(path)?.[1] ?? []));
    const ranks: Recording[] = [];
    for (const number of [...numbers].sort((a, b) => Number(a) - Number(b))) {
      const folder = `rank-${number}/`;
      const own = paths.filter((path) => path.startsWith(folder)).map((path) => path.slice(folder.length));
      if (own.some((path) => rankFolder.test(path)))
        throw new BadInput(
          told(
            'holds ranks within a rank; put every rank-<number> folder beside manifest.json',
            '的 rank 里还有 rank；请把每个 rank-<number> 文件夹放在 manifest.json 旁边',
          ),
          {
            file: `${store.name}/${folder}`,
          },
        );
      ranks.push(
        await Recording.open({
          name: `${store.name}/rank-${number}`,
          budget,
          list: async () => own,
          open: (path) => store.open(folder + path),
        }),
      );
    }
    return new Recording(store.name, manifest, store, files, snapshots, budget, ranks);
  }

  /** The same rows under settings that are meant, whatever the manifest says of them. */
  declaring(settings: Readonly<Record<string, unknown>>): Recording {
    const manifest = { ...this.manifest, settings: { ...this.manifest.settings, ...settings } };
    return new Recording(this.name, manifest, this.store, this.files, this.snapshots, this.budget, this.ranks);
  }

  /** Names of the tables there are: first those of the format, in its order, then unknown ones. */
  get tables(): string[] {
    const known = tables.map(({ name }) => name);
    const rank = (name: string) => (known.includes(name) ? known.indexOf(name) : known.length);
    return [...this.files.keys()].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  }

  chunkFiles(table: string): readonly string[] {
    return this.files.get(table) ?? [];
  }

  async snapshot(path: string): Promise<Uint8Array> {
    const source = await this.store.open(path);
    return source.read(0, source.size);
  }

  /** The table's rows in storage order. Without `columns`, all of them; a column that a chunk lacks is missing from that chunk. */
  async *chunks(table: string, columns?: readonly string[]): AsyncGenerator<FileChunk> {
    for (const path of this.chunkFiles(table)) {
      const source = await this.store.open(path);
      for await (const chunk of this.decode(source, table, columns)) {
        const named = this.names(table, chunk, source.name);
        yield {
          ...conform(table, named, source.name),
          file: source.name,
          present: chunk.present,
          unreadable: chunk.unreadable,
        };
      }
    }
  }

  /** The whole table in memory. A column that some chunks lack is unknown in their rows. */
  async read(table: string, columns?: readonly string[]): Promise<Chunk> {
    const chunks: Chunk[] = [];
    for await (const chunk of this.chunks(table, columns)) chunks.push(chunk);
    return concatenate(chunks, (name) => columnSpec(table, name));
  }

  private async *decode(
    source: ByteSource,
    table: string,
    columns?: readonly string[],
  ): AsyncGenerator<Chunk & { present: string[]; unreadable: string[] }> {
    // One key column is always read, so that the number of rows is known even if none of the columns asked for is there.
    const key = tableSpec(table)?.columns.find((column) => column.required)?.name;
    const pick = (present: readonly string[]) => {
      checkRequired(table, present, source.name);
      const asked = columns === undefined ? present : present.filter((name) => columns.includes(name));
      return asked.length > 0 ? asked : present.filter((name) => name === key || key === undefined).slice(0, 1);
    };
    const trim = (chunk: Chunk, present: string[], unreadable: string[] = []) => {
      if (columns !== undefined)
        for (const name of chunk.columns.keys()) if (!columns.includes(name)) chunk.columns.delete(name);
      return { ...chunk, present, unreadable };
    };
    if (source.name.endsWith('.npz')) {
      const file = await openNpz(source, this.budget);
      const asked = pick(file.columns);
      yield trim(await file.read(asked), file.columns);
    } else if (source.name.endsWith('.parquet')) {
      for await (const { chunk, present, unreadable } of readParquet(source, pick, this.budget))
        yield trim(chunk, present, unreadable);
    } else {
      for await (const chunk of readJsonl(
        source,
        table,
        columns === undefined || key === undefined ? columns : [...columns, key],
        this.budget,
      )) {
        yield trim(chunk, [...chunk.columns.keys()]);
      }
    }
  }

  /** Text kept as indices into a list of the manifest becomes text. */
  private names(table: string, chunk: Chunk, file: string): Chunk {
    const columns = new Map<string, Column>();
    for (const [name, column] of chunk.columns) {
      const list = this.manifest.names?.[`${table}.${name}`];
      if (!list || column.kind === 'text' || column.offsets) {
        columns.set(name, column);
        continue;
      }
      const values = Array.from(column.values as Int32Array, (index, row) => {
        if (list[index] !== undefined) return list[index];
        const what = `holds the index ${index}, but manifest.names["${table}.${name}"] has ${list.length} entries`;
        throw new BadInput(what, { file, table, column: name, row });
      });
      columns.set(name, { kind: 'text', rows: column.rows, values });
    }
    return { rows: chunk.rows, columns };
  }
}
