/** How chunk files are called: a number in the order of the rows, or the first and the last number of those that were put together. A reader that counts both would count rows twice. */

export interface Chunked {
  table: string;
  /** The numbers that the file covers; the same where it is one chunk. */
  first: number;
  last: number;
}

const numbered = /^([^/]+)\/(\d{6,})(?:-(\d{6,}))?\.(?:npz|parquet|jsonl|jsonl\.gz)$/;

/** What a chunk file covers; undefined where its name is somebody else's. */
export function chunkNumbers(path: string): Chunked | undefined {
  const match = numbered.exec(path);
  if (!match) return undefined;
  const [first, last] = [Number(match[2]), Number(match[3] ?? match[2])];
  return last < first ? undefined : { table: match[1], first, last };
}

export function chunkName(table: string, first: number, last: number, ending: string): string {
  const number = (value: number) => String(value).padStart(6, '0');
  return `${table}/${number(first)}${last > first ? `-${number(last)}` : ''}.${ending}`;
}

/** The files that hold a table's rows once: a chunk that a larger one holds too was left by a program that was killed before it could remove it. */
export function withoutCovered(paths: readonly string[]): string[] {
  const wide = paths.map(chunkNumbers).filter((chunk) => chunk !== undefined && chunk.last > chunk.first) as Chunked[];
  if (wide.length === 0) return [...paths];
  return paths.filter((path) => {
    const own = chunkNumbers(path);
    return (
      !own ||
      !wide.some(
        ({ table, first, last }) =>
          table === own.table && first <= own.first && own.last <= last && last - first > own.last - own.first,
      )
    );
  });
}
