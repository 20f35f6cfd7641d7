/** TensorBoard's event files: records framed by length and checksums, each one an Event message. A file that was cut off or damaged gives what comes before. */
import { told } from '../../../language/language.ts';
import type { ByteSource } from '../../source.ts';
import type { Log } from '../log.ts';
import { maskedCrc32c } from './crc32c.ts';
import { type Field, fields, float32, float64, text, varints } from './protobuf.ts';

/** A longer record holds pictures or a graph, never scalars. */
const longest = 1 << 26;
/** Texts of one record that are looked at for settings. */
const mostTexts = 4096;
const windowSize = 1 << 22;

/** `prefix` goes before every tag. */
export async function readEvents(source: ByteSource, log: Log, prefix = ''): Promise<void> {
  const window = new Window(source);
  const plain = new PlainEvents(log, prefix);
  const say = (what: string) => log.notices.push(`${source.name}: ${what}`);
  let at = 0;
  let damaged = 0;
  let records = 0;
  const kept = () =>
    told(
      `the ${records.toLocaleString('en-US')} records before are kept`,
      `之前的 ${records.toLocaleString('en-US')} 条记录保留`,
    );
  while (at < source.size) {
    if (source.size - at < 12) {
      say(
        told(
          `the file is cut off inside a record at byte ${at}; ${kept()}`,
          `文件在第 ${at} 字节的记录中被截断；${kept()}`,
        ),
      );
      break;
    }
    const head = window.held(at, at + 12) ?? (await window.read(at, at + 12));
    const view = new DataView(head.buffer, head.byteOffset, 12);
    const length = view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32;
    if (view.getUint32(8, true) !== maskedCrc32c(head.subarray(0, 8))) {
      if (records === 0 && at === 0)
        say(
          told(
            'is no event file, or its first bytes are damaged; nothing was read from it',
            '不是事件文件，或开头的字节已损坏；没有从中读取任何内容',
          ),
        );
      else
        say(
          told(
            `the checksum of a record's length does not match at byte ${at}: the file is damaged; ${kept()}`,
            `第 ${at} 字节处记录长度的校验和不符：文件已损坏；${kept()}`,
          ),
        );
      break;
    }
    const next = at + 16 + length;
    if (next > source.size) {
      say(
        told(
          `the file is cut off inside a record at byte ${at}; ${kept()}`,
          `文件在第 ${at} 字节的记录中被截断；${kept()}`,
        ),
      );
      break;
    }
    if (length <= longest) {
      const body = window.held(at + 12, next) ?? (await window.read(at + 12, next));
      const data = body.subarray(0, length);
      const crc = new DataView(body.buffer, body.byteOffset + length, 4).getUint32(0, true);
      if (crc !== maskedCrc32c(data) || !(plain.add(data) || event(data, log, prefix))) damaged++;
      else records++;
    }
    at = next;
  }
  if (damaged > 0)
    say(
      told(
        `${damaged} of ${damaged + records} records are damaged (their checksum does not match) and left out; the others are kept`,
        `${damaged + records} 条记录中有 ${damaged} 条已损坏（校验和不符），略去；其余保留`,
      ),
    );
}

/** Reads a file by large pieces, however small the ranges asked for are. */
class Window {
  private bytes = new Uint8Array(0);
  private from = 0;

  constructor(private readonly source: ByteSource) {}

  /** Without a wait, which for every record would take longer than reading it; undefined where the range is not here. */
  held(start: number, end: number): Uint8Array | undefined {
    if (start < this.from || end > this.from + this.bytes.length) return undefined;
    return this.bytes.subarray(start - this.from, end - this.from);
  }

  async read(start: number, end: number): Promise<Uint8Array> {
    this.from = start;
    this.bytes = await this.source.read(start, Math.min(this.source.size, Math.max(end, start + windowSize)));
    return this.bytes.subarray(0, end - start);
  }
}

/** The shape that nearly every record of a scalar has (time, step, one tag with one simple value), read without making an object. */
class PlainEvents {
  /** Tags by a number made of their bytes. */
  private readonly tags = new Map<number, { bytes: Uint8Array; id: number }[]>();
  private readonly scratch = new DataView(new ArrayBuffer(8));
  private at = 0;

  constructor(
    private readonly log: Log,
    private readonly prefix: string,
  ) {}

  /** False where the record has any other shape; nothing is added then. */
  add(data: Uint8Array): boolean {
    const { length } = data;
    this.at = 0;
    if (length < 16 || data[this.at++] !== 0x09) return false;
    const time = this.float(data, 8);
    let step = 0;
    if (data[this.at] === 0x10) {
      this.at++;
      step = this.varint(data);
      if (step < 0) return false;
    }
    if (!this.holdsTheRest(data, 0x2a) || !this.holdsTheRest(data, 0x0a) || data[this.at++] !== 0x0a) return false;
    const size = this.varint(data);
    const from = this.at;
    this.at += size;
    if (size < 0 || this.at + 5 !== length || data[this.at++] !== 0x15) return false;
    this.log.put(this.tag(data.subarray(from, from + size)), this.float(data, 4), step, time);
    return true;
  }

  /** A field whose bytes reach to the end of the record. */
  private holdsTheRest(data: Uint8Array, tag: number): boolean {
    return data[this.at++] === tag && this.varint(data) === data.length - this.at;
  }

  /** At most 28 bits; -1 where there are more. */
  private varint(data: Uint8Array): number {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = data[this.at++];
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    return -1;
  }

