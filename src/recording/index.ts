/** What `trueline/recording` offers, in Node and in a page. Folders and files on disk are in `trueline/recording/node`. */
export { BadInput } from './bad-input.ts';
export { type Inspection, inspect } from './check/inspect.ts';
export { type Validation, validate } from './check/validate.ts';
export type { Chunk, Column, NumberColumn, Offsets, TextColumn, Values } from './column.ts';
export { type ColumnSpec, columnSpec, type Kind, type TableSpec, tableSpec, tables } from './columns.ts';
export { convert } from './convert.ts';
export { zipStore } from './files/zip.ts';
export { metrics as logMetrics } from './importers/names.ts';
export { fileStore, type ImportedLog, importLog, type LogOptions, logRecording, writeLog } from './importers/open.ts';
export type { Recognised } from './importers/recognise.ts';
export { type Manifest, manifestSchema } from './manifest.ts';
export { type FileChunk, type OpenOptions, Recording } from './recording.ts';
export {
  Budget,
  type ByteSource,
  blobSource,
  blobStore,
  bytesSource,
  memoryStore,
  type Store,
  type WritableStore,
} from './source.ts';
export { type ColumnData, type Encoding, RecordingWriter, type WriterOptions } from './writer.ts';
