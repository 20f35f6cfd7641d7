/** One column of one row group, from its pages to typed arrays. A row of a list may run on from one page into the next. */

import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import type { ChunkPlace } from './footer.ts';
import { finish } from './narrow.ts';
import { expandPage, findPages, type Page, type PageHeader } from './pages.ts';
import { constantRun, readRuns } from './runs.ts';
import type { Leaf } from './schema.ts';
import type { ReadColumn, ReadOptions } from './types.ts';
import { makeStore, readValues, type Store, WIDTH } from './values.ts';

/** Levels of the page at hand; shared by all pages, they only grow, up to the largest page met. */
let repetitions = new Uint8Array(0);
let definitions = new Uint8Array(0);

/** The column as it grows, page by page. */
interface Growing {
  leaf: Leaf;
  rows: number;
  store: Store;
  /** Present where the column is ragged. */
  offsets?: Int32Array;
  /** 1 where a value is null; present once there is one. */
  nulls?: Uint8Array;
  row: number;
  filled: number;
}

/** How many bytes a column of this many entries takes in memory. */
export function memoryOf(leaf: Leaf, entries: number, rows: number): number {
  return entries * WIDTH[leaf.physical] + (leaf.ragged ? 4 * rows : 0);
}

export function readChunk(
  bytes: Uint8Array,
  place: ChunkPlace,
  leaf: Leaf,
  rows: number,
  options: ReadOptions,
): ReadColumn {
  const pages = findPages(bytes, place, leaf);
  if (leaf.ragged ? rows > place.entries : rows !== place.entries) {
    throw new BadInput(
      told(
        `the column has ${place.entries} values for ${rows} rows, so the file is damaged`,
        `该列有 ${place.entries} 个值，而行数是 ${rows}，文件已损坏`,
      ),
    );
  }
  const column: Growing = { leaf, rows, store: makeStore(leaf.physical, place.entries), row: 0, filled: 0 };
  if (leaf.ragged) column.offsets = new Int32Array(rows + 1);
  let dictionary: Store | undefined;
  for (const header of pages) {
    const page = expandPage(bytes, header, place.codec, leaf, options);
    if (header.type === 'dictionary') dictionary = readDictionary(header, page, leaf);
    else addPage(column, header, page, dictionary);
  }
  if (column.offsets) {
    if (column.row !== rows) {
      throw new BadInput(
        told(
          `the pages hold ${column.row} rows where the footer says ${rows}, so the file is damaged`,
          `各页共有 ${column.row} 行，而页脚写的是 ${rows}，文件已损坏`,
        ),
      );
    }
    column.offsets[rows] = column.filled;
  }
  return finish(leaf, rows, column.store, column.filled, column.offsets, column.nulls);
}

function readDictionary(header: PageHeader, page: Page, leaf: Leaf): Store {
  if (header.encoding !== 'PLAIN' && header.encoding !== 'PLAIN_DICTIONARY') {
    throw new BadInput(
      told(
        `a dictionary in the encoding ${header.encoding} is not read; only PLAIN is`,
        `不读取编码为 ${header.encoding} 的字典；只读 PLAIN`,
      ),
    );
  }
  // Each entry takes at least a bit, so a false count cannot make the store large.
  if (header.count > page.values.length * 8) {
    throw new BadInput(
      told(
        `a dictionary claims ${header.count} entries in ${page.values.length} bytes, so the file is damaged`,
        `字典声称在 ${page.values.length} 字节里有 ${header.count} 项，文件已损坏`,
      ),
    );
  }
  const dictionary = makeStore(leaf.physical, header.count);
  readValues('PLAIN', leaf.physical, page.values, undefined, dictionary, 0, header.count);
  return dictionary;
}

function addPage(column: Growing, header: PageHeader, page: Page, dictionary: Store | undefined): void {
  const { leaf, filled } = column;
  const { count } = header;
  if (count === 0) return;
  const level = definitionLevels(leaf, page, count);
  const elements = column.offsets ? addRows(column, column.offsets, page, count, level) : count;
  let present = level === leaf.maxDefinition ? elements : 0;
  if (level < 0) {
    for (let entry = 0; entry < count; entry++) if (definitions[entry] === leaf.maxDefinition) present++;
  }
  // Ours keep a page of empty lists without values; others write such a page with some header bytes, which say nothing.
  if (present > 0) readValues(header.encoding, leaf.physical, page.values, dictionary, column.store, filled, present);
  if (present < elements) spread(column, count, elements, present, level);
  column.filled = filled + elements;
}

