/** One column of one row group, from its pages to typed arrays. A row of a list may run on from one page into the next. */

import { BadInput } from '../bad-input.ts';
import type { Values } from '../column.ts';
import type { ChunkPlace } from './footer.ts';
import { narrow, withNulls } from './narrow.ts';
import { expandPage, findPages, type Page } from './pages.ts';
import { constantRun, readRuns } from './runs.ts';
import type { Leaf } from './schema.ts';
import type { ReadColumn, ReadOptions } from './types.ts';
import { makeStore, readValues, type Store, WIDTH } from './values.ts';

let repetitions = new Uint8Array(0);
let definitions = new Uint8Array(0);

class ChunkReader {
  readonly leaf: Leaf;
  readonly rows: number;
  readonly store: Store;
  readonly offsets: Int32Array | undefined;
  /** Where values are null, once one is. */
  nulls: Uint8Array | undefined;
  row = 0;
  /** Values put into the store so far. */
  filled = 0;

  constructor(leaf: Leaf, rows: number, entries: number) {
    this.leaf = leaf;
    this.rows = rows;
    this.store = makeStore(leaf.physical, entries);
    this.offsets = leaf.ragged ? new Int32Array(rows + 1) : undefined;
  }

  page(encoding: string, page: Page, count: number, dictionary: Store | undefined): void {
    const { leaf } = this;
    const definition = this.definitionLevels(page, count);
    const before = this.filled;
    const elements = this.offsets ? this.listPage(this.offsets, page, count, definition) : count;
    const { maxDefinition } = leaf;
    const values = definition < 0 ? countLevels(definitions, count, maxDefinition) : definition === maxDefinition ? elements : 0;
    readValues(encoding, leaf.physical, page.values, dictionary, this.store, before, values);
    if (values < elements) this.spread(before, elements, values, count, definition);
    this.filled = before + elements;
  }

  /** The level of all entries, or -1 after expanding them into `definitions`. */
  definitionLevels(page: Page, count: number): number {
    const { maxDefinition } = this.leaf;
    if (maxDefinition === 0) return 0;
    const [start, end] = page.definition;
    const width = maxDefinition === 1 ? 1 : 2;
    const constant = constantRun(page.bytes, start, end, width, count);
    if (constant >= 0 && constant <= maxDefinition) return constant;
    if (definitions.length < count) definitions = new Uint8Array(count);
    if (readRuns(page.bytes, start, end, width, definitions, 0, count) > maxDefinition) {
      throw new BadInput('a definition level is too high, so the file is damaged');
    }
    return -1;
  }

  /** Sets the offsets of the rows that begin in this page; returns how many elements it has. */
  listPage(offsets: Int32Array, page: Page, count: number, definition: number): number {
    const [start, end] = page.repetition;
    if (repetitions.length < count) repetitions = new Uint8Array(count);
    const levels = repetitions;
    if (readRuns(page.bytes, start, end, 1, levels, 0, count) > 1) {
      throw new BadInput('a repetition level is above 1, so the file is damaged');
    }
    if (count > 0 && this.row === 0 && levels[0] !== 0) {
      throw new BadInput('the first row begins in its middle, so the file is damaged');
    }
    let { row } = this;
    let element = this.filled;
    const { elementDefinition } = this.leaf;
    if (definition >= 0) {
      // Writing past the last row is ignored by a typed array and found below.
      const step = definition >= elementDefinition ? 1 : 0;
      for (let entry = 0; entry < count; entry++) {
        offsets[row] = element;
        row += 1 - levels[entry]!;
        element += step;
      }
      if (step === 1) this.repairOffsets(offsets, levels, count, row);
    } else {
      for (let entry = 0; entry < count; entry++) {
        if (levels[entry] === 0) offsets[row++] = element;
        if (definitions[entry]! >= elementDefinition) element++;
      }
    }
    if (row > this.rows) {
      throw new BadInput(`the pages hold more than the ${this.rows} rows of the footer, so the file is damaged`);
    }
    this.row = row;
    return element - this.filled;
  }
}
