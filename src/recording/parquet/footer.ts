/** The footer of a Parquet file: where every column chunk lies. Nothing in it is believed before it is checked against the size of the file. */

import type { ColumnMetaData } from 'hyparquet';
import { parquetMetadata } from 'hyparquet/src/metadata.js';
import { BadInput } from '../bad-input.ts';
import { codec } from '../files/codec.ts';
import { type Leaf, readSchema, type Schema } from './schema.ts';
import { checkStruct } from './thrift.ts';
import type { ByteSource } from './types.ts';

export interface ChunkPlace {
  start: number;
  end: number;
  entries: number;
  codec: string;
  encodings: readonly string[];
}

export interface Footer {
  rows: number;
  schema: Schema;
  groups: { rows: number; place(leaf: Leaf): ChunkPlace }[];
}

/** Our writer keeps a checksum of the footer in the footer, over the bytes as they are with these digits. */
export const FOOTER_CHECKSUM = 'trueline.footer.crc32';
export const NO_CHECKSUM = '00000000';

const MAX_FOOTER = 256 * 2 ** 20;
const FIRST_READ = 65536;

export async function readFooter(source: ByteSource): Promise<Footer> {
  const { size } = source;
  if (size < 12) throw new BadInput(`the file has ${size} bytes, too few for a Parquet file; it is empty or cut off`);
  let tail = await readExactly(source, Math.max(0, size - FIRST_READ), size);
  const magic = String.fromCharCode(...tail.subarray(tail.length - 4));
  if (magic === 'PARE') throw new BadInput('the Parquet file is encrypted; write it without encryption');
  if (magic !== 'PAR1') throw new BadInput('the file does not end with PAR1, so it is cut off or no Parquet file');
  const length = new DataView(tail.buffer, tail.byteOffset, tail.byteLength).getUint32(tail.length - 8, true);
  if (length > size - 12 || length > MAX_FOOTER) {
    throw new BadInput(`the footer claims ${length} bytes in a file of ${size}, so the file is damaged`);
  }
  if (length + 8 > tail.length) tail = await readExactly(source, size - length - 8, size);
  const head = size <= tail.length ? tail.subarray(0, 4) : await readExactly(source, 0, 4);
  if (String.fromCharCode(...head) !== 'PAR1') {
    throw new BadInput('the file does not begin with PAR1, so it is damaged or no Parquet file');
  }
  const footer = tail.slice(tail.length - length - 8);
  return parseFooter(footer, size);
}

export async function readExactly(source: ByteSource, start: number, end: number): Promise<Uint8Array> {
  const bytes = await source.read(start, end);
  if (bytes.length !== end - start) {
    throw new BadInput(
      `bytes ${start} to ${end} were asked for and ${bytes.length} came, so the file was cut while it was read`,
    );
  }
  return bytes;
}

/** The bytes from the metadata to the end of the file. */
function parseFooter(bytes: Uint8Array, size: number): Footer {
  checkStruct(bytes.subarray(0, bytes.length - 8), 0);
  let metadata: ReturnType<typeof parquetMetadata>;
  try {
    metadata = parquetMetadata(bytes, { geoparquet: false });
  } catch {
    throw new BadInput('the footer cannot be decoded, so the file is damaged');
  }
  checkFooterSum(bytes, metadata.key_value_metadata);
  const schema = readSchema(metadata.schema);
  const rows = count(metadata.num_rows, 'the number of rows');
  const dataEnd = size - bytes.length;
  const groups = metadata.row_groups.map((group) => {
    const groupRows = count(group.num_rows, 'the number of rows of a row group');
    if (group.columns.length !== schema.chunks) {
      throw new BadInput(
        `a row group has ${group.columns.length} columns and the schema ${schema.chunks}, so the file is damaged`,
      );
    }
    return {
      rows: groupRows,
      place: (leaf: Leaf): ChunkPlace => {
        const chunk = group.columns[leaf.index];
        if (!chunk?.meta_data || chunk.file_path) {
          throw new BadInput('the data lie in another file or are encrypted; write the table as one plain file');
        }
        return chunkPlace(chunk.meta_data, leaf, dataEnd);
      },
    };
  });
  const sum = groups.reduce((total, group) => total + group.rows, 0);
  if (sum !== rows)
    throw new BadInput(`the row groups have ${sum} rows and the footer says ${rows}, so the file is damaged`);
  return { rows, schema, groups };
}

function checkFooterSum(bytes: Uint8Array, pairs: readonly { key: string; value?: string }[] | undefined): void {
  const stated = pairs?.find((pair) => pair.key === FOOTER_CHECKSUM)?.value;
  if (stated === undefined) return;
  const at = checksumPlace(bytes);
  const copy = bytes.slice(0, bytes.length - 8);
  copy.set(new TextEncoder().encode(NO_CHECKSUM), at);
  const found = codec().crc32(copy).toString(16).padStart(8, '0');
  if (found !== stated) {
    throw new BadInput(`the footer's checksum is ${found} where ${stated} is stored, so the file is damaged`);
  }
}

/** Where the eight digits of the checksum lie: after the key, one byte of field type and one of length. */
export function checksumPlace(footer: Uint8Array): number {
  const key = new TextEncoder().encode(FOOTER_CHECKSUM);
  for (let at = footer.length - key.length - 2 - NO_CHECKSUM.length; at >= 0; at--) {
    let same = 0;
    while (same < key.length && footer[at + same] === key[same]) same++;
    if (same === key.length) return at + key.length + 2;
  }
  throw new BadInput("the footer's checksum has no place, so the file is damaged");
}

function count(value: unknown, what: string): number {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number' || !(number >= 0 && number <= Number.MAX_SAFE_INTEGER)) {
    throw new BadInput(`${what} is ${String(value)}, so the file is damaged`);
  }
  return number;
}

function chunkPlace(meta: ColumnMetaData, leaf: Leaf, dataEnd: number): ChunkPlace {
  const path = leaf.path.join('.');
  const named = meta.path_in_schema.join('.');
  if (named !== path)
    throw new BadInput(`a column chunk names ${named} where the schema has ${path}, so the file is damaged`);
  const type = leaf.physical === 'FLOAT16' ? 'FIXED_LEN_BYTE_ARRAY' : leaf.physical;
  if (meta.type !== type) {
    throw new BadInput(`a column chunk is of type ${meta.type} where the schema has ${type}, so the file is damaged`);
  }
  const data = count(meta.data_page_offset, 'the place of the first data page');
  const dictionary =
    meta.dictionary_page_offset === undefined ? 0 : count(meta.dictionary_page_offset, 'the place of the dictionary');
  const start = dictionary > 0 && dictionary < data ? dictionary : data;
  const end = start + count(meta.total_compressed_size, 'the size of a column chunk');
  const entries = count(meta.num_values, 'the number of values');
  if (entries > 0 && (start < 4 || end > dataEnd)) {
    throw new BadInput(
      `a column chunk spans bytes ${start} to ${end}, outside of the data, which end at ${dataEnd}; the file is cut off or damaged`,
    );
  }
  return { start, end, entries, codec: String(meta.codec), encodings: (meta.encodings ?? []).map(String) };
}
