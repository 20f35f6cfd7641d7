/** The footer of a Parquet file: where every column chunk lies. Nothing in it is believed before it is checked against the size of the file. */

import type { ColumnMetaData } from 'hyparquet';
import { parquetMetadata } from 'hyparquet/src/metadata.js';
import { type Pair, told } from '../../language/language.ts';
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
  if (size < 12)
    throw new BadInput(
      told(
        `the file has ${size} bytes, too few for a Parquet file; it is empty or cut off`,
        `文件只有 ${size} 字节，不足以是 Parquet 文件；它是空的或被截断`,
      ),
    );
  let tail = await readExactly(source, Math.max(0, size - FIRST_READ), size);
  const magic = String.fromCharCode(...tail.subarray(tail.length - 4));
  if (magic === 'PARE')
    throw new BadInput(
      told('the Parquet file is encrypted; write it without encryption', 'Parquet 文件已加密；请不加密地写'),
    );
  if (magic !== 'PAR1')
    throw new BadInput(
      told(
        'the file does not end with PAR1, so it is cut off or no Parquet file',
        '文件不以 PAR1 结尾，已被截断或不是 Parquet 文件',
      ),
    );
  const length = new DataView(tail.buffer, tail.byteOffset, tail.byteLength).getUint32(tail.length - 8, true);
  if (length > size - 12 || length > MAX_FOOTER) {
    throw new BadInput(
      told(
        `the footer claims ${length} bytes in a file of ${size}, so the file is damaged`,
        `页脚声称在 ${size} 字节的文件里占 ${length} 字节，文件已损坏`,
      ),
    );
  }
  if (length + 8 > tail.length) tail = await readExactly(source, size - length - 8, size);
  const head = size <= tail.length ? tail.subarray(0, 4) : await readExactly(source, 0, 4);
  if (String.fromCharCode(...head) !== 'PAR1') {
    throw new BadInput(
      told(
        'the file does not begin with PAR1, so it is damaged or no Parquet file',
        '文件不以 PAR1 开头，已损坏或不是 Parquet 文件',
      ),
    );
  }
  const footer = tail.slice(tail.length - length - 8);
  return parseFooter(footer, size);
}

export async function readExactly(source: ByteSource, start: number, end: number): Promise<Uint8Array> {
  const bytes = await source.read(start, end);
  if (bytes.length !== end - start) {
    throw new BadInput(
      told(
        `bytes ${start} to ${end} were asked for and ${bytes.length} came, so the file was cut while it was read`,
        `要读字节 ${start} 到 ${end}，只得到 ${bytes.length}，文件在读取时被截断`,
      ),
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
    throw new BadInput(told('the footer cannot be decoded, so the file is damaged', '页脚无法解码，文件已损坏'));
  }
  checkFooterSum(bytes, metadata.key_value_metadata);
  const schema = readSchema(metadata.schema);
  const rows = count(metadata.num_rows, ['the number of rows', '行数']);
  const dataEnd = size - bytes.length;
  const groups = metadata.row_groups.map((group) => {
    const groupRows = count(group.num_rows, ['the number of rows of a row group', '行组的行数']);
    if (group.columns.length !== schema.chunks) {
      throw new BadInput(
        told(
          `a row group has ${group.columns.length} columns and the schema ${schema.chunks}, so the file is damaged`,
          `行组有 ${group.columns.length} 列，而模式有 ${schema.chunks} 列，文件已损坏`,
        ),
      );
    }
    return {
      rows: groupRows,
      place: (leaf: Leaf): ChunkPlace => {
        const chunk = group.columns[leaf.index];
        if (!chunk?.meta_data || chunk.file_path) {
          throw new BadInput(
            told(
              'the data lie in another file or are encrypted; write the table as one plain file',
              '数据在另一个文件里或已加密；请把表写成一个普通文件',
            ),
          );
        }
        return chunkPlace(chunk.meta_data, leaf, dataEnd);
      },
    };
  });
  const sum = groups.reduce((total, group) => total + group.rows, 0);
  if (sum !== rows)
    throw new BadInput(
      told(
        `the row groups have ${sum} rows and the footer says ${rows}, so the file is damaged`,
        `各行组共有 ${sum} 行，而页脚写的是 ${rows}，文件已损坏`,
      ),
    );
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
    throw new BadInput(
      told(
        `the footer's checksum is ${found} where ${stated} is stored, so the file is damaged`,
        `页脚的校验和是 ${found}，而存储的是 ${stated}，文件已损坏`,
      ),
    );
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
  throw new BadInput(
    told("the footer's checksum has no place, so the file is damaged", '页脚的校验和无处可存，文件已损坏'),
  );
}

function count(value: unknown, what: Pair): number {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number' || !(number >= 0 && number <= Number.MAX_SAFE_INTEGER)) {
    throw new BadInput(
      told(`${what[0]} is ${String(value)}, so the file is damaged`, `${what[1]}是 ${String(value)}，文件已损坏`),
    );
  }
  return number;
}

function chunkPlace(meta: ColumnMetaData, leaf: Leaf, dataEnd: number): ChunkPlace {
  const path = leaf.path.join('.');
  const named = meta.path_in_schema.join('.');
  if (named !== path)
    throw new BadInput(
      told(
        `a column chunk names ${named} where the schema has ${path}, so the file is damaged`,
        `列块写的是 ${named}，而模式里是 ${path}，文件已损坏`,
      ),
    );
  const type = leaf.physical === 'FLOAT16' ? 'FIXED_LEN_BYTE_ARRAY' : leaf.physical;
  if (meta.type !== type) {
    throw new BadInput(
      told(
        `a column chunk is of type ${meta.type} where the schema has ${type}, so the file is damaged`,
        `列块的类型是 ${meta.type}，而模式里是 ${type}，文件已损坏`,
      ),
    );
  }
  const data = count(meta.data_page_offset, ['the place of the first data page', '首个数据页的位置']);
  const dictionary =
    meta.dictionary_page_offset === undefined
      ? 0
      : count(meta.dictionary_page_offset, ['the place of the dictionary', '字典的位置']);
  const start = dictionary > 0 && dictionary < data ? dictionary : data;
  const end = start + count(meta.total_compressed_size, ['the size of a column chunk', '列块的大小']);
  const entries = count(meta.num_values, ['the number of values', '值的个数']);
  if (entries > 0 && (start < 4 || end > dataEnd)) {
    throw new BadInput(
      told(
        `a column chunk spans bytes ${start} to ${end}, outside of the data, which end at ${dataEnd}; the file is cut off or damaged`,
        `列块占字节 ${start} 到 ${end}，在止于 ${dataEnd} 的数据之外；文件被截断或已损坏`,
      ),
    );
  }
  return { start, end, entries, codec: String(meta.codec), encodings: (meta.encodings ?? []).map(String) };
}
