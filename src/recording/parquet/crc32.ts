/** CRC-32 as in gzip and in Parquet page headers, eight bytes at a time. The result is unsigned, while Thrift stores it signed. */

const tables = Array.from({ length: 8 }, () => new Uint32Array(256));
for (let byte = 0; byte < 256; byte++) {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit++) remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1;
  tables[0]![byte] = remainder;
}
for (let distance = 1; distance < 8; distance++) {
  for (let byte = 0; byte < 256; byte++) {
    const nearer = tables[distance - 1]![byte]!;
    tables[distance]![byte] = (nearer >>> 8) ^ tables[0]![nearer & 255]!;
  }
}
const [table0, table1, table2, table3, table4, table5, table6, table7] = tables as [
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
];

export function crc32(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = bytes.length & ~7;
  let sum = -1;
  let at = 0;
  for (; at < whole; at += 8) {
    const low = view.getInt32(at, true) ^ sum;
    const high = view.getInt32(at + 4, true);
    sum =
      table7[low & 255]! ^
      table6[(low >>> 8) & 255]! ^
      table5[(low >>> 16) & 255]! ^
      table4[low >>> 24]! ^
      table3[high & 255]! ^
      table2[(high >>> 8) & 255]! ^
      table1[(high >>> 16) & 255]! ^
      table0[high >>> 24]!;
  }
  for (; at < bytes.length; at++) sum = (sum >>> 8) ^ table0[(sum ^ bytes[at]!) & 255]!;
  return ~sum >>> 0;
}
