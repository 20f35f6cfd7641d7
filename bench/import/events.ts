/** An encoder of event files for tests, written from the format's description and sharing nothing with the reader but the checksum's published test values. */

/** Bit by bit, as the polynomial is defined. */
function checksum(bytes: readonly number[]): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    for (let bit = 0; bit < 8; bit++) {
      const mix = (crc ^ (byte >> bit)) & 1;
      crc = (crc >>> 1) ^ (mix ? 0x82f63b78 : 0);
    }
  }
  return (crc ^ 0xffffffff) >>> 0;
}

const little = (value: bigint, bytes: number) =>
  Array.from({ length: bytes }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));

function masked(bytes: readonly number[]): number[] {
  const crc = BigInt(checksum(bytes));
  const rotated = ((crc >> 15n) | (crc << 17n)) & 0xffffffffn;
  return little((rotated + 0xa282ead8n) & 0xffffffffn, 4);
}

export function frame(data: readonly number[]): number[] {
  const length = little(BigInt(data.length), 8);
  return [...length, ...masked(length), ...data, ...masked(data)];
}

export function varint(value: number | bigint): number[] {
  let rest = BigInt.asUintN(64, BigInt(value));
  const out: number[] = [];
  do {
    out.push(Number(rest & 127n) | (rest > 127n ? 128 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return out;
}

export const bytesField = (number: number, bytes: readonly number[]) => [
  ...varint(number * 8 + 2),
  ...varint(bytes.length),
  ...bytes,
];
export const textField = (number: number, words: string) => bytesField(number, [...new TextEncoder().encode(words)]);
export const varintField = (number: number, value: number | bigint) => [...varint(number * 8), ...varint(value)];
export const doubles = (...values: number[]) => [...new Uint8Array(Float64Array.from(values).buffer)];
export const floats = (...values: number[]) => [...new Uint8Array(Float32Array.from(values).buffer)];

/** The value part of a summary: a tag and whatever holds its number. */
export const simpleValue = (value: number) => [...varint(2 * 8 + 5), ...floats(value)];
export const tensorValue = (...parts: number[][]) => bytesField(8, parts.flat());

export function event(
  step: number | bigint,
  time: number,
  values: readonly (readonly [tag: string, value: number[]])[],
): number[] {
  const summary = values.flatMap(([tag, value]) => bytesField(1, [...textField(1, tag), ...value]));
  return [...varint(1 * 8 + 1), ...doubles(time), ...varintField(2, step), ...bytesField(5, summary)];
}

export const fileVersion = [...varint(9), ...doubles(1.7e9), ...textField(3, 'brain.Event:2')];

export function eventFile(...events: number[][]): Uint8Array {
  return Uint8Array.from([fileVersion, ...events].flatMap(frame));
}
