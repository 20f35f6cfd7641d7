/** From typed arrays to the bytes of Parquet pages: plain values, dictionary indices and the levels of lists. Plain bytes may be a view of the caller's array. */

import type { ConvertedType, ParquetType } from 'hyparquet';
import type { Column, NumberColumn, Offsets, Values } from '../column.ts';

/** How a column is stored: its Parquet type, and the bytes of a range of its values. */
export interface Stored {
  type: ParquetType;
  converted?: ConvertedType;
  /** About how many bytes a value takes. */
  width: number;
  plain(from: number, to: number): Uint8Array;
  /** Distinct values and the index of each, where that is likely to be smaller. */
  dictionary(from: number, to: number): Dictionary | undefined;
}

export interface Dictionary {
  plain: Uint8Array;
  size: number;
  codes: Int32Array;
}

const none = (): undefined => undefined;

function viewBytes(values: Values, from: number, to: number): Uint8Array {
  const width = values.BYTES_PER_ELEMENT;
  return new Uint8Array(values.buffer, values.byteOffset + from * width, (to - from) * width);
}

export function storedAs(column: Column): Stored {
  if (column.kind === 'text') return storedText(column.values);
  const { kind, values } = column;
  if (kind === 'bool')
    return { type: 'BOOLEAN', width: 1 / 8, plain: (from, to) => packBooleans(values, from, to), dictionary: none };
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    const converted = values instanceof BigInt64Array ? 'INT_64' : 'UINT_64';
    return { type: 'INT64', converted, width: 8, plain: (from, to) => viewBytes(values, from, to), dictionary: none };
  }
  const isFloat = values instanceof Float32Array || values instanceof Float64Array;
  if (kind === 'int' && isFloat) {
    return {
      type: 'INT64',
      converted: 'INT_64',
      width: 8,
      plain: (from, to) => wholeNumbers(values, from, to),
      dictionary: none,
    };
  }
  if (kind === 'float') {
    const floats = isFloat ? values : new Float64Array(values);
    const type = floats instanceof Float32Array ? 'FLOAT' : 'DOUBLE';
    return {
      type,
      width: floats.BYTES_PER_ELEMENT,
      plain: (from, to) => viewBytes(floats, from, to),
      dictionary: none,
    };
  }
  return storedIntegers(values as SmallIntegers);
}

type SmallIntegers = Int8Array | Int16Array | Int32Array | Uint8Array | Uint16Array | Uint32Array;

function storedIntegers(values: SmallIntegers): Stored {
  const signed = values instanceof Int8Array || values instanceof Int16Array || values instanceof Int32Array;
  const bits = (values.BYTES_PER_ELEMENT * 8) as 8 | 16 | 32;
  const converted: ConvertedType = signed ? `INT_${bits}` : `UINT_${bits}`;
  return {
    type: 'INT32',
    converted,
    width: 4,
    plain: (from, to) =>
      bits === 32 ? viewBytes(values, from, to) : viewBytes(new Int32Array(values.subarray(from, to)), 0, to - from),
    dictionary: (from, to) => indexIntegers(values, from, to),
  };
}

const MAX_RANGE = 65536;

/** Integers of a small range are indexed by a table, which costs less than compressing them. */
function indexIntegers(values: SmallIntegers, from: number, to: number): Dictionary | undefined {
  const count = to - from;
  if (count < 32) return undefined;
  let least = values[from]!;
  let most = least;
  for (let index = from; index < to; index++) {
    const value = values[index]!;
    if (value < least) least = value;
    else if (value > most) most = value;
  }
  if (most - least >= MAX_RANGE) return undefined;
  const places = new Int32Array(most - least + 1).fill(-1);
  const entries = new Int32Array(Math.min(count, places.length));
  const codes = new Int32Array(count);
  let size = 0;
  for (let index = 0; index < count; index++) {
    const value = values[from + index]!;
    let place = places[value - least]!;
    if (place < 0) {
      entries[size] = value;
      place = size++;
      places[value - least] = place;
    }
    codes[index] = place;
  }
  if (size * 32 + count * bitsFor(size) > count * 24) return undefined;
  return { plain: viewBytes(entries, 0, size), size, codes };
}

