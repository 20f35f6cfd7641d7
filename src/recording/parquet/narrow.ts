/** From what Parquet stores to what a column is: small integers get small arrays, 64-bit ones the narrowest exact form, nulls NaN. */

import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import type { Values } from '../column.ts';
import type { Leaf } from './schema.ts';
import type { ReadColumn } from './types.ts';
import type { Store } from './values.ts';

export function finish(
  leaf: Leaf,
  rows: number,
  store: Store,
  filled: number,
  offsets: Int32Array | undefined,
  nulls: Uint8Array | undefined,
): ReadColumn {
  const missing = nulls ? { nulls: nulls.reduce((sum, mark) => sum + mark, 0), nullAt: nulls.indexOf(1) } : {};
  if (Array.isArray(store)) return { kind: 'text', rows, values: store, ...missing };
  const whole = filled < store.length ? store.slice(0, filled) : store;
  const ragged = offsets ? { offsets } : {};
  const kind = leaf.kind as 'int' | 'float' | 'bool';
  if (kind === 'int') {
    const values =
      whole instanceof BigInt64Array ? narrowWide(whole, leaf.signed) : narrowInteger(whole as Int32Array, leaf);
    if (nulls) return { kind: 'float', rows, values: floatsWithNulls(values, nulls), ...missing };
    return { kind, rows, values, ...ragged };
  }
  if (kind === 'bool' && nulls) return { kind: 'float', rows, values: floatsWithNulls(whole, nulls), ...missing };
  return { kind, rows, values: whole, ...ragged, ...missing };
}

function narrowInteger(values: Int32Array, { bits, signed }: Leaf): Values {
  if (bits === 32) return signed ? values : new Uint32Array(values.buffer, values.byteOffset, values.length);
  const least = signed ? -(2 ** (bits - 1)) : 0;
  const most = signed ? 2 ** (bits - 1) - 1 : 2 ** bits - 1;
  for (let index = 0; index < values.length; index++) {
    if (values[index]! < least || values[index]! > most) {
      throw new BadInput(
        told(
          `a value is ${values[index]} where the type allows ${least} to ${most}, so the file is damaged`,
          `有一个值是 ${values[index]}，而类型允许 ${least} 到 ${most}，文件已损坏`,
        ),
      );
    }
  }
  if (bits === 8) return signed ? new Int8Array(values) : new Uint8Array(values);
  return signed ? new Int16Array(values) : new Uint16Array(values);
}

/** Int32Array where all fit, else Float64Array where all are exact, else the 64-bit array. Reads halves, so no bigint is made on the way. */
function narrowWide(values: BigInt64Array, signed: boolean): Values {
  const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  let small = true;
  let exact = true;
  for (let index = 0; index < halves.length; index += 2) {
    const high = halves[index + 1]!;
    if (high !== halves[index]! >> 31 || (!signed && high < 0)) {
      small = false;
      // Exact below 2^53 and at or above -2^53 + 1; a high half of -2^21 with a low one of 0 is -2^53 itself.
      if (high >= 2097152 || high < -2097152 || (high === -2097152 && halves[index] === 0) || (!signed && high < 0)) {
        exact = false;
        break;
      }
    }
  }
  if (small) {
    const narrow = new Int32Array(values.length);
    for (let index = 0; index < narrow.length; index++) narrow[index] = halves[2 * index]!;
    return narrow;
  }
  if (!exact) return signed ? values : new BigUint64Array(values.buffer, values.byteOffset, values.length);
  const floats = new Float64Array(values.length);
  for (let index = 0; index < floats.length; index++) {
    floats[index] = halves[2 * index + 1]! * 4294967296 + (halves[2 * index]! >>> 0);
  }
  return floats;
}

function floatsWithNulls(values: Values, nulls: Uint8Array): Float64Array {
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    throw new BadInput(
      told(
        'the column has nulls beside integers beyond 2^53, which no float holds exactly; write it without nulls',
        '该列既有空值又有超过 2^53 的整数，浮点数无法精确表示；请不带空值地写',
      ),
    );
  }
  const floats = new Float64Array(values.length);
  for (let index = 0; index < floats.length; index++) floats[index] = nulls[index] ? Number.NaN : values[index]!;
  return floats;
}
