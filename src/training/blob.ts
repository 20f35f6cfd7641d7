/** Plain data with typed arrays as one block of bytes, and back bit for bit. Numbers outside typed arrays go through JSON, so NaN belongs in an array. */
import { BadInput } from '../recording/bad-input.ts';

const kinds = { Float32Array, Float64Array, Int32Array, Uint8Array } as const;
type Kind = keyof typeof kinds;
type Arrays = InstanceType<(typeof kinds)[Kind]>;

const magic = 'trueline/checkpoint/1\n';

/** Text, a length, JSON in which an array is { "$": kind, at, length }, and then the arrays, each on a multiple of 8 bytes. */
export function toBytes(data: unknown): Uint8Array {
  const arrays: Arrays[] = [];
  let size = 0;
  const header = JSON.stringify(data, (_key, value: unknown) => {
    if (!ArrayBuffer.isView(value)) return value;
    const kind = value.constructor.name as Kind;
    if (!(kind in kinds)) throw new TypeError(`a checkpoint cannot hold a ${kind}`);
    const array = value as Arrays;
    const at = size;
    arrays.push(array);
    size += Math.ceil(array.byteLength / 8) * 8;
    return { $: kind, at, length: array.length };
  });
  const text = new TextEncoder().encode(`${magic}${header.length}\n${header}`);
  const start = Math.ceil(text.length / 8) * 8;
  const bytes = new Uint8Array(start + size);
  bytes.fill(0x20, text.length, start);
  bytes.set(text);
  let at = start;
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at += Math.ceil(array.byteLength / 8) * 8;
  }
  return bytes;
}

export function fromBytes(given: Uint8Array): unknown {
  // A Buffer of Node is a Uint8Array whose slices are not copies, so it is seen as a plain one.
  const bytes = new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
  // Text before the arrays may hold any character, so lengths are counted in characters and bytes apart.
  const head = new TextDecoder().decode(bytes.subarray(0, magic.length + 24));
  const newline = head.indexOf('\n', magic.length);
  if (!head.startsWith(magic) || newline < 0)
    throw new BadInput(
      `the checkpoint does not begin with ${JSON.stringify(magic.trim())}; give the file that a run saved`,
    );
  const characters = Number(head.slice(magic.length, newline));
  const decoded = new TextDecoder().decode(
    bytes.subarray(newline + 1, Math.min(bytes.length, newline + 1 + characters * 3)),
  );
  const header = decoded.slice(0, characters);
  const start = Math.ceil((newline + 1 + new TextEncoder().encode(header).length) / 8) * 8;
  try {
    return JSON.parse(header, (_key, value: unknown) => {
      const place = value as { $?: Kind; at: number; length: number } | null;
      if (typeof place !== 'object' || place === null || place.$ === undefined) return value;
      const kind = kinds[place.$];
      const from = start + place.at;
      const slice = bytes.slice(from, from + place.length * kind.BYTES_PER_ELEMENT);
      return new kind(slice.buffer, 0, place.length);
    });
  } catch {
    throw new BadInput('the checkpoint is cut off or damaged; take the one before it');
  }
}
