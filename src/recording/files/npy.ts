/** One numpy array file (.npy). 64-bit integers are narrowed where they fit; bytes in the other order are refused, never swapped in silence. */
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import type { Values } from '../column.ts';

export interface NpyArray {
  kind: 'int' | 'float' | 'bool' | 'text';
  shape: number[];
  values: Values | string[];
}

/** As numpy itself writes them, and longer ones are no arrays of ours. */
const longestHeader = 1 << 16;
const mostAxes = 64;

const arrays = {
  i1: Int8Array,
  i2: Int16Array,
  i4: Int32Array,
  i8: BigInt64Array,
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  u8: BigUint64Array,
  f4: Float32Array,
  f8: Float64Array,
};

/** `room` hears how many rows there are before memory is taken for them, and may refuse. */
export function decodeNpy(
  bytes: Uint8Array<ArrayBuffer>,
  file: string,
  room: (rows: number) => void = () => undefined,
): NpyArray {
  const bad = (what: string) => new BadInput(what, { file });
  if (bytes.length < 10 || bytes[0] !== 0x93 || String.fromCharCode(...bytes.subarray(1, 6)) !== 'NUMPY') {
    throw bad(
      told('is not a numpy array: its first bytes are not those of .npy', '不是 numpy 数组：开头的字节不是 .npy 的'),
    );
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const wide = bytes[6] >= 2;
  if (wide && bytes.length < 12) throw bad(told('the numpy header is cut off', 'numpy 头部被截断'));
  const start = (wide ? 12 : 10) + (wide ? view.getUint32(8, true) : view.getUint16(8, true));
  if (start > bytes.length) throw bad(told('the numpy header is cut off', 'numpy 头部被截断'));
  if (start > longestHeader)
    throw bad(
      told(
        `the numpy header has ${start} bytes; at most ${longestHeader} are read`,
        `numpy 头部有 ${start} 字节；最多读取 ${longestHeader}`,
      ),
    );
  const header = new TextDecoder('latin1').decode(bytes.subarray(wide ? 12 : 10, start));
  const descr = /'descr'\s*:\s*'([<>|=]?)([a-zA-Z])(\d*)'/.exec(header);
  const shapeText = /'shape'\s*:\s*\(([\d,\s]*)\)/.exec(header);
  const fortran = /'fortran_order'\s*:\s*True/.test(header);
  if (!descr || !shapeText) {
    throw bad(
      told(
        'the numpy header is not understood; arrays of plain numbers, booleans or unicode text are expected',
        'numpy 头部无法理解；应是普通数字、布尔值或 unicode 文本的数组',
      ),
    );
  }
  const shape = shapeText[1].split(',').flatMap((part) => (part.trim() === '' ? [] : [Number(part)]));
  if (shape.length > mostAxes)
    throw bad(
      told(
        `has ${shape.length} axes; at most ${mostAxes} are read`,
        `有 ${shape.length} 个轴；最多读取 ${mostAxes} 个`,
      ),
    );
  const [, order, letter, width] = descr;
  if (letter === 'O')
    throw bad(
      told(
        'holds Python objects; save it with a plain dtype instead (for example float32)',
        '含 Python 对象；请用普通的 dtype 保存（例如 float32）',
      ),
    );
  const item = Number(width || 1);
  const itemBytes = letter === 'U' ? 4 * item : item;
  if (order === '>' && (letter === 'U' || item > 1)) {
    throw bad(
      told(
        `is big-endian (${descr[0].split("'")[3]}); save it little-endian, as array.astype('<${letter}${width}') does`,
        `是大端序（${descr[0].split("'")[3]}）；请存为小端序，例如 array.astype('<${letter}${width}')`,
      ),
    );
  }
  const count = shape.reduce((product, length) => product * length, 1);
  if (count * itemBytes !== bytes.length - start) {
    throw bad(
      told(
        `holds ${bytes.length - start} bytes where its shape (${shape.join(', ')}) needs ${count * itemBytes}; it is damaged or cut off`,
        `有 ${bytes.length - start} 字节，而其形状（${shape.join(', ')}）需要 ${count * itemBytes}；已损坏或被截断`,
      ),
    );
  }
  if (letter === 'U' || letter === 'S') {
    room(count);
    const strings = decodeText(bytes.subarray(start), count, item, letter === 'U', bad);
    return { kind: 'text', shape, values: strings };
  }
  if (shape.length > 1) room(shape[0]);
  let values: Values;
  let kind: NpyArray['kind'];
  if (letter === 'b' && item === 1) {
    kind = 'bool';
    values = bytes.subarray(start);
  } else if (letter === 'f' && item === 2) {
    kind = 'float';
    values = halfToFloat(aligned(bytes, start, Uint16Array));
  } else {
    const type = arrays[(letter + item) as keyof typeof arrays];
    if (!type)
      throw bad(
        told(
          `has the dtype ${letter}${width}; integers, floats of 2 to 8 bytes, bool and unicode are expected`,
          `的 dtype 是 ${letter}${width}；应是整数、2 到 8 字节的浮点数、bool 或 unicode`,
        ),
      );
    kind = letter === 'f' ? 'float' : 'int';
    values = aligned(bytes, start, type as Float32ArrayConstructor) as Values;
    if (values instanceof BigInt64Array || values instanceof BigUint64Array) values = narrow(values);
  }
  if (fortran && shape.length > 1) values = rowMajor(values, shape);
  return { kind, shape, values };
}

interface ArrayType<T> {
  new (buffer: ArrayBuffer, offset: number, length: number): T;
  readonly BYTES_PER_ELEMENT: number;
}

/** A view where the position allows it, else a copy. */
function aligned<T>(bytes: Uint8Array<ArrayBuffer>, start: number, type: ArrayType<T>): T {
  const size = type.BYTES_PER_ELEMENT;
  const length = (bytes.length - start) / size;
  const at = bytes.byteOffset + start;
  if (at % size === 0) return new type(bytes.buffer, at, length);
  return new type(bytes.slice(start).buffer, 0, length);
}

let halves: Float32Array | undefined;

function halfToFloat(bits: Uint16Array): Float32Array {
  halves ??= Float32Array.from({ length: 65536 }, (_, h) => {
    const sign = h & 0x8000 ? -1 : 1;
    const exponent = (h >> 10) & 31;
    const fraction = h & 1023;
    if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
  });
  const out = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) out[i] = halves[bits[i]];
  return out;
}

