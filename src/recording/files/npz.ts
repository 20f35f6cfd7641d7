/** One chunk as an .npz file: one array per column, a ragged column as `c.values` and `c.offsets`. Only the columns asked for are read. */
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import type { Chunk, Column, Offsets } from '../column.ts';
import type { Budget, ByteSource } from '../source.ts';
import { decodeNpy, encodeNpy, encodeNpyInt64, encodeNpyText, type NpyArray } from './npy.ts';
import { readEntry, ZipBuilder, type ZipEntry, zipDirectory } from './zip.ts';

interface Parts {
  plain?: ZipEntry;
  values?: ZipEntry;
  offsets?: ZipEntry;
}

export interface NpzFile {
  readonly columns: string[];
  read(columns: readonly string[]): Promise<Chunk>;
}

export async function openNpz(source: ByteSource, budget: Budget): Promise<NpzFile> {
  const entries = await zipDirectory(source);
  budget.claim(
    source.name,
    entries.reduce((sum, entry) => sum + entry.size, 0),
    source,
  );
  const parts = new Map<string, Parts>();
  const part = (name: string) => {
    const known = parts.get(name) ?? {};
    parts.set(name, known);
    return known;
  };
  for (const entry of entries) {
    const name = entry.path.replace(/\.npy$/, '');
    if (name.endsWith('.values')) part(name.slice(0, -7)).values = entry;
    else if (name.endsWith('.offsets')) part(name.slice(0, -8)).offsets = entry;
    else part(name).plain = entry;
  }
  const array = async (entry: ZipEntry) => {
    const file = `${source.name}/${entry.path}`;
    // Rows cost memory even where they hold no bytes.
    return decodeNpy(await readEntry(source, entry), file, (rows) => budget.claim(`${file}, its rows`, 8 * rows));
  };

  async function column(name: string): Promise<Column> {
    const { plain, values, offsets } = parts.get(name) as Parts;
    const bad = (what: string) => new BadInput(what, { file: source.name, column: name });
    if (plain && (values || offsets))
      throw bad(
        told(
          'is there both as one array and as values with offsets; keep one of them',
          '既有整个数组，又有值加 offsets；请只留其一',
        ),
      );
    if (plain) return flatOrRows(await array(plain), bad);
    if (!values || !offsets)
      throw bad(
        told(
          `has ${values ? 'values without offsets' : 'offsets without values'}; a ragged column needs both`,
          `只有 ${values ? '值而没有 offsets' : 'offsets 而没有值'}；不等长的列两者都要`,
        ),
      );
    const flat = await array(values);
    const bounds = await array(offsets);
    if (flat.kind === 'text' || flat.shape.length !== 1)
      throw bad(told('its values must be one flat array of numbers', '它的值必须是一维数字数组'));
    if (bounds.kind !== 'int' || bounds.shape.length !== 1 || bounds.values instanceof BigInt64Array) {
      throw bad(told('its offsets must be one flat array of whole numbers', '它的 offsets 必须是一维整数数组'));
    }
    const steps =
      bounds.values instanceof Float64Array || bounds.values instanceof Int32Array
        ? bounds.values
        : Int32Array.from(bounds.values as Int8Array);
    return { kind: flat.kind, rows: steps.length - 1, values: flat.values as Float32Array, offsets: steps };
  }

  return {
    columns: [...parts.keys()],
    async read(columns) {
      const found = new Map<string, Column>();
      for (const name of columns) if (parts.has(name)) found.set(name, await column(name));
      return { rows: found.values().next().value?.rows ?? 0, columns: found };
    },
  };
}

function flatOrRows(array: NpyArray, bad: (what: string) => BadInput): Column {
  const [rows, ...rest] = array.shape;
  if (rows === undefined)
    throw bad(told('is a single number; a column needs one entry per row', '是单个数字；列应每行一项'));
  if (array.kind === 'text') {
    if (rest.length > 0)
      throw bad(
        told('is text in more than one dimension; one text per row is expected', '是多维的文本；应每行一个文本'),
      );
    return { kind: 'text', rows, values: array.values as string[] };
  }
  const values = array.values as Float32Array;
  if (rest.length === 0) return { kind: array.kind, rows, values };
  const length = rest.reduce((product, size) => product * size, 1);
  return { kind: array.kind, rows, values, offsets: uniformOffsets(rows, length) };
}

export function uniformOffsets(rows: number, length: number): Offsets {
  const offsets: Offsets = rows * length < 2 ** 31 ? new Int32Array(rows + 1) : new Float64Array(rows + 1);
  for (let i = 1; i <= rows; i++) offsets[i] = i * length;
  return offsets;
}

/** The file's bytes in parts; the columns' own memory is not copied where nothing is compressed. */
export async function encodeNpz(chunk: Chunk, deflate = false): Promise<Uint8Array[]> {
  const zip = new ZipBuilder();
  const out: Uint8Array[] = [];
  for (const [name, column] of chunk.columns) {
    const add = async (suffix: string, parts: Uint8Array[]) => {
      for (const part of await zip.entry(`${name}${suffix}.npy`, parts, deflate)) out.push(part);
    };
    if (column.kind === 'text') await add('', encodeNpyText(column.values));
    else if (column.offsets) {
      await add('.values', encodeNpy(column.values, column.kind === 'bool'));
      await add('.offsets', encodeNpyInt64(column.offsets));
    } else await add('', encodeNpy(column.values, column.kind === 'bool'));
  }
  return [...out, ...zip.end()];
}