  private float(data: Uint8Array, bytes: 4 | 8): number {
    for (let i = 0; i < bytes; i++) this.scratch.setUint8(i, data[this.at++]);
    return bytes === 8 ? this.scratch.getFloat64(0, true) : this.scratch.getFloat32(0, true);
  }

  private tag(bytes: Uint8Array): number {
    let hash = 0;
    for (let i = 0; i < bytes.length; i++) hash = (Math.imul(hash, 31) + bytes[i]) | 0;
    const alike = this.tags.get(hash);
    const known = alike?.find((other) => same(other.bytes, bytes));
    if (known) return known.id;
    const added = { bytes: bytes.slice(), id: this.log.at(this.prefix + text(bytes)) };
    if (alike) alike.push(added);
    else this.tags.set(hash, [added]);
    return added.id;
  }
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** False where the message is damaged. */
function event(message: Uint8Array, log: Log, prefix: string): boolean {
  let [time, step] = [Number.NaN, 0];
  const summaries: Uint8Array[] = [];
  try {
    for (const field of fields(message)) {
      if (field.number === 1 && field.wire === 1) time = float64(field.bytes);
      else if (field.number === 2 && field.wire === 0) step = field.value;
      else if (field.number === 5 && field.wire === 2) summaries.push(field.bytes);
    }
    for (const summary of summaries)
      for (const value of fields(summary))
        if (value.number === 1 && value.wire === 2) summaryValue(value.bytes, log, prefix, step, time);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
  return true;
}

function summaryValue(message: Uint8Array, log: Log, prefix: string, step: number, time: number): void {
  let tag = '';
  let value: number | undefined;
  let tensor: Uint8Array | undefined;
  for (const field of fields(message)) {
    if (field.number === 1 && field.wire === 2) tag = text(field.bytes);
    else if (field.number === 2 && field.wire === 5) value = float32(field.bytes);
    else if (field.number === 8 && field.wire === 2) tensor = field.bytes;
  }
  if (tensor) value = tensorScalar(tensor, (table) => declare(tag, table, log));
  if (value !== undefined) log.add(prefix + tag, value, step, time);
}

/** A tensor of exactly one number; a text goes to `words`. */
function tensorScalar(message: Uint8Array, words: (text: string) => void): number | undefined {
  let type = 0;
  let size = 1;
  let content: Uint8Array | undefined;
  const lists = new Map<number, Field[]>();
  for (const field of fields(message)) {
    if (field.number === 1) type = field.value;
    else if (field.number === 2 && field.wire === 2) size = elements(field.bytes);
    else if (field.number === 4 && field.wire === 2) content = field.bytes;
    else if (!lists.has(field.number)) lists.set(field.number, [field]);
    else if (field.number === 8 && lists.get(8)!.length < mostTexts) lists.get(8)!.push(field);
  }
  if (type === 7) {
    for (const item of lists.get(8) ?? []) words(text(item.bytes));
    return undefined;
  }
  const kind = kinds[type];
  if (!kind || size !== 1) return undefined;
  if (content) return content.length === kind.bytes ? kind.read(content) : undefined;
  const [first] = lists.get(kind.field) ?? [];
  // A list that is left out altogether stands for zero.
  if (!first) return lists.size === 0 ? 0 : undefined;
  return kind.item(first);
}

function elements(shape: Uint8Array): number {
  let size = 1;
  for (const dimension of fields(shape)) {
    if (dimension.number !== 2 || dimension.wire !== 2) continue;
    let length = 0;
    for (const field of fields(dimension.bytes)) if (field.number === 1) length = field.value;
    size *= length;
  }
  return size;
}

interface Kind {
  /** Bytes of one number in `tensor_content`. */
  bytes: number;
  read(bytes: Uint8Array): number;
  /** Which list holds it otherwise. */
  field: number;
  item(field: Field): number;
}

const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
const whole = (field: Field) => (field.wire === 0 ? field.value : (varints(field.bytes)[0] ?? 0));
const integer = (bytes: number, field: number, read: (bytes: Uint8Array) => number): Kind => ({
  bytes,
  field,
  read,
  item: whole,
});

/** By TensorFlow's number of the type. */
const kinds: Record<number, Kind> = {
  1: { bytes: 4, read: float32, field: 5, item: (field) => float32(field.bytes) },
  2: { bytes: 8, read: float64, field: 6, item: (field) => float64(field.bytes) },
  3: integer(4, 7, (bytes) => view(bytes).getInt32(0, true)),
  9: integer(8, 10, (bytes) => Number(view(bytes).getBigInt64(0, true))),
  10: integer(1, 11, (bytes) => bytes[0]),
  14: {
    bytes: 2,
    read: (bytes) => bfloat16(view(bytes).getUint16(0, true)),
    field: 13,
    item: (field) => bfloat16(whole(field)),
  },
  19: {
    bytes: 2,
    read: (bytes) => float16(view(bytes).getUint16(0, true)),
    field: 13,
    item: (field) => float16(whole(field)),
  },
};

export function float16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

function bfloat16(bits: number): number {
  return new Float32Array(Uint32Array.of((bits & 0xffff) << 16).buffer)[0];
}

/** Programs in CleanRL's manner write their settings as a table of text. */
function declare(tag: string, table: string, log: Log): void {
  if (!/hyper_?param|config|args|settings/i.test(tag)) return;
  for (const line of table.split('\n')) {
    const cells = line.split('|').map((cell) => cell.trim());
    if (cells.length === 4 && cells[1] !== '' && cells[1] !== 'param' && !/^:?-+:?$/.test(cells[1]))
      log.declared.set(cells[1], cells[2]);
  }
}
