/** Inflating, deflating and checksums: fflate everywhere, and Node's own zlib where node.ts has put it in. Inflating never yields more than it was told to expect. */
import { deflateSync, Gunzip, Inflate } from 'fflate';
import { BadInput } from './bad-input.ts';

export interface Codec {
  crc32(bytes: Uint8Array, before?: number): number;
  /** Exactly `size` bytes, or an error. */
  inflateRaw(bytes: Uint8Array, size: number): Promise<Uint8Array<ArrayBuffer>>;
  deflateRaw(bytes: Uint8Array): Promise<Uint8Array>;
  gzip(bytes: Uint8Array): Promise<Uint8Array>;
  /** Pieces of the unpacked stream, in order; throws BadInput on damage. */
  gunzip(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
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

const pageCodec: Codec = {
  crc32,
  inflateRaw: async (bytes, size) => {
    const out = new Uint8Array(size);
    let at = 0;
    const inflate = new Inflate((piece) => {
      if (at + piece.length > size) throw new BadInput('unpacks to more bytes than its directory declares');
      out.set(piece, at);
      at += piece.length;
    });
    // Pushed piece by piece, so that a bomb is noticed before it has grown.
    guarded(() => {
      for (let i = 0; i < bytes.length; i += 65536) inflate.push(bytes.subarray(i, i + 65536), i + 65536 >= bytes.length);
    });
    if (at !== size) throw new BadInput(`unpacks to ${at} bytes where its directory declares ${size}`);
    return out;
  },
  deflateRaw: async (bytes) => deflateSync(bytes, { level: 6 }),
  gzip: async (bytes) => (await import('fflate')).gzipSync(bytes, { level: 6 }),
  async *gunzip(pieces) {
    let ready: Uint8Array[] = [];
    const gunzip = new Gunzip((piece) => ready.push(piece));
    let ended = false;
    for await (const piece of pieces) {
      guarded(() => gunzip.push(piece, false));
      yield* ready;
      ready = [];
      ended = true;
    }
    if (ended) guarded(() => gunzip.push(new Uint8Array(0), true));
    yield* ready;
  },
};

function guarded(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (error instanceof BadInput) throw error;
    throw new BadInput('the compressed data is damaged or cut off');
  }
}

let current = pageCodec;

export function codec(): Codec {
  return current;
}

/** Node's zlib, which is faster; called once by node.ts. */
export function useCodec(faster: Partial<Codec>): void {
  current = { ...pageCodec, ...faster };
}
