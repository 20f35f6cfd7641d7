/** Zip archives, read by ranges and written entry by entry. The central directory is what counts; local headers only say where the data begins. */
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import { type Budget, type ByteSource, join, type Store } from '../source.ts';
import { codec } from './codec.ts';

export interface ZipEntry {
  readonly path: string;
  readonly method: 0 | 8;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly at: number;
}

const u16 = (b: Uint8Array, i: number) => b[i] | (b[i + 1] << 8);
const u32 = (b: Uint8Array, i: number) => (b[i] | (b[i + 1] << 8) | (b[i + 2] << 16) | (b[i + 3] << 24)) >>> 0;
const u64 = (b: Uint8Array, i: number) => u32(b, i) + u32(b, i + 4) * 2 ** 32;

export async function zipDirectory(source: ByteSource): Promise<ZipEntry[]> {
  const bad = (what: string) =>
    new BadInput(
      told(
        `${what}; the file is damaged, cut off, or not a zip archive`,
        `${what}；文件已损坏、被截断，或不是 zip 压缩包`,
      ),
      { file: source.name },
    );
  if (source.size === 0)
    throw new BadInput(told('the file is empty; a zip archive was expected', '文件是空的；应是 zip 压缩包'), {
      file: source.name,
    });
  const tailStart = Math.max(0, source.size - 65557);
  const tail = await source.read(tailStart, source.size);
  let end = tail.length - 22;
  while (end >= 0 && u32(tail, end) !== 0x06054b50) end--;
  if (end < 0) throw bad(told('no zip directory was found at its end', '末尾没有找到 zip 目录'));
  let count = u16(tail, end + 10);
  let size = u32(tail, end + 12);
  let at = u32(tail, end + 16);
  if (end >= 20 && u32(tail, end - 20) === 0x07064b50) {
    const position = u64(tail, end - 20 + 8);
    if (position + 56 > source.size)
      throw bad(told('its 64-bit directory lies outside of the file', '它的 64 位目录在文件之外'));
    const record = await source.read(position, position + 56);
    if (u32(record, 0) !== 0x06064b50) throw bad(told('its 64-bit directory is missing', '缺少 64 位目录'));
    count = u64(record, 32);
    size = u64(record, 40);
    at = u64(record, 48);
  }
  if (at + size > tailStart + end || count * 46 > size)
    throw bad(told('its directory lies outside of the file', '它的目录在文件之外'));
  const directory = await source.read(at, at + size);
  const entries: ZipEntry[] = [];
  const seen = new Set<string>();
  let i = 0;
  for (let n = 0; n < count; n++) {
    if (i + 46 > directory.length || u32(directory, i) !== 0x02014b50)
      throw bad(told(`entry ${n} of its directory is damaged`, `目录的第 ${n} 项已损坏`));
    const flags = u16(directory, i + 8);
    const method = u16(directory, i + 10);
    const nameLength = u16(directory, i + 28);
    const extraLength = u16(directory, i + 30);
    const next = i + 46 + nameLength + extraLength + u16(directory, i + 32);
    if (next > directory.length) throw bad(told(`entry ${n} of its directory is damaged`, `目录的第 ${n} 项已损坏`));
    const path = new TextDecoder().decode(directory.subarray(i + 46, i + 46 + nameLength));
    let packed = u32(directory, i + 20);
    let full = u32(directory, i + 24);
    let start = u32(directory, i + 42);
    // The 64-bit extra field holds, in this order, only the figures that are all ones in the plain one.
    for (let e = i + 46 + nameLength, stop = e + extraLength; e + 4 <= stop; e += 4 + u16(directory, e + 2)) {
      if (u16(directory, e) !== 1) continue;
      let f = e + 4;
      const fits = () => f + 8 <= stop;
      if (full === 0xffffffff && fits()) {
        full = u64(directory, f);
        f += 8;
      }
      if (packed === 0xffffffff && fits()) {
        packed = u64(directory, f);
        f += 8;
      }
      if (start === 0xffffffff && fits()) start = u64(directory, f);
    }
    const where = { file: `${source.name}/${path}` };
    if (flags & 1)
      throw new BadInput(
        told('the zip entry is encrypted; unpack the archive first', '该 zip 条目已加密；请先解压'),
        where,
      );
    if (method !== 0 && method !== 8) {
      throw new BadInput(
        told(
          `zip method ${method} is not supported; only stored and deflated entries are`,
          `不支持 zip 方法 ${method}；只支持存储和 deflate`,
        ),
        where,
      );
    }
    if (/^[/\\]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)|\0/.test(path)) {
      throw new BadInput(
        told(
          'the zip entry escapes the folder it would be unpacked to; do not trust this archive',
          '该 zip 条目会跑到解压的文件夹之外；不要信任这个压缩包',
        ),
        where,
      );
    }
    if (start + 30 + packed > source.size)
      throw new BadInput(told('the zip entry lies outside of the file', '该 zip 条目在文件之外'), where);
    if (method === 0 && packed !== full)
      throw bad(told(`entry ${path} is stored but its two sizes differ`, `条目 ${path} 未压缩，但两个大小不同`));
    if (seen.has(path))
      throw new BadInput(told('the zip archive holds this entry twice', 'zip 压缩包里这个条目出现了两次'), where);
    seen.add(path);
    if (!path.endsWith('/')) entries.push({ path, method, crc: u32(directory, i + 16), packed, size: full, at: start });
    i = next;
  }
  return entries;
}

