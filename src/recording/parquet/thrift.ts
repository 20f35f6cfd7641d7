/** Thrift structs, walked before the library decodes them: the library believes every count and length that a file states. */

import { deserializeTCompactProtocol } from 'hyparquet/src/thrift.js';
import { type Pair, told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';

const MAX_DEPTH = 32;
/** A footer of ten thousand columns in a hundred row groups stays below this. */
const MAX_ELEMENTS = 20_000_000;

export type Fields = { [field: `field_${number}`]: unknown };

class Walk {
  readonly view: DataView;
  at: number;
  elements = 0;

  constructor(view: DataView, at: number) {
    this.view = view;
    this.at = at;
  }

  byte(): number {
    if (this.at >= this.view.byteLength)
      throw new BadInput(
        told('a Thrift struct runs past its end, so the file is damaged', 'Thrift 结构越过了末尾，文件已损坏'),
      );
    return this.view.getUint8(this.at++);
  }

  /** A count may be at most what the remaining bytes can hold, and a number at most ten bytes long. */
  varint(): number {
    let value = 0;
    let scale = 1;
    for (let length = 0; length < 10; length++) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    throw new BadInput(
      told('a Thrift number has more than ten bytes, so the file is damaged', 'Thrift 数字超过十个字节，文件已损坏'),
    );
  }

  skip(bytes: number): void {
    if (bytes > this.view.byteLength - this.at)
      throw new BadInput(
        told('a Thrift value runs past its end, so the file is damaged', 'Thrift 值越过了末尾，文件已损坏'),
      );
    this.at += bytes;
  }

  struct(depth: number): void {
    for (;;) {
      const type = this.byte();
      if ((type & 15) === 0) return;
      if (type >> 4 === 0) this.varint();
      this.element(type & 15, depth + 1);
    }
  }

  element(type: number, depth: number): void {
    if (depth > MAX_DEPTH || ++this.elements > MAX_ELEMENTS) {
      throw new BadInput(
        told(
          'a Thrift struct is nested too deep or holds too many values, so the file is damaged',
          'Thrift 结构嵌套过深或值过多，文件已损坏',
        ),
      );
    }
    if (type === 1 || type === 2) return;
    if (type === 3) this.skip(1);
    else if (type >= 4 && type <= 6) this.varint();
    else if (type === 7) this.skip(8);
    else if (type === 8) this.skip(this.varint());
    else if (type === 9) this.list(depth);
    else if (type === 12) this.struct(depth);
    else
      throw new BadInput(
        told(
          `a Thrift value has the unknown type ${type}, so the file is damaged`,
          `Thrift 值的类型 ${type} 未知，文件已损坏`,
        ),
      );
  }

  list(depth: number): void {
    const header = this.byte();
    const type = header & 15;
    const count = header >> 4 === 15 ? this.varint() : header >> 4;
    if (count > this.view.byteLength - this.at) {
      throw new BadInput(
        told(
          `a Thrift list claims ${count} values, more than its bytes can hold, so the file is damaged`,
          `Thrift 列表声称有 ${count} 个值，超过其字节所能容纳，文件已损坏`,
        ),
      );
    }
    if (type === 1 || type === 2) this.skip(count);
    else for (let index = 0; index < count; index++) this.element(type, depth + 1);
  }
}

/** Throws unless the bytes hold one whole struct; returns where it ends. */
export function checkStruct(bytes: Uint8Array, at: number): number {
  const walk = new Walk(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), at);
  walk.struct(0);
  return walk.at;
}

export function readStruct(bytes: Uint8Array, at: number): { fields: Fields; end: number } {
  const end = checkStruct(bytes, at);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { fields: deserializeTCompactProtocol({ view, offset: at }), end };
}

/** A field that must be a whole number from 0 to `most`. */
export function countField(fields: Fields, id: number, what: Pair, most = 2 ** 31 - 1): number {
  const value = fields[`field_${id}`];
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 0 || number > most) {
    throw new BadInput(
      told(
        `${what[0]} is ${shown(value)} where a number from 0 to ${most} belongs, so the file is damaged`,
        `${what[1]}是 ${shown(value)}，而应是 0 到 ${most} 的数，文件已损坏`,
      ),
    );
  }
  return number;
}

export function structField(fields: Fields, id: number, what: Pair): Fields {
  const value = fields[`field_${id}`];
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Uint8Array) {
    throw new BadInput(told(`${what[0]} is missing, so the file is damaged`, `缺少${what[1]}，文件已损坏`));
  }
  return value as Fields;
}

function shown(value: unknown): string {
  return value === undefined
    ? told('missing', '缺失')
    : typeof value === 'object'
      ? told('no number', '非数字')
      : String(value);
}
