/** The pages of one column chunk: found and checked first, expanded one at a time. A page's checksum covers the bytes as stored, not its header. */

import { Encodings } from 'hyparquet/src/constants.js';
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import { codec } from '../files/codec.ts';
import { decompress } from './codec.ts';
import type { ChunkPlace } from './footer.ts';
import type { Leaf } from './schema.ts';
import { countField, type Fields, readStruct, structField } from './thrift.ts';
import type { ReadOptions } from './types.ts';

export interface PageHeader {
  type: 'dictionary' | 'data' | 'data2';
  /** Entries with levels, nulls and empty lists included. */
  count: number;
  encoding: string;
  start: number;
  end: number;
  expanded: number;
  repetitionBytes: number;
  definitionBytes: number;
  compressed: boolean;
}

/** Where the parts of an expanded page lie. */
export interface Page {
  bytes: Uint8Array;
  repetition: [number, number];
  definition: [number, number];
  values: Uint8Array;
}

export function findPages(bytes: Uint8Array, place: ChunkPlace, leaf: Leaf): PageHeader[] {
  const pages: PageHeader[] = [];
  let at = 0;
  let entries = 0;
  while (entries < place.entries) {
    if (at >= bytes.length) {
      throw new BadInput(
        told(
          `the pages hold ${entries} values where the footer says ${place.entries}, so the file is damaged`,
          `各页共有 ${entries} 个值，而页脚写的是 ${place.entries}，文件已损坏`,
        ),
      );
    }
    const { fields, end } = readStruct(bytes, at);
    const stored = countField(fields, 3, ['the size of a page', '页的大小']);
    if (stored > bytes.length - end) {
      throw new BadInput(
        told(
          `a page claims ${stored} bytes where its column has ${bytes.length - end} left, so the file is damaged`,
          `有一页声称有 ${stored} 字节，而该列只剩 ${bytes.length - end}，文件已损坏`,
        ),
      );
    }
    const page = readHeader(fields, end, stored, leaf);
    const sum = fields.field_4;
    if (typeof sum === 'number' && sum >>> 0 !== codec().crc32(bytes.subarray(end, end + stored))) {
      throw new BadInput(
        told(
          `the checksum of a page does not match its bytes after value ${entries}, so the file is damaged`,
          `第 ${entries} 个值之后那一页的校验和与字节不符，文件已损坏`,
        ),
      );
    }
    at = end + stored;
    if (page === undefined) continue;
    if (page.encoding === 'BYTE_STREAM_SPLIT' && !place.encodings.includes(page.encoding)) {
      throw new BadInput(
        told(
          'a page has an encoding that the footer does not list, so the file is damaged',
          '有一页的编码不在页脚所列之中，文件已损坏',
        ),
      );
    }
    if (page.type === 'dictionary' && pages.length > 0) {
      throw new BadInput(
        told('a dictionary stands after the first page, so the file is damaged', '字典出现在第一页之后，文件已损坏'),
      );
    }
    if (page.type !== 'dictionary') entries += page.count;
    pages.push(page);
  }
  if (entries !== place.entries) {
    throw new BadInput(
      told(
        `the pages hold ${entries} values where the footer says ${place.entries}, so the file is damaged`,
        `各页共有 ${entries} 个值，而页脚写的是 ${place.entries}，文件已损坏`,
      ),
    );
  }
  return pages;
}

/** An index page has no values and is passed over. */
function readHeader(fields: Fields, start: number, stored: number, leaf: Leaf): PageHeader | undefined {
  const type = countField(fields, 1, ['the type of a page', '页的类型']);
  const page = {
    start,
    end: start + stored,
    expanded: countField(fields, 2, ['the expanded size of a page', '页展开后的大小']),
    repetitionBytes: 0,
    definitionBytes: 0,
    compressed: true,
  };
  if (type === 1) return undefined;
  if (type === 2) {
    const header = structField(fields, 7, ['the header of a dictionary', '字典的头部']);
    return {
      ...page,
      type: 'dictionary',
      count: countField(header, 1, ['the size of a dictionary', '字典的大小']),
      encoding: encodingOf(header, 2),
    };
  }
  if (type === 0) {
    const header = structField(fields, 5, ['the header of a page', '页的头部']);
    const levels = [
      leaf.maxDefinition > 0 ? encodingOf(header, 3) : 'RLE',
      leaf.ragged ? encodingOf(header, 4) : 'RLE',
    ];
    if (levels.some((encoding) => encoding !== 'RLE')) {
      throw new BadInput(
        told(
          `levels in the encoding ${levels.join(' and ')} are not read; only RLE is`,
          `不读取编码为 ${levels.join(' 和 ')} 的层级；只读 RLE`,
        ),
      );
    }
    return {
      ...page,
      type: 'data',
      count: countField(header, 1, ['the number of values of a page', '页的值数']),
      encoding: encodingOf(header, 2),
    };
  }
  if (type === 3) {
    const header = structField(fields, 8, ['the header of a page', '页的头部']);
    page.definitionBytes = countField(header, 5, ['the size of definition levels', '定义层级的大小']);
    page.repetitionBytes = countField(header, 6, ['the size of repetition levels', '重复层级的大小']);
    page.compressed = header.field_7 !== false;
    if (page.definitionBytes + page.repetitionBytes > Math.min(stored, page.expanded)) {
      throw new BadInput(
        told(
          'the levels of a page are larger than the page, so the file is damaged',
          '有一页的层级比页还大，文件已损坏',
        ),
      );
    }
    return {
      ...page,
      type: 'data2',
      count: countField(header, 1, ['the number of values of a page', '页的值数']),
      encoding: encodingOf(header, 4),
    };
  }
  throw new BadInput(
    told(`a page has the unknown type ${type}, so the file is damaged`, `有一页的类型 ${type} 未知，文件已损坏`),
  );
}

function encodingOf(header: Fields, id: number): string {
  const value = countField(header, id, ['the encoding of a page', '页的编码']);
  const encoding = Encodings[value];
  if (encoding === undefined)
    throw new BadInput(
      told(
        `a page has the unknown encoding ${value}, so the file is damaged`,
        `有一页的编码 ${value} 未知，文件已损坏`,
      ),
    );
  return encoding;
}

export function expandPage(chunk: Uint8Array, page: PageHeader, codec: string, leaf: Leaf, options: ReadOptions): Page {
  const stored = chunk.subarray(page.start, page.end);
  if (page.type === 'data2') {
    const levels = page.repetitionBytes + page.definitionBytes;
    return {
      bytes: stored,
      repetition: [0, page.repetitionBytes],
      definition: [page.repetitionBytes, levels],
      values: decompress(
        page.compressed ? codec : 'UNCOMPRESSED',
        stored.subarray(levels),
        page.expanded - levels,
        options,
      ),
    };
  }
  const bytes = decompress(codec, stored, page.expanded, options);
  let at = 0;
  const levels = (present: boolean): [number, number] => {
    if (!present) return [at, at];
    const length =
      at + 4 <= bytes.length ? new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0, true) : 2 ** 32;
    if (length > bytes.length - at - 4)
      throw new BadInput(
        told(
          'the levels of a page are larger than the page, so the file is damaged',
          '有一页的层级比页还大，文件已损坏',
        ),
      );
    at += 4 + length;
    return [at - length, at];
  };
  const repetition = levels(page.type === 'data' && leaf.ragged);
  const definition = levels(page.type === 'data' && leaf.maxDefinition > 0);
  return { bytes, repetition, definition, values: bytes.subarray(at) };
}