/** Where an entry's data begins. */
async function dataStart(source: ByteSource, entry: ZipEntry): Promise<number> {
  const header = await source.read(entry.at, entry.at + 30);
  const start = entry.at + 30 + u16(header, 26) + u16(header, 28);
  if (u32(header, 0) !== 0x04034b50 || start + entry.packed > source.size) {
    throw new BadInput(told('the zip entry is damaged or cut off', '该 zip 条目已损坏或被截断'), {
      file: `${source.name}/${entry.path}`,
    });
  }
  return start;
}

/** The entry's bytes, checked against its checksum. */
export async function readEntry(source: ByteSource, entry: ZipEntry): Promise<Uint8Array<ArrayBuffer>> {
  const file = `${source.name}/${entry.path}`;
  const start = await dataStart(source, entry);
  let bytes = await source.read(start, start + entry.packed);
  if (entry.method === 8) {
    try {
      bytes = await codec().inflateRaw(bytes, entry.size);
    } catch (error) {
      if (error instanceof BadInput) throw error.within({ file });
      throw new BadInput(
        told(`cannot be unpacked (${(error as Error).message})`, `无法解压（${(error as Error).message}）`),
        { file },
      );
    }
  }
  if (codec().crc32(bytes) !== entry.crc) {
    throw new BadInput(
      told(
        'its checksum does not match: the data is damaged; copy the file again',
        '校验和不符：数据已损坏；请重新复制文件',
      ),
      { file },
    );
  }
  return bytes;
}

/** A folder inside one zip archive. One leading folder that holds everything (run/manifest.json ...) is looked through. */
export async function zipStore(source: ByteSource, budget: Budget): Promise<Store> {
  let entries = await zipDirectory(source);
  budget.claim(source.name, 0, source);
  for (const entry of entries) budget.claim(`${source.name}/${entry.path}`, entry.size);
  entries = entries.filter((entry) => !entry.path.startsWith('__MACOSX/'));
  const manifest = entries.map((entry) => entry.path).filter((path) => /^[^/]+\/manifest\.json$/.test(path));
  const prefix =
    manifest.length === 1 && !entries.some((entry) => entry.path === 'manifest.json')
      ? manifest[0].slice(0, -'manifest.json'.length)
      : '';
  const byPath = new Map(
    entries.filter((entry) => entry.path.startsWith(prefix)).map((entry) => [entry.path.slice(prefix.length), entry]),
  );
  return {
    name: source.name,
    budget,
    list: async () => [...byPath.keys()].sort(),
    open: async (path) => {
      const entry = byPath.get(path);
      if (!entry)
        throw new BadInput(told('there is no such file in the archive', '压缩包里没有这个文件'), {
          file: `${source.name}/${path}`,
        });
      const bytes = await readEntry(source, entry);
      return {
        name: `${source.name}/${path}`,
        size: bytes.length,
        stored: 0,
        read: async (start, end) => bytes.slice(start, end),
      };
    },
  };
}

