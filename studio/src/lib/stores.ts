/** Where the page's recordings come from: files that were dropped, or the studio's server, range by range. */
import { told } from '../../../src/language/language.ts';
import { BadInput } from '../../../src/recording/bad-input.ts';
import type { ByteSource, Store } from '../../../src/recording/source.ts';

export interface DroppedFile {
  /** Below the folder that was dropped; the file's own name where it was dropped alone. */
  path: string;
  blob: Blob;
}

/** A run on the server. The list is asked for anew each time, because the run may still be growing. */
export function remoteStore(id: string): Store {
  const encoded = id.split('/').map(encodeURIComponent).join('/');
  let sizes: Map<string, number> | undefined;
  const small = new Latest<Uint8Array<ArrayBuffer>>(16);
  const files = async () => {
    const { files } = await getJson<{ files: { path: string; size: number }[] }>(`api/files/${encoded}`);
    sizes = new Map(files.map(({ path, size }) => [path, size]));
    return sizes;
  };
  return {
    name: id,
    list: async () => [...(await files()).keys()].sort(),
    open: async (path): Promise<ByteSource> => {
      const size = (sizes ?? (await files())).get(path);
      if (size === undefined)
        throw new BadInput(told('there is no such file', '没有这个文件'), { file: `${id}/${path}` });
      const address = new URL(`file/${encoded}/${path.split('/').map(encodeURIComponent).join('/')}`, base()).href;
      const fetched = async (start: number, end: number) => {
        const response = await fetch(address, { headers: { Range: `bytes=${start}-${end - 1}` } });
        if (!response.ok) throw new BadInput(answered(response.status), { file: `${id}/${path}` });
        const bytes = new Uint8Array(await response.arrayBuffer());
        if (bytes.length !== end - start)
          throw new BadInput(
            told('the file changed while it was read; open it again', '文件在读取时变了；请重新打开'),
            { file: `${id}/${path}` },
          );
        return bytes;
      };
      return {
        name: `${id}/${path}`,
        size,
        read: async (start, end) => {
          if (end <= start) return new Uint8Array(0);
          // The manifest is written anew while a run grows, at times in as many bytes.
          if (size > smallFile || path === 'manifest.json') return fetched(start, end);
          return (await small.get(`${path} ${size}`, () => fetched(0, size))).slice(start, end);
        },
      };
    },
  };
}

/** A chunk is read in dozens of ranges, each of which would be a journey to the server: files up to this size are fetched whole. */
const smallFile = 2 ** 20;

/** The small files that were asked for last, so that what is kept stays small however many a run has. */
class Latest<T> {
  private readonly kept = new Map<string, Promise<T>>();

  constructor(private readonly most: number) {}

  get(key: string, make: () => Promise<T>): Promise<T> {
    const found = this.kept.get(key) ?? make();
    this.kept.delete(key);
    this.kept.set(key, found);
    // What failed is tried again.
    found.catch(() => this.kept.delete(key));
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= this.most) break;
      this.kept.delete(oldest);
    }
    return found;
  }
}

/** The page's folder; a worker lies deeper than the page, so it is told. */
let pageBase = globalThis.document?.baseURI;
export function setBase(address: string): void {
  pageBase = address;
}
export function base(): string {
  return pageBase ?? globalThis.location.href;
}

export const answered = (status: number) => told(`the server answered ${status}`, `服务器的回答是 ${status}`);

export async function getJson<T>(path: string): Promise<T> {
  const response = await fetch(new URL(path, base()));
  if (!response.ok) throw new Error(`${answered(response.status)}: ${(await response.text()).trim()}`);
  return (await response.json()) as T;
}

/** A store that leaves out chunk files which were read before. The manifest is always there. */
export function unseen(store: Store, seen: ReadonlySet<string>): Store {
  return {
    name: store.name,
    list: async () => (await store.list()).filter((path) => path === 'manifest.json' || !seen.has(path)),
    open: (path) => store.open(path),
  };
}

/** Everything that was dropped, folders opened; hidden files are left out. */
export async function droppedFiles(transfer: DataTransfer): Promise<DroppedFile[]> {
  const entries = [...transfer.items]
    .map((item) => item.webkitGetAsEntry?.() ?? null)
    .filter((entry): entry is FileSystemEntry => entry !== null);
  if (entries.length === 0) return [...transfer.files].map((file) => ({ path: file.name, blob: file }));
  const files: DroppedFile[] = [];
  const alone = entries.length === 1 && entries[0].isDirectory;
  for (const entry of entries) await walk(entry, alone ? '' : entry.name, files);
  return files;
}

async function walk(entry: FileSystemEntry, path: string, into: DroppedFile[]): Promise<void> {
  if (entry.name.startsWith('.')) return;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    into.push({ path: path || entry.name, blob: file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // A reader hands out a hundred entries at a time.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const child of some) await walk(child, path ? `${path}/${child.name}` : child.name, into);
  }
}

/** The files of a folder chosen by a button come with their paths, the folder's own name first. */
export function chosenFiles(list: FileList): DroppedFile[] {
  return [...list]
    .map((file) => ({ path: file.webkitRelativePath.split('/').slice(1).join('/') || file.name, blob: file }))
    .filter(({ path }) => !path.split('/').some((part) => part.startsWith('.')));
}
