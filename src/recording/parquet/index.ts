/** Parquet for recordings: typed arrays in and out. Lists are values and offsets, never nested arrays. */

export { openParquet } from './reader.ts';
export type {
  ByteSource,
  Compress,
  Decompress,
  NamedColumn,
  ParquetColumn,
  ParquetTable,
  ReadColumn,
  ReadOptions,
  WriteOptions,
} from './types.ts';
export { parquetParts, writeParquet } from './writer.ts';
