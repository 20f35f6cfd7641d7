/** Plain data with typed arrays as one block of bytes, and back bit for bit. Numbers outside typed arrays go through JSON, so NaN belongs in an array. */
import { told } from '../language/language.ts';
import { BadInput } from '../recording/bad-input.ts';
import { codec } from '../recording/files/codec.ts';

const kinds = { Float32Array, Float64Array, Int32Array, Uint8Array } as const;
type Kind = keyof typeof kinds;
type Arrays = InstanceType<(typeof kinds)[Kind]>;

const magic = 'trueline/checkpoint/2\n';

/** The magic word, a checksum of all that follows it, a length, JSON in which an array is { "$": kind, at, length }, and then the arrays, each on a multiple of 8 bytes. */
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
  const text = new TextEncoder().encode(`${magic}${'0'.repeat(sumLength)}\n${header.length}\n${header}`);
  const start = Math.ceil(text.length / 8) * 8;
  const bytes = new Uint8Array(start + size);
  bytes.fill(0x20, text.length, start);
  bytes.set(text);
  let at = start;
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at += Math.ceil(array.byteLength / 8) * 8;
  }
  bytes.set(new TextEncoder().encode(sumOf(bytes)), magic.length);
  return bytes;
}

/** Hexadecimal digits of a CRC-32, which no flipped bit passes. */
const sumLength = 8;
const sumEnd = magic.length + sumLength + 1;

function sumOf(bytes: Uint8Array): string {
  return codec().crc32(bytes.subarray(sumEnd)).toString(16).padStart(sumLength, '0');
}

export function fromBytes(given: Uint8Array): unknown {
  // A Buffer of Node is a Uint8Array whose slices are not copies, so it is seen as a plain one.
  const bytes = new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
  const head = new TextDecoder().decode(bytes.subarray(0, sumEnd + 24));
  if (!head.startsWith(magic))
    throw new BadInput(
      told(
        `the checkpoint does not begin with ${JSON.stringify(magic.trim())}; give the file that a run of this version saved`,
        `检查点不以 ${JSON.stringify(magic.trim())} 开头；请给出本版本的训练所保存的文件`,
      ),
    );
  if (head.slice(magic.length, sumEnd) !== `${sumOf(bytes)}\n`)
    throw new BadInput(
      told(
        'the checkpoint is cut off or damaged: its bytes do not give the checksum that it carries',
        '检查点被截断或已损坏：其字节与所带的校验和不符',
      ),
    );
  // Text before the arrays may hold any character, so lengths are counted in characters and bytes apart.
  const newline = head.indexOf('\n', sumEnd);
  const characters = Number(head.slice(sumEnd, newline));
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
  } catch (error) {
    throw new BadInput(
      told(
        `the checkpoint cannot be read (${(error as Error).message})`,
        `检查点无法读取（${(error as Error).message}）`,
      ),
    );
  }
}