/** 64-bit integers as 32-bit ones where all fit, as doubles where all are exact, else as they are. */
export function narrow(wide: BigInt64Array | BigUint64Array): Values {
  const words = new Int32Array(wide.buffer, wide.byteOffset, wide.length * 2);
  const out = new Int32Array(wide.length);
  // A word pair fits 32 signed bits if the high word only repeats the sign; as unsigned 64 bits a negative low word never does.
  const signed = wide instanceof BigInt64Array;
  let fits = true;
  for (let i = 0; i < wide.length; i++) {
    const low = words[2 * i];
    const high = words[2 * i + 1];
    if (high !== (signed ? low >> 31 : 0) || (!signed && low < 0)) {
      fits = false;
      break;
    }
    out[i] = low;
  }
  if (fits) return out;
  const doubles = new Float64Array(wide.length);
  for (let i = 0; i < wide.length; i++) {
    doubles[i] = Number(wide[i]);
    if (!Number.isSafeInteger(doubles[i])) return wide;
  }
  return doubles;
}

function rowMajor(values: Values, shape: number[]): Values {
  const out = values.slice();
  const strides = shape.map((_, axis) => shape.slice(0, axis).reduce((product, length) => product * length, 1));
  const index = new Array<number>(shape.length).fill(0);
  for (let i = 0; i < values.length; i++) {
    let from = 0;
    for (let axis = 0; axis < shape.length; axis++) from += index[axis] * strides[axis];
    out[i] = values[from];
    for (let axis = shape.length - 1; axis >= 0 && ++index[axis] === shape[axis]; axis--) index[axis] = 0;
  }
  return out;
}