function storedText(values: readonly string[]): Stored {
  return {
    type: 'BYTE_ARRAY',
    converted: 'UTF8',
    width: 16,
    plain: (from, to) => packTexts(values.slice(from, to)),
    dictionary: (from, to) => {
      const places = new Map<string, number>();
      const codes = new Int32Array(to - from);
      for (let index = from; index < to; index++) {
        let place = places.get(values[index]!);
        if (place === undefined) {
          place = places.size;
          if (place >= MAX_RANGE || place > (to - from) / 2) return undefined;
          places.set(values[index]!, place);
        }
        codes[index - from] = place;
      }
      if (to === from) return undefined;
      return { plain: packTexts([...places.keys()]), size: places.size, codes };
    },
  };
}

function packTexts(texts: readonly string[]): Uint8Array {
  const encoder = new TextEncoder();
  const parts = texts.map((text) => encoder.encode(text));
  const out = new Uint8Array(parts.reduce((sum, part) => sum + 4 + part.length, 0));
  const view = new DataView(out.buffer);
  let at = 0;
  for (const part of parts) {
    view.setUint32(at, part.length, true);
    out.set(part, at + 4);
    at += 4 + part.length;
  }
  return out;
}

function packBooleans(values: Values, from: number, to: number): Uint8Array {
  const out = new Uint8Array(Math.ceil((to - from) / 8));
  if (values instanceof Uint8Array) {
    let at = 0;
    let index = from;
    for (; index + 8 <= to; index += 8) {
      out[at++] =
        (values[index] ? 1 : 0) |
        (values[index + 1] ? 2 : 0) |
        (values[index + 2] ? 4 : 0) |
        (values[index + 3] ? 8 : 0) |
        (values[index + 4] ? 16 : 0) |
        (values[index + 5] ? 32 : 0) |
        (values[index + 6] ? 64 : 0) |
        (values[index + 7] ? 128 : 0);
    }
    for (let bit = 0; index < to; index++, bit++) if (values[index]) out[at]! |= 1 << bit;
    return out;
  }
  for (let index = from; index < to; index++) if (values[index]) out[(index - from) >> 3]! |= 1 << ((index - from) & 7);
  return out;
}

/** Whole numbers held as floats, as 64-bit integers. */
function wholeNumbers(values: Values, from: number, to: number): Uint8Array {
  const halves = new Int32Array(2 * (to - from));
  for (let index = from; index < to; index++) {
    const value = Number(values[index]);
    if (!Number.isSafeInteger(value)) {
      throw new RangeError(
        `an integer column holds ${value} at value ${index}; write it as a float column or give it whole numbers below 2^53`,
      );
    }
    const at = 2 * (index - from);
    halves[at] = value | 0;
    halves[at + 1] = Math.floor(value / 4294967296);
  }
  return viewBytes(halves, 0, halves.length);
}

export function bitsFor(size: number): number {
  return Math.max(1, 32 - Math.clz32(size - 1));
}

/** Room for the runs of `count` values, headers included. */
function runsRoom(count: number, width: number): number {
  return 16 + Math.ceil((count + 8) / 8) * (width + 6);
}

/** The bit width, then runs: repeated values from 16 on, groups of eight otherwise. */
export function packIndices(codes: Int32Array, from: number, to: number, width: number): Uint8Array {
  const out = new Uint8Array(1 + runsRoom(to - from, width));
  out[0] = width;
  let at = 1;
  let packedFrom = from;
  let index = from;
  while (index < to) {
    const value = codes[index]!;
    let end = index + 1;
    while (end < to && codes[end] === value) end++;
    // A run may begin only where the groups before it are whole.
    const begin = Math.min(end, packedFrom + 8 * Math.ceil((index - packedFrom) / 8));
    if (end - begin < 16) {
      index = end;
      continue;
    }
    if (begin > packedFrom) at = packGroups(codes, packedFrom, begin, width, out, at);
    at = putVarint(out, at, (end - begin) * 2);
    for (let shift = 0; shift < width; shift += 8) out[at++] = value >>> shift;
    packedFrom = end;
    index = end;
  }
  if (packedFrom < to) at = packGroups(codes, packedFrom, to, width, out, at);
  return out.subarray(0, at);
}