/** Builds an archive piece by piece: each call gives the bytes to append. */
export class ZipBuilder {
  private readonly directory: Uint8Array[] = [];
  private at = 0;
  private count = 0;

  async entry(path: string, parts: readonly Uint8Array[], deflate: boolean): Promise<Uint8Array[]> {
    const name = new TextEncoder().encode(path);
    let crc = 0;
    let size = 0;
    for (const part of parts) {
      crc = codec().crc32(part, crc);
      size += part.length;
    }
    let data = parts;
    let packed = size;
    if (deflate) {
      const whole = parts.length === 1 ? parts[0] : join(parts);
      data = [await codec().deflateRaw(whole)];
      packed = data[0].length;
    }
    const large = size >= 0xffffffff || packed >= 0xffffffff;
    const fixed = (bytes: number) => new DataView(new ArrayBuffer(bytes));
    const local = fixed(30 + (large ? 20 : 0));
    const fields = (view: DataView, i: number) => {
      view.setUint16(i, large ? 45 : 20, true);
      view.setUint16(i + 2, 0x800, true);
      view.setUint16(i + 4, deflate ? 8 : 0, true);
      view.setUint32(i + 6, 0x00210000, true); // 1 January 1980: equal contents make equal bytes.
      view.setUint32(i + 10, crc, true);
      view.setUint32(i + 14, large ? 0xffffffff : packed, true);
      view.setUint32(i + 18, large ? 0xffffffff : size, true);
      view.setUint16(i + 22, name.length, true);
    };
    local.setUint32(0, 0x04034b50, true);
    fields(local, 4);
    local.setUint16(28, large ? 20 : 0, true);
    const far = this.at >= 0xffffffff;
    const extra = (large ? 16 : 0) + (far ? 8 : 0);
    const central = fixed(46 + (extra ? 4 + extra : 0));
    central.setUint32(0, 0x02014b50, true);
    central.setUint16(4, 45, true);
    fields(central, 6);
    central.setUint16(30, extra ? 4 + extra : 0, true);
    central.setUint32(42, far ? 0xffffffff : this.at, true);
    if (large) {
      local.setUint16(30, 1, true);
      local.setUint16(32, 16, true);
      local.setBigUint64(34, BigInt(size), true);
      local.setBigUint64(42, BigInt(packed), true);
    }
    if (extra) {
      central.setUint16(46, 1, true);
      central.setUint16(48, extra, true);
      if (large) {
        central.setBigUint64(50, BigInt(size), true);
        central.setBigUint64(58, BigInt(packed), true);
      }
      if (far) central.setBigUint64(50 + (large ? 16 : 0), BigInt(this.at), true);
    }
    const bytes = (view: DataView) => new Uint8Array(view.buffer);
    // The extra fields follow the name, the fixed fields precede it.
    const out = [bytes(local).subarray(0, 30), name, bytes(local).subarray(30), ...data];
    this.directory.push(bytes(central).subarray(0, 46), name, bytes(central).subarray(46));
    this.at += 30 + name.length + (local.byteLength - 30) + packed;
    this.count++;
    return out;
  }

  end(): Uint8Array[] {
    const size = this.directory.reduce((sum, part) => sum + part.length, 0);
    const view = new DataView(new ArrayBuffer(98));
    view.setUint32(0, 0x06064b50, true);
    view.setBigUint64(4, 44n, true);
    view.setUint16(12, 45, true);
    view.setUint16(14, 45, true);
    view.setBigUint64(24, BigInt(this.count), true);
    view.setBigUint64(32, BigInt(this.count), true);
    view.setBigUint64(40, BigInt(size), true);
    view.setBigUint64(48, BigInt(this.at), true);
    view.setUint32(56, 0x07064b50, true);
    view.setBigUint64(64, BigInt(this.at + size), true);
    view.setUint32(72, 1, true);
    view.setUint32(76, 0x06054b50, true);
    view.setUint16(84, Math.min(this.count, 0xffff), true);
    view.setUint16(86, Math.min(this.count, 0xffff), true);
    view.setUint32(88, Math.min(size, 0xffffffff), true);
    view.setUint32(92, Math.min(this.at, 0xffffffff), true);
    const large = this.at + size >= 0xffffffff || this.count >= 0xffff;
    return [...this.directory, new Uint8Array(view.buffer, large ? 0 : 76)];
  }
}
