/**
 * Plain data out of what torch.save writes: dictionaries, lists, texts and numbers. Nothing is called or built, whatever the pickle asks for: tensors and objects
 * are null, so that a hostile file can do nothing.
 */
import { told } from '../../../language/language.ts';
import { BadInput } from '../../bad-input.ts';
import { readEntry, zipDirectory } from '../../files/zip.ts';
import type { Budget, ByteSource } from '../../source.ts';

/** What a file of torch.save holds; undefined where it is none that a current torch writes. */
export async function readTorch(source: ByteSource, path: string, budget: Budget): Promise<unknown> {
  const head = await source.read(0, Math.min(2, source.size));
  if (head[0] !== 0x50 || head[1] !== 0x4b) return undefined;
  const entry = (await zipDirectory(source)).find((one) => one.path.endsWith('/data.pkl'));
  if (!entry) return undefined;
  budget.claim(`${path}/${entry.path}`, entry.size, source);
  return unpickle(await readEntry(source, entry), path);
}

/** Deeper than data of people is; a list that holds itself is deeper. */
const deepest = 32;

export function unpickle(bytes: Uint8Array, file: string): unknown {
  const bad = () =>
    new BadInput(
      told('cannot be read: its pickle is damaged, or older than protocol 2', '无法读取：pickle 已损坏，或早于协议 2'),
      { file },
    );
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = new TextDecoder();
  const stack: unknown[] = [];
  const marks: number[] = [];
  const memo = new Map<number, unknown>();
  let at = 0;
  const take = (size: number) => {
    if (!(size <= bytes.length - at)) throw bad();
    at += size;
    return at - size;
  };
  const slice = (size: number) => bytes.subarray(take(size), at);
  const u8 = () => view.getUint8(take(1));
  const u32 = () => view.getUint32(take(4), true);
  const u64 = () => Number(view.getBigUint64(take(8), true));
  const pop = () => {
    if (stack.length <= (marks.at(-1) ?? 0)) throw bad();
    return stack.pop();
  };
  const top = () => stack.at(-1);
  const marked = () => {
    const from = marks.pop();
    if (from === undefined) throw bad();
    return stack.splice(from);
  };
  const line = () => {
    const end = bytes.indexOf(10, at);
    if (end < 0) throw bad();
    at = end + 1;
  };
  const whole = (size: number) => {
    const digits = slice(size);
    let value = 0n;
    for (let i = size - 1; i >= 0; i--) value = (value << 8n) | BigInt(digits[i]);
    return Number(size > 0 && digits[size - 1] > 127 ? value - (1n << BigInt(8 * size)) : value);
  };
  const append = (values: unknown[]) => {
    const list = top();
    if (Array.isArray(list)) for (const value of values) list.push(value);
  };
  const set = (pairs: unknown[]) => {
    const target = top();
    if (typeof target !== 'object' || target === null || Array.isArray(target)) return;
    for (let i = 0; i + 1 < pairs.length; i += 2) (target as Record<string, unknown>)[String(pairs[i])] = pairs[i + 1];
  };
  const tuple = (size: number) => stack.push(Array.from({ length: size }, pop).reverse());
  const known = (key: number) => {
    if (!memo.has(key)) throw bad();
    stack.push(memo.get(key));
  };
  /** Takes what an object is made of, and leaves null in its place. */
  const opaque = (parts: number) => {
    for (let i = 0; i < parts; i++) pop();
    stack.push(null);
  };
  /** A class, by two lines. */
  const named = () => {
    for (let i = 0; i < 2; i++) line();
    stack.push(null);
  };
  const codes: Record<number, () => unknown> = {
    128: u8, // the protocol
    149: u64, // a frame
    40: () => marks.push(stack.length),
    125: () => stack.push(Object.create(null)),
    93: () => stack.push([]),
    143: () => stack.push([]),
    41: () => stack.push([]),
    78: () => stack.push(null),
    136: () => stack.push(true),
    137: () => stack.push(false),
    88: () => stack.push(text.decode(slice(u32()))),
    140: () => stack.push(text.decode(slice(u8()))),
    141: () => stack.push(text.decode(slice(u64()))),
    74: () => stack.push(view.getInt32(take(4), true)),
    75: () => stack.push(u8()),
    77: () => stack.push(view.getUint16(take(2), true)),
    138: () => stack.push(whole(u8())),
    71: () => stack.push(view.getFloat64(take(8))),
    113: () => memo.set(u8(), top()),
    114: () => memo.set(u32(), top()),
    148: () => memo.set(memo.size, top()),
    104: () => known(u8()),
    106: () => known(u32()),
    116: () => stack.push(marked()),
    133: () => tuple(1),
    134: () => tuple(2),
    135: () => tuple(3),
    97: () => append([pop()]),
    101: () => append(marked()),
    144: () => append(marked()),
    115: () => set([pop(), pop()].reverse()),
    117: () => set(marked()),
    66: () => slice(u32()) && stack.push(null), // bytes
    67: () => slice(u8()) && stack.push(null),
    99: named,
    147: () => opaque(2),
    82: () => opaque(2), // a call
    129: () => opaque(2),
    81: () => opaque(1), // a tensor's numbers
    98: () => pop(), // the state of an object
    48: () => pop(),
  };
  for (let code = u8(); code !== 46; code = u8()) {
    const act = codes[code];
    if (!act) throw bad();
    act();
  }
  // Data that is used more than once is one object here. As a tree it must not be larger than a file can say.
  let left = 8 * bytes.length;
  const plain = (value: unknown, depth: number): unknown => {
    if (--left < 0 || depth > deepest) throw bad();
    if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, depth + 1)]));
  };
  return plain(pop(), 0);
}
