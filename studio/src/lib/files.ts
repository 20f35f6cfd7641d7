/** From dropped files to a recording's store: a folder, a zip of one, tables that say by their names what they are, or a log. */
import { told } from '../../../src/language/language.ts';
import { BadInput } from '../../../src/recording/bad-input.ts';
import { zipStore } from '../../../src/recording/files/zip.ts';
import { fileStore, importLog, writeLog } from '../../../src/recording/importers/open.ts';
import { Budget, blobSource, blobStore, memoryStore, type Store } from '../../../src/recording/source.ts';
import type { DroppedFile } from './stores.ts';

export interface DroppedRecording {
  name: string;
  files: DroppedFile[];
}

/** Every recording of what was dropped, named by its folder: those with a manifest, and each zip; what is left beside none of them is one more, a table or a log. */
export function recordingsIn(name: string, files: readonly DroppedFile[]): DroppedRecording[] {
  const folders = files
    .filter(({ path }) => /(^|\/)manifest\.json$/.test(path))
    .map(({ path }) => path.slice(0, -'manifest.json'.length))
    // A rank lies within the recording of its run.
    .filter((folder, _, all) => !all.some((other) => other !== folder && folder.startsWith(other)));
  const own = folders.map((folder) => ({
    name: folder === '' ? name : `${folders.length > 1 ? `${name}/` : ''}${folder.slice(0, -1)}`,
    files: files
      .filter(({ path }) => path.startsWith(folder))
      .map(({ path, blob }) => ({ path: path.slice(folder.length), blob })),
  }));
  const rest = files.filter(({ path }) => !folders.some((folder) => path.startsWith(folder)));
  const zips = rest.filter(({ path }) => path.endsWith('.zip'));
  const others = rest.filter(({ path }) => !path.endsWith('.zip'));
  return [
    ...own,
    ...zips.map((file) => ({ name: file.path.split('/').at(-1)!, files: [file] })),
    ...(own.length + zips.length === 0 && others.length > 0 ? [{ name, files: others }] : []),
  ];
}

export async function storeOfFiles(name: string, files: readonly DroppedFile[]): Promise<Store> {
  if (files.length === 0)
    throw new BadInput(
      told(
        'nothing was dropped; drop a recording folder, its zip, or a table of one',
        '没有拖入任何东西；请拖入记录文件夹、它的 zip 或其中一张表',
      ),
    );
  const manifest = files.find(({ path }) => path === 'manifest.json' || path.endsWith('/manifest.json'));
  if (manifest) {
    // A folder within the dropped one is taken for the recording where it alone has a manifest.
    const prefix = manifest.path.slice(0, -'manifest.json'.length);
    const inside = files.filter(({ path }) => path.startsWith(prefix));
    return blobStore(
      name,
      inside.map(({ path, blob }) => ({ path: path.slice(prefix.length), blob })),
    );
  }
  if (files.length === 1) {
    const [{ path, blob }] = files;
    if (path.endsWith('.zip')) return zipStore(blobSource(path, blob), new Budget());
  }
  const tables = files.filter(({ path }) => /\.(npz|parquet|jsonl|jsonl\.gz)$/.test(path) && tableOf(path));
  if (tables.length === files.length) return bareTables(name, tables);
  return logStore(name, files);
}

/** Anything else may be a log: it becomes a recording that has only scalars. */
async function logStore(name: string, files: readonly DroppedFile[]): Promise<Store> {
  const [{ path, blob }] = files;
  const imported = await importLog(
    files.length === 1 ? fileStore(blobSource(path, blob), path) : blobStore(name, files),
  );
  const store = memoryStore(name);
  await writeLog(imported, store);
  return store;
}

const known = ['samples', 'responses', 'replays', 'steps', 'tensors', 'episodes', 'counters', 'scalars'];

function tableOf(path: string): string | undefined {
  return known.find((table) => path.toLowerCase().includes(table));
}

/** Tables without a manifest: a file's name or its folder's says which table it is. */
function bareTables(name: string, files: readonly DroppedFile[]): Store {
  const taken = new Map<string, number>();
  const placed = files.map(({ path, blob }) => {
    const table = tableOf(path)!;
    const number = taken.get(table) ?? 0;
    taken.set(table, number + 1);
    const ending = /\.(npz|parquet|jsonl\.gz|jsonl)$/.exec(path)![0];
    return { path: `${table}/${String(number).padStart(6, '0')}${ending}`, blob };
  });
  const manifest = new Blob([JSON.stringify({ format: 'trueline/1', name })]);
  return blobStore(name, [...placed, { path: 'manifest.json', blob: manifest }]);
}
