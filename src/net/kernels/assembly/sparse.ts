/**
 * First layers whose inputs are mostly zero, as those of a grid of cells are: only the inputs that are there take part. A product with
 * zero adds nothing and the rest is added in the same order as in `gemm.ts`, so the figures are the same to the bit.
 */
import { rowAt, transpose4 } from './layout';
import { madd } from './simd';
import { SPARSITY } from './structs';

/** An entry: the input's distance in a quad of weights in bytes, and its value. */
const ENTRY: usize = 8;
/** Narrower inputs are not worth a list. */
const LEAST_COLUMNS: i32 = 32;

/**
 * Lists the inputs of rows order[first ..] that are not zero, and where each row's begin. False as soon as a row has too many of them,
 * so that dense inputs cost one look at their first row.
 */
export function listInputs(
  source: usize, columns: i32, order: usize, first: i32, rows: i32, entries: usize, starts: usize,
): bool {
  if (columns < LEAST_COLUMNS) return false;
  const bytes = <usize>columns << 2;
  const most = <usize>(columns / SPARSITY) * ENTRY;
  store<usize>(starts, entries);
  for (let i = 0; i < rows; i++) {
    const row = rowAt(source, bytes, order, first + i);
    const end = entries + most;
    for (let column = 0; column < columns; column += 64) {
      let there = bitsOf(row + (<usize>column << 2), min(columns - column, 64));
      if (entries + <usize>popcnt(there) * ENTRY > end) return false;
      for (; there; there &= there - 1) {
        const input = <usize>column + <usize>ctz(there);
        store<usize>(entries, input << 4);
        store<f32>(entries, load<f32>(row + (input << 2)), 4);
        entries += ENTRY;
      }
    }
    store<usize>(starts + (<usize>(i + 1) << 2), entries);
  }
  return true;
}

/** One bit for each of up to 64 numbers: whether it differs from zero. Without a branch for each of them, because no branch could foresee them. */
@inline
function bitsOf(at: usize, count: i32): u64 {
  const zero = f32x4.splat(0);
  let bits: u64 = 0;
  let n = 0;
  for (; n + 16 <= count; n += 16) {
    const a = f32x4.ne(v128.load(at), zero), b = f32x4.ne(v128.load(at, 16), zero);
    const c = f32x4.ne(v128.load(at, 32), zero), d = f32x4.ne(v128.load(at, 48), zero);
    const all = i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d));
    bits |= <u64>i8x16.bitmask(all) << n;
    at += 64;
  }
  for (; n < count; n++) {
    if (load<f32>(at) != 0) bits |= <u64>1 << n;
    at += 4;
  }
  return bits;
}

/** What `multiply` does with a bias, from the list of inputs. `buffer` has room for four rows of results. */
export function multiplyListed(starts: usize, w: usize, wStep: usize, bias: usize, y: usize, lines: i32, rows: i32, buffer: usize): void {
  const length = <usize>lines << 2;
  const whole = (rows + 7) & ~7;
  for (let row = 0; row < whole; row += 4) {
    for (let i = 0; i < 4; i++) {
      const to = buffer + <usize>i * length;
      if (row + i >= rows) memory.fill(to, 0, length);
      else {
        const start = starts + (<usize>(row + i) << 2);
        multiplyRow(load<usize>(start), load<usize>(start, 4), w, wStep, bias, to, lines);
      }
    }
    let from = buffer;
    let out = y + <usize>(row >> 3) * (<usize>lines << 5) + (<usize>(row & 4) << 2);
    for (const end = buffer + length; from < end; from += 16) {
      transpose4(v128.load(from), v128.load(from + length), v128.load(from + 2 * length), v128.load(from + 3 * length), out, 32);
      out += 128;
    }
  }
}

function multiplyRow(first: usize, end: usize, w: usize, wStep: usize, bias: usize, to: usize, lines: i32): void {
  let line = 0;
  for (; line + 32 <= lines; line += 32) {
    let a = v128.load(bias), b = v128.load(bias, 16), c = v128.load(bias, 32), d = v128.load(bias, 48);
    let e = v128.load(bias, 64), f = v128.load(bias, 80), g = v128.load(bias, 96), h = v128.load(bias, 112);
    for (let at = first; at < end; at += ENTRY) {
      let quad = w + <usize>load<i32>(at);
      const s = v128.load32_splat(at, 4);
      a = madd(s, v128.load(quad), a);
      quad += wStep;
      b = madd(s, v128.load(quad), b);
      quad += wStep;
      c = madd(s, v128.load(quad), c);
      quad += wStep;
      d = madd(s, v128.load(quad), d);
      quad += wStep;
      e = madd(s, v128.load(quad), e);
      quad += wStep;
      f = madd(s, v128.load(quad), f);
      quad += wStep;
      g = madd(s, v128.load(quad), g);
      h = madd(s, v128.load(quad + wStep), h);
    }
    v128.store(to, a);
    v128.store(to, b, 16);
    v128.store(to, c, 32);
    v128.store(to, d, 48);
    v128.store(to, e, 64);
    v128.store(to, f, 80);
    v128.store(to, g, 96);
    v128.store(to, h, 112);
    w += wStep << 3;
    bias += 128;
    to += 128;
  }
  for (; line < lines; line += 4) {
    let a = v128.load(bias);
    for (let at = first; at < end; at += ENTRY)
      a = madd(v128.load32_splat(at, 4), v128.load(w + <usize>load<i32>(at)), a);
    v128.store(to, a);
    w += wStep;
    bias += 16;
    to += 16;
  }
}

/** What `accumulateWeights` does, from the list of inputs; `delta` is in panels of eight columns. */
export function accumulateListed(
  starts: usize, rows: i32, delta: usize, outputs4: i32, panels: i32, gradient: usize, gStep: usize,
): void {
  const length = <usize>panels << 8;
  const last = starts + (<usize>rows << 2);
  for (let output = 0; output < outputs4; output += 8) {
    let from = delta;
    let at = load<usize>(starts);
    if (output + 8 <= outputs4) {
      for (let start = starts; start < last; start += 4) {
        const g0 = v128.load(from), g1 = v128.load(from, 16);
        for (const end = load<usize>(start, 4); at < end; at += ENTRY) {
          const upper = gradient + <usize>load<i32>(at);
          const lower = upper + gStep;
          const s = v128.load32_splat(at, 4);
          v128.store(upper, madd(s, g0, v128.load(upper)));
          v128.store(lower, madd(s, g1, v128.load(lower)));
        }
        from += 32;
      }
    } else {
      for (let start = starts; start < last; start += 4) {
        const g = v128.load(from);
        for (const end = load<usize>(start, 4); at < end; at += ENTRY) {
          const upper = gradient + <usize>load<i32>(at);
          v128.store(upper, madd(v128.load32_splat(at, 4), g, v128.load(upper)));
        }
        from += 32;
      }
    }
    gradient += gStep + gStep;
    delta += length;
  }
}
