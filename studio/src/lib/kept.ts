/** Dropped runs and their diagnoses in the browser's own storage, so that a reload finds them again. Nothing of it leaves the browser. */
import type { DroppedFile } from './stores.ts';

export interface KeptRun {
  id: string;
  name: string;
  files: DroppedFile[];
  /** The diagnosis as JSON, in both languages. */
  told?: string;
}

/** Larger ones are read again from where they lie: a browser's storage is not made for them. */
const largest = 512 * 2 ** 20;

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open('trueline', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('runs', { keyPath: 'id' });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function within<T>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T | undefined> {
  // A browser in a private window may have no storage; the page works without.
  try {
    const base = await open();
    return await new Promise<T>((resolve, reject) => {
      const request = work(base.transaction('runs', mode).objectStore('runs'));
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    }).finally(() => base.close());
  } catch {
    return undefined;
  }
}

export async function keepRun(run: KeptRun): Promise<void> {
  if (run.files.reduce((sum, { blob }) => sum + blob.size, 0) > largest) return;
  // Files of a disk may be gone at the next visit, so their bytes are kept.
  const files = await Promise.all(
    run.files.map(async ({ path, blob }) => ({ path, blob: new Blob([await blob.arrayBuffer()]) })),
  ).catch(() => undefined);
  if (files) await within('readwrite', (store) => store.put({ ...run, files }));
}

export async function keptRuns(): Promise<KeptRun[]> {
  return (await within<KeptRun[]>('readonly', (store) => store.getAll() as IDBRequest<KeptRun[]>)) ?? [];
}

export async function forgetRun(id: string): Promise<void> {
  await within('readwrite', (store) => store.delete(id));
}
