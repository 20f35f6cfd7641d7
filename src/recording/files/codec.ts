/** Inflating, deflating and checksums: the web's streams everywhere, and Node's own zlib where node.ts has put it in. Inflating never yields more than it was told to expect. */
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import { join } from '../source.ts';

export interface Codec {
  crc32(bytes: Uint8Array, before?: number): number;
  /** Exactly `size` bytes, or an error. */
  inflateRaw(bytes: Uint8Array, size: number): Promise<Uint8Array<ArrayBuffer>>;
  deflateRaw(bytes: Uint8Array): Promise<Uint8Array>;
  gzip(bytes: Uint8Array): Promise<Uint8Array>;
  /** Pieces of the unpacked stream, in order; throws BadInput on damage. */
  gunzip(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  /** Where the platform has them at once: for the pages of Parquet, to an exact length. */
  gunzipWhole?(bytes: Uint8Array, size: number): Uint8Array;
  unzstd?(bytes: Uint8Array, size: number): Uint8Array;
  zstd?(bytes: Uint8Array): Uint8Array;
}

const table = new Uint32Array(16 * 256);
for (let n = 0; n < 256; n++) {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  table[n] = c;
}
for (let n = 0; n < 256; n++) {
  for (let k = 1; k < 16; k++) {
    const before = table[(k - 1) * 256 + n];
    table[k * 256 + n] = table[before & 255] ^ (before >>> 8);
  }
}

/** CRC-32 as zip uses it, sixteen bytes at a time. */
export function crc32(bytes: Uint8Array, before = 0): number {
  let c = ~before;
  let i = 0;
  const blocks = bytes.length - 15;
  for (; i < blocks; i += 16) {
    c =
      table[15 * 256 + ((c ^ bytes[i]) & 255)] ^
      table[14 * 256 + (((c >>> 8) ^ bytes[i + 1]) & 255)] ^
      table[13 * 256 + (((c >>> 16) ^ bytes[i + 2]) & 255)] ^
      table[12 * 256 + ((c >>> 24) ^ bytes[i + 3])] ^
      table[11 * 256 + bytes[i + 4]] ^
      table[10 * 256 + bytes[i + 5]] ^
      table[9 * 256 + bytes[i + 6]] ^
      table[8 * 256 + bytes[i + 7]] ^
      table[7 * 256 + bytes[i + 8]] ^
      table[6 * 256 + bytes[i + 9]] ^
      table[5 * 256 + bytes[i + 10]] ^
      table[4 * 256 + bytes[i + 11]] ^
      table[3 * 256 + bytes[i + 12]] ^
      table[2 * 256 + bytes[i + 13]] ^
      table[256 + bytes[i + 14]] ^
      table[bytes[i + 15]];
  }
  for (; i < bytes.length; i++) c = table[(c ^ bytes[i]) & 255] ^ (c >>> 8);
  return ~c >>> 0;
}

/** The platform's own streams, which check what they unpack. */
async function* through(
  stream: CompressionStream | DecompressionStream,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  const source = new ReadableStream<BufferSource>({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
  });
  const reader = (source.pipeThrough(stream) as ReadableStream<Uint8Array>).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (error) {
    if (error instanceof BadInput) throw error;
    throw new BadInput(told('the compressed data is damaged or cut off', '压缩数据已损坏或被截断'));
  } finally {
    // Whoever stops listening early must not leave the rest waiting.
    reader.cancel().catch(() => undefined);
  }
}

async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < bytes.length; i += 65536) yield bytes.subarray(i, i + 65536);
}

async function whole(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return join(parts);
}

const pageCodec: Codec = {
  crc32,
  inflateRaw: async (bytes, size) => {
    const out = new Uint8Array(size);
    let at = 0;
    for await (const piece of through(new DecompressionStream('deflate-raw'), inPieces(bytes))) {
      if (at + piece.length > size)
        throw new BadInput(
          told('unpacks to more bytes than its directory declares', '解压后的字节数超过其目录所声明的'),
        );
      out.set(piece, at);
      at += piece.length;
    }
    if (at !== size)
      throw new BadInput(
        told(
          `unpacks to ${at} bytes where its directory declares ${size}`,
          `解压后有 ${at} 字节，而其目录声明的是 ${size}`,
        ),
      );
    return out;
  },
  deflateRaw: (bytes) => whole(through(new CompressionStream('deflate-raw'), inPieces(bytes))),
  gzip: (bytes) => whole(through(new CompressionStream('gzip'), inPieces(bytes))),
  gunzip: (pieces) => through(new DecompressionStream('gzip'), pieces),
};

let current = pageCodec;

export function codec(): Codec {
  return current;
}

/** Node's zlib, which is faster; called once by node.ts. */
export function useCodec(faster: Partial<Codec>): void {
  current = { ...pageCodec, ...faster };
}