function decodeText(
  bytes: Uint8Array,
  count: number,
  width: number,
  unicode: boolean,
  bad: (what: string) => BadInput,
): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const seen = new Map<string, string>();
  const out = new Array<string>(count);
  for (let i = 0; i < count; i++) {
    let text = '';
    let pending = '';
    for (let j = 0; j < width; j++) {
      const code = unicode ? view.getUint32(4 * (i * width + j), true) : bytes[i * width + j];
      if (code > 0x10ffff)
        throw bad(told('holds a character that does not exist; it is damaged', '含不存在的字符；已损坏'));
      const character = String.fromCodePoint(code);
      if (code === 0) pending += character;
      else {
        text += pending + character;
        pending = '';
      }
    }
    const known = seen.get(text);
    if (known === undefined) seen.set(text, text);
    out[i] = known ?? text;
  }
  return out;
}

const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0];

function header(descr: string, length: number): Uint8Array {
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${length},), }`;
  const padded = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11, ' ');
  const bytes = new Uint8Array(padded.length + 11);
  bytes.set(magic);
  bytes[8] = (padded.length + 1) & 255;
  bytes[9] = (padded.length + 1) >> 8;
  for (let i = 0; i < padded.length; i++) bytes[10 + i] = padded.charCodeAt(i);
  bytes[bytes.length - 1] = 10;
  return bytes;
}

const descriptors = new Map<unknown, string>([
  [Int8Array, '|i1'],
  [Int16Array, '<i2'],
  [Int32Array, '<i4'],
  [BigInt64Array, '<i8'],
  [Uint8Array, '|u1'],
  [Uint16Array, '<u2'],
  [Uint32Array, '<u4'],
  [BigUint64Array, '<u8'],
  [Float32Array, '<f4'],
  [Float64Array, '<f8'],
]);

/** Header and data of a one-dimensional array; the data is not copied. */
export function encodeNpy(values: Values, bool = false): Uint8Array[] {
  const descr = bool ? '|b1' : descriptors.get(values.constructor);
  if (!descr) throw new Error(`no numpy dtype for ${values.constructor.name}`);
  return [header(descr, values.length), new Uint8Array(values.buffer, values.byteOffset, values.byteLength)];
}

/** Whole numbers as int64, which is what offsets are. */
export function encodeNpyInt64(values: Int32Array | Float64Array): Uint8Array[] {
  const words = new Int32Array(values.length * 2);
  for (let i = 0; i < values.length; i++) {
    words[2 * i] = values[i];
    words[2 * i + 1] = Math.floor(values[i] / 2 ** 32);
  }
  return [header('<i8', values.length), new Uint8Array(words.buffer)];
}

export function encodeNpyText(values: readonly string[]): Uint8Array[] {
  const encoded = new Map<string, number[]>();
  let width = 1;
  for (const text of values) {
    if (encoded.has(text)) continue;
    if (text.endsWith('\0') || !text.isWellFormed()) {
      throw new BadInput(
        told(
          `the text ${JSON.stringify(text)} cannot be kept in npz: it ends with a zero or is not well-formed`,
          `文本 ${JSON.stringify(text)} 无法存入 npz：它以零结尾或格式不正确`,
        ),
      );
    }
    const codes = Array.from(text, (character) => character.codePointAt(0) as number);
    encoded.set(text, codes);
    width = Math.max(width, codes.length);
  }
  const out = new Uint32Array(values.length * width);
  values.forEach((text, i) => {
    out.set(encoded.get(text) as number[], i * width);
  });
  return [header(`<U${width}`, values.length), new Uint8Array(out.buffer)];
}