/** The one level of all entries, or -1 after putting them into `definitions`. */
function definitionLevels(leaf: Leaf, page: Page, count: number): number {
  const { maxDefinition } = leaf;
  if (maxDefinition === 0) return 0;
  const [start, end] = page.definition;
  const width = maxDefinition === 1 ? 1 : 2;
  let greatest = constantRun(page.bytes, start, end, width, count);
  const constant = greatest;
  if (constant < 0) {
    if (definitions.length < count) definitions = new Uint8Array(count);
    greatest = readRuns(page.bytes, start, end, width, definitions, 0, count);
  }
  if (greatest > maxDefinition) {
    throw new BadInput(
      told(
        `a definition level is ${greatest} where ${maxDefinition} is the highest, so the file is damaged`,
        `定义层级是 ${greatest}，而最高是 ${maxDefinition}，文件已损坏`,
      ),
    );
  }
  return constant;
}

/** Sets the offsets of the rows that begin in this page, and returns how many elements it has. */
function addRows(column: Growing, offsets: Int32Array, page: Page, count: number, level: number): number {
  const [start, end] = page.repetition;
  if (repetitions.length < count) repetitions = new Uint8Array(count);
  const levels = repetitions;
  if (readRuns(page.bytes, start, end, 1, levels, 0, count) > 1) {
    throw new BadInput(told('a repetition level is above 1, so the file is damaged', '重复层级大于 1，文件已损坏'));
  }
  let { row } = column;
  if (row === 0 && levels[0] !== 0)
    throw new BadInput(
      told('the first row begins in its middle, so the file is damaged', '第一行从中间开始，文件已损坏'),
    );
  let element = column.filled;
  const { elementDefinition } = column.leaf;
  if (level >= 0) {
    // Every entry writes the start of the row to come, and a row's first entry moves on: no branch. What is written past the last row
    // is dropped by the typed array and found by the count below.
    const step = level >= elementDefinition ? 1 : 0;
    for (let entry = 0; entry < count; entry++) {
      offsets[row] = element;
      row += 1 - levels[entry]!;
      element += step;
    }
  } else {
    for (let entry = 0; entry < count; entry++) {
      offsets[row] = element;
      row += 1 - levels[entry]!;
      if (definitions[entry]! >= elementDefinition) element++;
    }
  }
  if (row > column.rows) {
    throw new BadInput(
      told(
        `the pages hold more than the ${column.rows} rows of the footer, so the file is damaged`,
        `各页的行数超过页脚的 ${column.rows}，文件已损坏`,
      ),
    );
  }
  column.row = row;
  return element - column.filled;
}

/** Moves the values that are present to their places, from the last to the first, and marks the nulls between them. */
function spread(column: Growing, count: number, elements: number, present: number, level: number): void {
  const { leaf, store, filled } = column;
  if (leaf.ragged && leaf.kind !== 'float') {
    throw new BadInput(
      told(
        `a list of ${leaf.kind === 'bool' ? 'booleans' : 'integers'} has a null in it; give it values only`,
        `${leaf.kind === 'bool' ? '布尔值' : '整数'}的列表里有空值；请只放值`,
      ),
    );
  }
  if (!leaf.ragged) column.nulls ??= new Uint8Array(column.rows);
  let to = filled + elements;
  let from = filled + present;
  for (let entry = count - 1; entry >= 0; entry--) {
    const definition = level < 0 ? definitions[entry]! : level;
    if (definition < leaf.elementDefinition) continue;
    to--;
    if (definition === leaf.maxDefinition) {
      store[to] = store[--from]!;
      continue;
    }
    if (leaf.kind === 'text') store[to] = '';
    else if (leaf.kind === 'float') store[to] = Number.NaN;
    if (column.nulls) column.nulls[to] = 1;
  }
}
