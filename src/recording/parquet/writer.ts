/** Writes one table as a Parquet file in memory. Every page and the footer carry a checksum; a column that does not shrink is stored uncompressed. */

import type { ColumnChunk, ColumnMetaData, Encoding, FileMetaData, SchemaElement } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import { serializeTCompactProtocol } from 'hyparquet-writer/src/thrift.js';
import type { Offsets } from '../column.ts';
import { codec } from '../files/codec.ts';
import { bitsFor, checkColumn, packIndices, packLevels, type Stored, storedAs } from './encode.ts';
import { checksumPlace, FOOTER_CHECKSUM, NO_CHECKSUM } from './footer.ts';
import type { Compress, NamedColumn, WriteOptions } from './types.ts';

const ROW_GROUP_ROWS = 131072;
const ROW_GROUP_BYTES = 64 * 2 ** 20;
const PAGE_BYTES = 2 ** 20;
const SAMPLE_BYTES = 65536;
/** A column is compressed if a sample of it comes out below this share. */
const WORTHWHILE = 0.95;

const PLAIN = 0;
const RLE = 3;
const RLE_DICTIONARY = 8;

type Codec = 'UNCOMPRESSED' | 'SNAPPY' | 'ZSTD';

interface Plan {
  name: string;
  path: string[];
  rows: number;
  stored: Stored;
  offsets: Offsets | undefined;
}

