/** Opens a Parquet file and reads the columns asked for, row group by row group. Only their bytes are fetched; a damaged file gives BadInput and never wrong rows where a checksum covers them. */

import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import { memoryOf, readChunk } from './chunk.ts';
import { readExactly, readFooter } from './footer.ts';
import { finish } from './narrow.ts';
import type { Leaf } from './schema.ts';
import { type ByteSource, DEFAULT_MAX_SIZE, type ParquetTable, type ReadColumn, type ReadOptions } from './types.ts';
import { makeStore } from './values.ts';

export async function openParquet(source: ByteSource, options: ReadOptions = {}): Promise<ParquetTable> {
  const file = source.name;
  const footer = await placed({ file }, () => readFooter(source));
  const leaves = new Map(footer.schema.leaves.map((leaf) => [leaf.name, leaf]));
  const { unreadable } = footer.schema;
  const maxSize = options.maxSize ?? DEFAULT_MAX_SIZE;

  const readColumn = async (leaf: Leaf, index: number, budget: number): Promise<ReadColumn> => {
    const group = footer.groups[index];
    if (group === undefined) return emptyColumn(leaf);
    const place = group.place(leaf);
    const memory = memoryOf(leaf, place.entries, group.rows);
    if (memory > budget || place.entries >= 2 ** 31) {
      throw new BadInput(
        told(
          `the column expands to ${memory} bytes where ${budget} remain of the limit of ${maxSize}; raise --max-size if it is genuine`,
          `该列展开为 ${memory} 字节，而 ${maxSize} 的上限只剩 ${budget}；如果文件属实，请提高 --max-size`,
        ),
      );
    }
    if (place.entries === 0) {
      if (group.rows > 0)
        throw new BadInput(
          told(
            `the column has no values for ${group.rows} rows, so the file is damaged`,
            `该列没有值，而行数是 ${group.rows}，文件已损坏`,
          ),
        );
      return emptyColumn(leaf);
    }
    const bytes = await readExactly(source, place.start, place.end);
    return readChunk(bytes, place, leaf, group.rows, options);
  };

  return {
    name: file,
    rows: footer.rows,
    columns: footer.schema.leaves.map(({ name, kind, ragged, nullable }) => ({ name, kind, ragged, nullable })),
    unreadable,
    rowGroups: footer.groups.length > 0 ? footer.groups.map(({ rows }) => ({ rows })) : [{ rows: 0 }],
    async readColumns(names, rowGroup) {
      const columns = new Map<string, ReadColumn>();
      if (!Number.isInteger(rowGroup) || rowGroup < 0 || rowGroup >= Math.max(1, footer.groups.length)) {
        throw new RangeError(
          `row group ${rowGroup} was asked for and ${file} has ${Math.max(1, footer.groups.length)}, from 0`,
        );
      }
      let budget = maxSize;
      for (const name of names) {
        const leaf = leaves.get(name);
        if (leaf === undefined) {
          const why = unreadable.find((column) => column.name === name)?.why ?? 'the file has no such column';
          throw new BadInput(why, { file, column: name });
        }
        const column = await placed({ file, column: name }, () => readColumn(leaf, rowGroup, budget));
        budget -= column.kind === 'text' ? column.values.length * 8 : column.values.byteLength;
        columns.set(name, column);
      }
      return columns;
    },
  };
}

function emptyColumn(leaf: Leaf): ReadColumn {
  return finish(leaf, 0, makeStore(leaf.physical, 0), 0, leaf.ragged ? new Int32Array(1) : undefined, undefined);
}

/** Adds the place to a complaint. Damage may also show itself as an array that cannot be made or a number out of range. */
async function placed<Result>(place: { file: string; column?: string }, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BadInput) throw error.within(place);
    if (error instanceof RangeError || error instanceof TypeError) {
      throw new BadInput(
        told(
          `the file cannot be read (${error.message}), so it is damaged or too large`,
          `文件无法读取（${error.message}），已损坏或过大`,
        ),
        place,
      );
    }
    throw error;
  }
}
