/** Re-encodes a recording table by table. Values are kept exactly; unknown tables and columns come along. */
import type { Recording } from './recording.ts';
import type { WritableStore } from './source.ts';
import { RecordingWriter, type WriterOptions } from './writer.ts';

export async function convert(
  recording: Recording,
  store: WritableStore,
  options: WriterOptions,
  progress?: (done: number, all: number) => void,
): Promise<void> {
  const { names: _, ...manifest } = recording.manifest;
  const writer = await RecordingWriter.create(store, manifest, options);
  const all = recording.tables.reduce((sum, table) => sum + recording.chunkFiles(table).length, 0);
  let done = 0;
  let file = '';
  for (const table of recording.tables) {
    for await (const { rows, columns, ...chunk } of recording.chunks(table)) {
      await writer.appendChunk(table, { rows, columns });
      if (chunk.file !== file) progress?.(++done, all);
      file = chunk.file;
    }
    await writer.flush();
  }
  for (const path of recording.snapshots) await store.write(path, [await recording.snapshot(path)]);
  await writer.close();
}
