/** The file that Weights & Biases writes without a server (`run-*.wandb`): records in blocks of 32 KiB with checksums, each a protocol buffer. Only history and settings are read. */
import { told } from '../../../language/language.ts';
import { BadInput } from '../../bad-input.ts';
import { codec } from '../../files/codec.ts';
import { parsePythonJson } from '../../files/json.ts';
import type { ByteSource } from '../../source.ts';
import type { Log } from '../log.ts';
import { addRow, declare, isRow, type Row } from '../record.ts';
import { fields, text } from './protobuf.ts';

const block = 1 << 15;
const headerSize = 7;
const magic = [0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe];

export const isWandb = (head: Uint8Array) => magic.every((byte, i) => head[i] === byte);

export async function readWandb(source: ByteSource, log: Log): Promise<void> {
  if (!isWandb(await source.read(0, Math.min(source.size, magic.length))))
    throw new BadInput(
      told('does not begin as a file of Weights & Biases does', '开头与 Weights & Biases 的文件不同'),
      { file: source.name },
    );
  let [rows, damaged] = [0, 0];
  try {
    for await (const record of records(source)) {
      if (record === null) damaged++;
      else rows += readRecord(record, log, rows);
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    damaged++;
  }
  if (damaged > 0)
    log.notices.push(
      told(
        `${source.name}: the file is cut off or damaged in ${damaged} places; what is whole was read`,
        `${source.name}：文件有 ${damaged} 处被截断或损坏；完整的部分已读取`,
      ),
    );
  if (rows === 0)
    throw new BadInput(
      told('holds no history; nothing was logged with wandb.log', '没有历史；没有用 wandb.log 记录过任何东西'),
      { file: source.name },
    );
}

/** Whole records, put together from their pieces; null for one that is damaged. */
async function* records(source: ByteSource): AsyncGenerator<Uint8Array | null> {
  let parts: Uint8Array[] = [];
  for (let at = 0; at < source.size; at += block) {
    const bytes = await source.read(at, Math.min(source.size, at + block));
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let here = at === 0 ? headerSize : 0;
    // Fewer bytes than a header at the end of a block are filling.
    while (here + headerSize <= bytes.length) {
      const [checksum, length, kind] = [view.getUint32(here, true), view.getUint16(here + 4, true), bytes[here + 6]];
      const end = here + headerSize + length;
      if (kind === 0 && length === 0) break;
      if (kind < 1 || kind > 4 || end > bytes.length || codec().crc32(bytes.subarray(here + 6, end)) !== checksum) {
        parts = [];
        yield null;
        break;
      }
      const piece = bytes.slice(here + headerSize, end);
      here = end;
      if (kind === 1) yield piece;
      else if (kind === 2) parts = [piece];
      else parts.push(piece);
      if (kind === 4) {
        yield concatenated(parts);
        parts = [];
      }
    }
  }
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** The fields of wandb_internal.proto that matter: Record.history 2, Record.config 5, Record.run 17 (its config 4). Gives how many rows were added. */
function readRecord(record: Uint8Array, log: Log, rows: number): number {
  for (const { number, bytes } of fields(record)) {
    if (number === 2) {
      const row = items(bytes);
      if (Object.keys(row).length > 0) addRow(row, log, rows + 1);
      return 1;
    }
    if (number === 5) declare(plainSettings(items(bytes)), log);
    if (number === 17)
      for (const field of fields(bytes)) if (field.number === 4) declare(plainSettings(items(field.bytes)), log);
  }
  return 0;
}

/** Older versions wrap each setting as { value, desc }. */
function plainSettings(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([key]) => !key.startsWith('_'))
      .map(([key, value]) => [key, isRow(value) && 'value' in value ? value.value : value]),
  );
}

/** HistoryItem and ConfigItem: key 1, nested_key 2, value_json 16; HistoryStep is field 2 of the history. */
function items(message: Uint8Array): Row {
  const row: Row = Object.create(null);
  for (const item of fields(message)) {
    if (item.number === 2 && item.wire === 2) {
      for (const field of fields(item.bytes)) if (field.number === 1 && field.wire === 0) row._step ??= field.value;
      continue;
    }
    if (item.number !== 1 || item.wire !== 2) continue;
    const nested: string[] = [];
    let [key, json] = ['', ''];
    for (const field of fields(item.bytes)) {
      if (field.number === 1) key = text(field.bytes);
      else if (field.number === 2) nested.push(text(field.bytes));
      else if (field.number === 16) json = text(field.bytes);
    }
    const name = key !== '' ? key : nested.join('/');
    if (name === '_runtime' || name === '_wandb') continue;
    try {
      row[name] = parsePythonJson(json);
    } catch {
      // A value that is no JSON is no number.
    }
  }
  return row;
}
