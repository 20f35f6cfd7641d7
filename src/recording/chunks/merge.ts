/**
 * Puts small chunks of a table together, ten into one, and ten of those again, so that a long run is some hundred files and not some thousands. The new file
 * is whole on disk before an old one goes, and its name says which it holds: whatever is left after a kill is read once.
 */

import type { Chunk } from '../column.ts';
import { columnSpec } from '../columns.ts';
import { concatenate } from '../concatenate.ts';
import { type FileChunk, Recording } from '../recording.ts';
import type { WritableStore } from '../source.ts';
import { type Chunked, chunkName, chunkNumbers, withoutCovered } from './names.ts';

const fan = 10;
const levels = [fan, fan ** 2, fan ** 3];
/** A chunk of more bytes than this is no small one any more. */
const largest = 2 ** 25;

interface Piece extends Chunked {
  path: string;
  ending: string;
}

export type Encode = (chunk: Chunk, ending: string) => Promise<Uint8Array[] | null>;

/** Merges what may be merged: chunks with numbers below a table's limit, which nothing will ever count from again. */
export async function mergeChunks(
  store: WritableStore,
  below: Readonly<Record<string, number>>,
  encode: Encode,
): Promise<void> {
  await removeCovered(store);
  let pieces = piecesOf(await store.list());
  for (const [table, limit] of Object.entries(below)) {
    for (const size of levels) {
      // By the pieces that are there and not by all numbers up to the limit: a long run asks at every checkpoint.
      const within = new Map<number, Piece[]>();
      for (const piece of pieces) {
        const part = Math.floor(piece.first / size);
        if (piece.table === table && piece.last < Math.min(limit, (part + 1) * size))
          within.set(part, [...(within.get(part) ?? []), piece]);
      }
      for (const [part, own] of within) {
        const [first, last] = [part * size, (part + 1) * size - 1];
        if (own.length < 2 || last >= limit || !fills(own, first, last)) continue;
        const made = await merged(store, own, table, first, last, encode);
        if (!made) continue;
        for (const { path } of own) await store.remove(path);
        pieces = [...pieces.filter((piece) => !own.includes(piece)), ...piecesOf([made])];
      }
    }
  }
}

/** Chunks that a larger one holds too, left by a program that was killed. */
export async function removeCovered(store: WritableStore): Promise<void> {
  const paths = await store.list();
  const kept = new Set(withoutCovered(paths));
  for (const path of paths) if (!kept.has(path)) await store.remove(path);
}

function piecesOf(paths: readonly string[]): Piece[] {
  return paths.flatMap((path) => {
    const chunk = chunkNumbers(path);
    return chunk ? [{ ...chunk, path, ending: path.slice(path.indexOf('.') + 1) }] : [];
  });
}

/** Whether the chunks follow each other without a gap, in one encoding, from the first number to the last. */
function fills(own: readonly Piece[], first: number, last: number): boolean {
  let next = first;
  for (const piece of [...own].sort((a, b) => a.first - b.first)) {
    if (piece.first !== next || piece.ending !== own[0].ending) return false;
    next = piece.last + 1;
  }
  return next === last + 1;
}

async function merged(
  store: WritableStore,
  own: readonly Piece[],
  table: string,
  first: number,
  last: number,
  encode: Encode,
): Promise<string | undefined> {
  let bytes = 0;
  for (const { path } of own) bytes += (await store.open(path)).size;
  if (bytes > largest) return undefined;
  const paths = ['manifest.json', ...own.map(({ path }) => path)];
  const recording = await Recording.open({
    name: store.name,
    list: async () => paths,
    open: (path) => store.open(path),
  });
  const chunks: FileChunk[] = [];
  for await (const chunk of recording.chunks(table)) chunks.push(chunk);
  // A column that only some of them have would be unknown in the others, where it is absent now.
  const names = (chunk: Chunk) => [...chunk.columns.keys()].sort().join(' ');
  if (chunks.some((chunk) => names(chunk) !== names(chunks[0]) || chunk.unreadable.length > 0)) return undefined;
  const whole = concatenate(chunks, (name) => columnSpec(table, name));
  const parts = await encode(whole, own[0].ending);
  if (!parts) return undefined;
  const path = chunkName(table, first, last, own[0].ending);
  await store.write(path, parts);
  return path;
}
