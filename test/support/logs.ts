/** Logs for tests: text that is read as a file or as a folder of files, and what was found in it. */
import { fileStore, type ImportedLog, importLog, type LogOptions } from '../../src/recording/importers/open.ts';
import { bytesSource, memoryStore, type Store } from '../../src/recording/source.ts';

export const encode = (text: string) => new TextEncoder().encode(text);

export async function imported(name: string, text: string | Uint8Array, options?: LogOptions): Promise<ImportedLog> {
  return importLog(fileStore(bytesSource(name, typeof text === 'string' ? encode(text) : text)), options);
}

export async function folder(files: Record<string, string | Uint8Array>): Promise<Store> {
  const store = memoryStore('run');
  for (const [path, text] of Object.entries(files))
    await store.write(path, [typeof text === 'string' ? encode(text) : text]);
  return store;
}

export const series = ({ log }: ImportedLog) => Object.fromEntries(log.names.map((name) => [name, log.valuesOf(name)]));
export const read = ({ columns }: ImportedLog) =>
  Object.fromEntries(
    columns.filter(({ used }) => used).map(({ name, metric, sign }) => [name, sign < 0 ? `-${metric}` : metric]),
  );
