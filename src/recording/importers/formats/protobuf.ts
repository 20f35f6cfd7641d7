/** Protocol buffers, as far as reading event files needs them: the fields of one message, in order. A damaged message throws a RangeError. */

export interface Field {
  number: number;
  /** 0 varint, 1 eight bytes, 2 bytes, 5 four bytes. */
  wire: number;
  /** The value of a varint; whole numbers beyond 2^53 lose their last digits. */
  value: number;
  /** The bytes of every other kind. */
  bytes: Uint8Array;
}

const none = new Uint8Array(0);

export function* fields(message: Uint8Array): Generator<Field> {
  const at = { at: 0 };
  while (at.at < message.length) {
    const tag = varint(message, at);
    const [number, wire] = [Math.floor(tag / 8), tag % 8];
    if (wire === 0) {
      yield { number, wire, value: varint(message, at), bytes: none };
      continue;
    }
    const length = wire === 1 ? 8 : wire === 5 ? 4 : wire === 2 ? varint(message, at) : -1;
    if (number === 0 || length < 0 || at.at + length > message.length) throw new RangeError('damaged message');
    yield { number, wire, value: 0, bytes: message.subarray(at.at, at.at + length) };
    at.at += length;
  }
}

/** Signed as two's complement of 64 bits, so that -1 is read as -1. */
function varint(bytes: Uint8Array, position: { at: number }): number {
  let low = 0;
  let high = 0;
  for (let shift = 0; shift < 70; shift += 7) {
    if (position.at >= bytes.length) throw new RangeError('damaged number');
    const byte = bytes[position.at++];
    if (shift < 28) low += (byte & 127) * 2 ** shift;
    else high += (byte & 127) * 2 ** (shift - 28);
    if (byte < 128) {
      const whole = high * 2 ** 28 + low;
      return whole >= 2 ** 63 ? (high - 2 ** 36) * 2 ** 28 + low : whole;
    }
  }
  throw new RangeError('damaged number');
}

/** A packed list of varints. */
export function varints(bytes: Uint8Array): number[] {
  const position = { at: 0 };
  const out: number[] = [];
  while (position.at < bytes.length) out.push(varint(bytes, position));
  return out;
}

export function float32(bytes: Uint8Array, index = 0): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getFloat32(4 * index, true);
}

export function float64(bytes: Uint8Array, index = 0): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getFloat64(8 * index, true);
}

const decoder = new TextDecoder();

export function text(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
