/** Which chunk files of a growing run were read. A chunk that was put together from several (000010-000019) counts as all of them, so no row is read twice. */
import { type Chunked, chunkNumbers } from '../../recording/chunks/names.ts';
import type { Store } from '../../recording/source.ts';

export class SeenChunks {
  /** The number after the last chunk that was read, by table. */
  private readonly next = new Map<string, number>();
  private readonly others = new Set<string>();

  /** Whether some rows of a file were read and others not: then everything is to be read anew. */
  private torn({ table, first, last }: Chunked): boolean {
    const next = this.next.get(table) ?? 0;
    return first < next && last >= next;
  }

  add(path: string): void {
    const chunk = chunkNumbers(path);
    if (chunk) this.next.set(chunk.table, Math.max(this.next.get(chunk.table) ?? 0, chunk.last + 1));
    else this.others.add(path);
  }

  has(path: string): boolean {
    const chunk = chunkNumbers(path);
    return chunk ? chunk.last < (this.next.get(chunk.table) ?? 0) : this.others.has(path);
  }

  /** A store without the files that were read; undefined where they can no longer be told apart. */
  async rest(store: Store): Promise<Store | undefined> {
    const paths = await store.list();
    for (const path of paths) {
      const chunk = chunkNumbers(path);
      if (chunk && this.torn(chunk)) return undefined;
    }
    const left = paths.filter((path) => path === 'manifest.json' || !this.has(path));
    return { ...store, list: async () => left, open: (path) => store.open(path) };
  }
}
