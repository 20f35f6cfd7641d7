/** What the Parquet reader and writer take and give. A row group, not the file, is the unit of memory. */

import type { Column } from '../column.ts';

/** Bytes that can be read in ranges: a file in Node, a Blob in a page. */
export interface ByteSource {
  size: number;
  name: string;
  read(start: number, end: number): Promise<Uint8Array>;
}

/** A column as read. Nulls of numbers are NaN, and of text the empty string; the first one is told, because a key may not have any. */
export type ReadColumn = Column & { nulls?: number; nullAt?: number };

export interface ParquetColumn {
  name: string;
  kind: Column['kind'];
  ragged: boolean;
  nullable: boolean;
}

export interface ParquetTable {
  name: string;
  rows: number;
  columns: ParquetColumn[];
  /** Columns that this reader has no form for, such as structs, maps, timestamps and raw bytes. */
  unreadable: { name: string; why: string }[];
  /** At least one: a file without row groups is shown as one of 0 rows, so that its columns keep their types. */
  rowGroups: { rows: number }[];
  readColumns(names: readonly string[], rowGroup: number): Promise<Map<string, ReadColumn>>;
}

/** Takes the compressed bytes and the exact length that they must expand to. */
export type Decompress = (bytes: Uint8Array, length: number) => Uint8Array;
export type Compress = (bytes: Uint8Array) => Uint8Array;

export interface ReadOptions {
  /** The most bytes that one row group's columns may expand to; 8 GiB unless told. */
  maxSize?: number;
  /** Faster decompressors where the place has them, such as those of node:zlib. */
  decompress?: { gzip?: Decompress; zstd?: Decompress };
}

export interface WriteOptions {
  codec: 'snappy' | 'zstd' | 'uncompressed';
  /** The most rows of a row group, 131072 unless told; wide rows make it fewer, so that a group stays near 64 MiB. */
  rowGroupRows?: number;
  /** There is no zstd compressor among the dependencies, so the caller brings one. */
  compress?: { zstd?: Compress };
}

export interface NamedColumn {
  name: string;
  column: Column;
}

export const DEFAULT_MAX_SIZE = 8 * 2 ** 30;
