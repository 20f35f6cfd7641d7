/** One chunk as a .parquet file; each row group is read as a chunk of its own. */
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import type { Chunk, Column } from '../column.ts';
import { openParquet, parquetParts } from '../parquet/index.ts';
import type { Budget, ByteSource } from '../source.ts';
import { codec } from './codec.ts';

export async function* readParquet(
  source: ByteSource,
  pick: (present: readonly string[]) => readonly string[],
  budget: Budget,
): AsyncGenerator<{ chunk: Chunk; present: string[]; unreadable: string[] }> {
  const { gunzipWhole: gzip, unzstd: zstd } = codec();
  budget.claim(source.name, 0, source);
  const file = await openParquet(source, { maxSize: budget.limit, decompress: { gzip, zstd } });
  let expanded = 0;
  const unreadable = file.unreadable.map(({ name, why }) => `${name} (${why})`);
  const present = file.columns.map((column) => column.name);
  const names = pick(present);
  for (const [index, group] of file.rowGroups.entries()) {
    const columns = new Map<string, Column>();
    for (const [name, { kind, rows, values, ...rest }] of await file.readColumns(names, index)) {
      const offsets = 'offsets' in rest ? rest.offsets : undefined;
      columns.set(name, { kind, rows, values, ...(offsets ? { offsets } : {}) } as Column);
      expanded += (kind === 'text' ? 8 * values.length : values.byteLength) + (offsets?.byteLength ?? 0);
    }
    budget.claim(source.name, expanded, source);
    yield { chunk: { rows: group.rows, columns }, present, unreadable };
  }
}

/** Snappy, or zstd where more compression is asked for and the platform has it. */
export function encodeParquet(chunk: Chunk, compress: boolean): Uint8Array[] {
  const { zstd } = codec();
  if (compress && !zstd)
    throw new BadInput(
      told(
        'zstd needs Node 22.15 or later; leave --compress out for snappy',
        'zstd 需要 Node 22.15 或更新；去掉 --compress 即用 snappy',
      ),
    );
  const columns = [...chunk.columns].map(([name, column]) => ({ name, column }));
  return parquetParts(columns, compress ? { codec: 'zstd', compress: { zstd } } : { codec: 'snappy' });
}