function packGroups(codes: Int32Array, from: number, to: number, width: number, out: Uint8Array, at: number): number {
  const groups = Math.ceil((to - from) / 8);
  at = putVarint(out, at, groups * 2 + 1);
  const end = at + groups * width;
  let held = 0;
  let bits = 0;
  for (let index = from; index < to; index++) {
    held |= codes[index]! << bits;
    bits += width;
    while (bits >= 8) {
      out[at++] = held;
      held >>>= 8;
      bits -= 8;
    }
  }
  if (bits > 0) out[at] = held;
  return end;
}

function putVarint(out: Uint8Array, at: number, value: number): number {
  while (value >= 128) {
    out[at++] = (value & 127) | 128;
    value = Math.floor(value / 128);
  }
  out[at++] = value;
  return at;
}

export interface Levels {
  bytes: Uint8Array;
  entries: number;
}

/** Repetition and definition levels of rows [from, to): a list has one entry for each element, and an empty one a single entry. */
export function packLevels(offsets: Offsets, from: number, to: number): Levels {
  let empty = 0;
  for (let row = from; row < to; row++) if (offsets[row + 1] === offsets[row]) empty++;
  const first = offsets[from]!;
  const entries = offsets[to]! - first + empty;
  const groups = Math.ceil(entries / 8);
  const out = new Uint8Array(32 + 2 * groups);
  const view = new DataView(out.buffer);
  let at = putVarint(out, 4, groups * 2 + 1);
  out.fill(255, at, at + groups);
  let skipped = 0;
  for (let row = from; row < to; row++) {
    const entry = offsets[row]! - first + skipped;
    out[at + (entry >>> 3)]! &= ~(1 << (entry & 7));
    if (offsets[row + 1] === offsets[row]) skipped++;
  }
  at += groups;
  view.setUint32(0, at - 4, true);
  const start = at;
  at += 4;
  if (empty === 0 || empty === entries) {
    at = putVarint(out, at, entries * 2);
    out[at++] = empty === 0 ? 1 : 0;
  } else {
    at = putVarint(out, at, groups * 2 + 1);
    out.fill(255, at, at + groups);
    skipped = 0;
    for (let row = from; row < to; row++) {
      if (offsets[row + 1] !== offsets[row]) continue;
      const entry = offsets[row]! - first + skipped++;
      out[at + (entry >>> 3)]! &= ~(1 << (entry & 7));
    }
    at += groups;
  }
  view.setUint32(start, at - start - 4, true);
  return { bytes: out.subarray(0, at), entries };
}

/** Throws where a column could not be written as it is: that is a mistake of the caller, not of a file. */
export function checkColumn(name: string, column: Column, rows: number): void {
  const { offsets, values } = column as NumberColumn;
  if (column.rows !== rows)
    throw new RangeError(`column ${name} has ${column.rows} rows where the others have ${rows}`);
  if (offsets === undefined) {
    if (values.length !== rows) throw new RangeError(`column ${name} has ${values.length} values for ${rows} rows`);
    return;
  }
  if (offsets.length !== rows + 1)
    throw new RangeError(`column ${name} has ${offsets.length} offsets for ${rows} rows; it needs one more than rows`);
  let before = 0;
  for (let row = 0; row <= rows; row++) {
    if (!(offsets[row]! >= before)) throw new RangeError(`column ${name} has offsets that decrease at row ${row}`);
    before = offsets[row]!;
  }
  if (before > values.length)
    throw new RangeError(`column ${name} has offsets to ${before} and ${values.length} values`);
}