export function writeParquet(columns: readonly NamedColumn[], options: WriteOptions): Uint8Array {
  const parts = parquetParts(columns, options);
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** The file in pieces, to be written one after another; some are views of the columns, so these must not change until then. */
export function parquetParts(columns: readonly NamedColumn[], options: WriteOptions): Uint8Array[] {
  const file = new FileParts();
  const compressor = compressorFor(options);
  const rows = columns[0]?.column.rows ?? 0;
  const plans = columns.map(({ name, column }): Plan => {
    checkColumn(name, column, rows);
    const offsets = column.kind === 'text' ? undefined : column.offsets;
    return { name, path: offsets ? [name, 'list', 'element'] : [name], rows, stored: storedAs(column), offsets };
  });
  file.add(new TextEncoder().encode('PAR1'));
  const step = groupRows(plans, rows, options.rowGroupRows ?? ROW_GROUP_ROWS);
  const groups: FileMetaData['row_groups'] = [];
  for (let from = 0; from < rows; from += step) {
    const to = Math.min(rows, from + step);
    const start = file.length;
    const chunks = plans.map((plan) => writeChunk(file, plan, from, to, compressor));
    const expanded = chunks.reduce((sum, { meta_data }) => sum + (meta_data?.total_uncompressed_size ?? 0n), 0n);
    groups.push({
      columns: chunks,
      total_byte_size: expanded,
      num_rows: BigInt(to - from),
      file_offset: BigInt(start),
      total_compressed_size: BigInt(file.length - start),
    });
  }
  file.add(
    footerBytes({
      version: 1,
      schema: schemaOf(plans),
      num_rows: BigInt(rows),
      row_groups: groups,
      metadata_length: 0,
    }),
  );
  return file.parts;
}

class FileParts {
  readonly parts: Uint8Array[] = [];
  length = 0;

  add(part: Uint8Array): void {
    this.parts.push(part);
    this.length += part.length;
  }
}

interface Compressor {
  codec: Codec;
  compress: Compress;
}

function compressorFor({ codec, compress }: WriteOptions): Compressor {
  if (codec === 'snappy') return { codec: 'SNAPPY', compress: snappyCompress };
  if (codec === 'uncompressed') return { codec: 'UNCOMPRESSED', compress: (bytes) => bytes };
  if (!compress?.zstd)
    throw new RangeError('zstd was asked for and no zstd compressor is at hand; use snappy, or Node 22.15 or later');
  return { codec: 'ZSTD', compress: compress.zstd };
}

/** Rows of a row group, fewer where rows are wide: a reader holds one group in memory. */
function groupRows(plans: readonly Plan[], rows: number, most: number): number {
  if (!(most >= 1)) throw new RangeError(`a row group of ${most} rows was asked for; it needs at least 1`);
  const bytes = plans.reduce((sum, { stored, offsets }) => sum + stored.width * (offsets ? offsets[rows]! : rows), 0);
  const fit = Math.floor(ROW_GROUP_BYTES / Math.max(1, bytes / Math.max(1, rows)));
  return Math.max(1, Math.min(Math.floor(most), fit));
}

function schemaOf(plans: readonly Plan[]): SchemaElement[] {
  const elements: SchemaElement[] = [{ name: 'schema', num_children: plans.length }];
  for (const { name, stored, offsets } of plans) {
    if (offsets) {
      elements.push({ name, repetition_type: 'REQUIRED', num_children: 1, converted_type: 'LIST' });
      elements.push({ name: 'list', repetition_type: 'REPEATED', num_children: 1 });
    }
    const leaf: SchemaElement = { type: stored.type, name: offsets ? 'element' : name, repetition_type: 'REQUIRED' };
    if (stored.converted) leaf.converted_type = stored.converted;
    elements.push(leaf);
  }
  return elements;
}

function writeChunk(file: FileParts, plan: Plan, from: number, to: number, wanted: Compressor): ColumnChunk {
  const { stored, offsets } = plan;
  const first = offsets ? offsets[from]! : from;
  const dictionary = stored.dictionary(first, offsets ? offsets[to]! : to);
  const width = dictionary ? bitsFor(dictionary.size) : 0;
  const pageBody = (row: number, end: number): { body: Uint8Array; entries: number } => {
    const start = offsets ? offsets[row]! : row;
    const stop = offsets ? offsets[end]! : end;
    const values = dictionary
      ? packIndices(dictionary.codes, start - first, stop - first, width)
      : stored.plain(start, stop);
    if (!offsets) return { body: values, entries: end - row };
    const levels = packLevels(offsets, row, end);
    const body = new Uint8Array(levels.bytes.length + values.length);
    body.set(levels.bytes);
    body.set(values, levels.bytes.length);
    return { body, entries: levels.entries };
  };

  const offset = file.length;
  let compressor: Compressor | undefined;
  let expanded = 0;
  let entries = 0;
  const addPage = (body: Uint8Array, header: (stored: number, sum: number) => Record<`field_${number}`, unknown>) => {
    compressor ??= worthCompressing(body, wanted) ? wanted : { codec: 'UNCOMPRESSED', compress: (bytes) => bytes };
    const packed = compressor.compress(body);
    const writer = new ByteWriter(64);
    serializeTCompactProtocol(writer, header(packed.length, codec().crc32(packed) | 0));
    file.add(writer.getBytes());
    file.add(packed);
    expanded += writer.getBytes().length + body.length;
  };

  let row = from;
  let next = pageEnd(plan, row, to);
  let page = pageBody(row, next);
  if (dictionary) {
    // The sample for the choice of the codec is the first page of data, which is most of what will be written.
    compressor = worthCompressing(page.body, wanted) ? wanted : { codec: 'UNCOMPRESSED', compress: (bytes) => bytes };
    addPage(dictionary.plain, (size, sum) => ({
      field_1: 2,
      field_2: dictionary.plain.length,
      field_3: size,
      field_4: sum,
      field_7: { field_1: dictionary.size, field_2: PLAIN },
    }));
  }
  const dataOffset = file.length;
  for (;;) {
    const { body, entries: count } = page;
    addPage(body, (size, sum) => ({
      field_1: 0,
      field_2: body.length,
      field_3: size,
      field_4: sum,
      field_5: { field_1: count, field_2: dictionary ? RLE_DICTIONARY : PLAIN, field_3: RLE, field_4: RLE },
    }));
    entries += count;
    row = next;
    if (row >= to) break;
    next = pageEnd(plan, row, to);
    page = pageBody(row, next);
  }

  const encodings: Encoding[] = dictionary ? ['PLAIN', 'RLE', 'RLE_DICTIONARY'] : ['PLAIN', 'RLE'];
  const meta: ColumnMetaData = {
    type: stored.type,
    encodings,
    path_in_schema: plan.path,
    codec: compressor?.codec ?? 'UNCOMPRESSED',
    num_values: BigInt(entries),
    total_uncompressed_size: BigInt(expanded),
    total_compressed_size: BigInt(file.length - offset),
    data_page_offset: BigInt(dataOffset),
  };
  if (dictionary) meta.dictionary_page_offset = BigInt(offset);
  return { file_offset: BigInt(offset), meta_data: meta };
}

/** The row before which a page ends: about a mebibyte of plain values, and never within a row. */
function pageEnd({ stored, offsets }: Plan, row: number, to: number): number {
  const most = Math.floor(PAGE_BYTES / stored.width);
  if (!offsets) return Math.min(to, row + most);
  const first = offsets[row]!;
  let end = row + 1;
  while (end < to && offsets[end + 1]! - first <= most && end - row < PAGE_BYTES) end++;
  return end;
}

function worthCompressing(body: Uint8Array, { codec, compress }: Compressor): boolean {
  if (codec === 'UNCOMPRESSED') return false;
  if (body.length <= 2 * SAMPLE_BYTES) return compress(body).length < WORTHWHILE * body.length;
  const middle = body.length >> 1;
  const size =
    compress(body.subarray(0, SAMPLE_BYTES)).length + compress(body.subarray(middle, middle + SAMPLE_BYTES)).length;
  return size < WORTHWHILE * 2 * SAMPLE_BYTES;
}

function footerBytes(metadata: FileMetaData): Uint8Array {
  const writer = new ByteWriter(4096);
  writeMetadata(writer, {
    ...metadata,
    created_by: 'trueline',
    key_value_metadata: [{ key: FOOTER_CHECKSUM, value: NO_CHECKSUM }],
  });
  const footer = writer.getBytes();
  const sum = codec().crc32(footer.subarray(0, footer.length - 4));
  footer.set(new TextEncoder().encode(sum.toString(16).padStart(8, '0')), checksumPlace(footer));
  const out = new Uint8Array(footer.length + 4);
  out.set(footer);
  out.set(new TextEncoder().encode('PAR1'), footer.length);
  return out;
}
