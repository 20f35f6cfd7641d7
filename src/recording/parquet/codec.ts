/** Decompression of pages to an exact length. A page may claim any length, so the most that each codec can expand to bounds what is allocated. */

import { gunzipSync } from 'fflate';
import { xxhash64 } from 'hyparquet/src/xxhash.js';
import { compressors, decompressZstd } from 'hyparquet-compressors';
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import { codec } from '../files/codec.ts';
import type { ReadOptions } from './types.ts';

/** Bytes out per byte in: a 3-byte copy of 64, deflate's limit, a 4-byte block of 128 KiB. */
const EXPANSION: Record<string, number> = { SNAPPY: 22, GZIP: 1032, ZSTD: 32768 };
const MAX_ZSTD_WINDOW = 2 ** 27;

export function decompress(codec: string, bytes: Uint8Array, length: number, options: ReadOptions): Uint8Array {
  if (codec === 'UNCOMPRESSED') {
    if (bytes.length !== length) {
      throw new BadInput(
        told(
          `an uncompressed page has ${bytes.length} bytes and claims ${length}, so the file is damaged`,
          `未压缩的页有 ${bytes.length} 字节，却声称有 ${length}，文件已损坏`,
        ),
      );
    }
    return bytes;
  }
  const expansion = EXPANSION[codec];
  if (expansion === undefined) {
    throw new BadInput(
      told(
        `the codec ${codec} is not read; write the table with snappy, gzip, zstd or no compression`,
        `不读取编码方式 ${codec}；请用 snappy、gzip、zstd 或不压缩写表`,
      ),
    );
  }
  if (length > 64 + expansion * bytes.length) {
    throw new BadInput(
      told(
        `a ${codec} page of ${bytes.length} bytes claims to expand to ${length}, which cannot be, so the file is damaged`,
        `${bytes.length} 字节的 ${codec} 页声称解压为 ${length} 字节，这不可能，文件已损坏`,
      ),
    );
  }
  if (length === 0) return new Uint8Array(0);
  let out: Uint8Array;
  try {
    if (codec === 'SNAPPY') out = unsnappy(bytes, length);
    else if (codec === 'GZIP')
      out = options.decompress?.gzip ? options.decompress.gzip(bytes, length) : gunzip(bytes, length);
    else out = options.decompress?.zstd ? options.decompress.zstd(bytes, length) : unzstd(bytes, length);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new BadInput(
      told(
        `a page cannot be decompressed (${codec}: ${why}), so the file is damaged`,
        `有一页无法解压（${codec}：${why}），文件已损坏`,
      ),
    );
  }
  if (out.length !== length) {
    throw new BadInput(
      told(
        `a ${codec} page expands to ${out.length} bytes where ${length} belong, so the file is damaged`,
        `${codec} 页解压为 ${out.length} 字节，而应是 ${length}，文件已损坏`,
      ),
    );
  }
  return out;
}

function unsnappy(bytes: Uint8Array, length: number): Uint8Array {
  let stated = 0;
  let at = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = bytes[at++] ?? 0;
    stated += (byte & 127) * 2 ** shift;
    if (byte < 128) break;
  }
  if (stated !== length) throw new Error(`length ${stated} instead of ${length}`);
  return compressors.SNAPPY!(bytes, length);
}

/** The library inflates and does not look at the checksum that gzip ends with. */
function gunzip(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length < 18) throw new Error('too short');
  const out = gunzipSync(bytes, { out: new Uint8Array(length) });
  const end = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 8, 8);
  if (end.getUint32(4, true) !== length >>> 0) throw new Error(`length ${end.getUint32(4, true)} instead of ${length}`);
  if (end.getUint32(0, true) !== codec().crc32(out)) throw new Error('the checksum does not match');
  return out;
}

/** The library allocates whatever window or length a frame claims and does not look at its checksum, so the frame's header is checked here. */
function unzstd(bytes: Uint8Array, length: number): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 9 || view.getUint32(0, true) !== 0xfd2fb528) throw new Error('no zstd frame');
  const descriptor = bytes[4]!;
  const single = (descriptor & 32) !== 0;
  const sizeBytes = [single ? 1 : 0, 2, 4, 8][descriptor >> 6]!;
  let at = 5;
  if (!single) {
    const window = bytes[at++]!;
    const base = 2 ** (10 + (window >> 3));
    if (base + (base / 8) * (window & 7) > Math.max(MAX_ZSTD_WINDOW, length))
      throw new Error('the window is too large');
  }
  at += [0, 1, 2, 4][descriptor & 3]!;
  if (at + sizeBytes > bytes.length) throw new Error('cut off');
  let stated = 0;
  for (let byte = sizeBytes - 1; byte >= 0; byte--) stated = stated * 256 + bytes[at + byte]!;
  if (sizeBytes === 2) stated += 256;
  if (sizeBytes > 0 && stated !== length) throw new Error(`length ${stated} instead of ${length}`);
  const out = decompressZstd(bytes);
  if ((descriptor & 4) !== 0) {
    const sum = view.getUint32(bytes.length - 4, true);
    if (Number(xxhash64(out) & 0xffffffffn) !== sum) throw new Error('the checksum does not match');
  }
  return out;
}
