/** DELTA_BINARY_PACKED integers. The library unpacks them and believes whatever a page's header states, so the header is checked first. */

import { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import { readVarInt } from 'hyparquet/src/thrift.js';
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';

/** Writes `count` values to out[from ..) and returns the position after them. A page that ends too early is a RangeError. */
export function readDeltas(
  bytes: Uint8Array,
  start: number,
  out: Int32Array | BigInt64Array,
  from: number,
  count: number,
): number {
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: start };
  const [blockSize, miniblocks, total] = [readVarInt(reader), readVarInt(reader), readVarInt(reader)];
  const perMiniblock = blockSize / miniblocks;
  const isSound = miniblocks > 0 && perMiniblock > 0 && perMiniblock % 8 === 0 && blockSize <= 2 ** 20;
  if (total !== count || !isSound) {
    throw new BadInput(
      told(
        `a page of differences has ${total} values in blocks of ${blockSize} where ${count} belong, so the file is damaged`,
        `差分页在大小为 ${blockSize} 的块里有 ${total} 个值，而应是 ${count}，文件已损坏`,
      ),
    );
  }
  const first = firstOf(reader);
  reader.offset = start;
  const page = out.subarray(from, from + count);
  deltaBinaryUnpack(reader, count, page);
  if (page instanceof Int32Array && page.length > 0) shift(page, (first - page[0]!) | 0);
  return reader.offset;
}

/** The low 32 bits of the first value. An unsigned one may take 33 bits before it is unfolded, and the library drops the last of them. */
function firstOf(reader: { view: DataView; offset: number }): number {
  const { offset } = reader;
  const low = readVarInt(reader);
  const high = reader.offset - offset >= 5 ? (reader.view.getUint8(offset + 4) >>> 4) & 1 : 0;
  return ((low >>> 1) | (high << 31)) ^ -(low & 1);
}

/** Sums wrap around at 32 bits, so that a wrong first value moves all values by the same. */
function shift(values: Int32Array, by: number): void {
  if (by !== 0) for (let index = 0; index < values.length; index++) values[index]! += by;
}
