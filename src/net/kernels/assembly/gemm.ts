/**
 * Matrix products over panels of eight rows. An activation is stored as [rows / 8][column][8 rows], so that a product's result has
 * the layout of its input and no transposition lies between layers.
 */
import { high, highHalf, low, lowHalf, transpose4 } from './layout';
import { madd } from './simd';

/** Half of a small first-level cache. */
const GROUP_BYTES: usize = 16384;

/**
 * y[line] = start + sum over `depth` of w[line][.] x[.] for lines in quads; `w` is [lines / 4][depthStride][4].
 * `bias` gives the start of a line; without it the sum starts from zero, or from y itself with `accumulate`.
 * The depth runs in order in one accumulator per result: a row's figures never depend on its neighbours.
 */
export function multiply(
  x: usize, depth: i32, depthStride: i32, w: usize, bias: usize, accumulate: bool, y: usize, lines: i32, rows: i32,
): void {
  const wStep = <usize>depthStride << 4;
  const xStep = <usize>depthStride << 5;
  const yStep = <usize>lines << 5;
  const length = <usize>depth << 5;
  // A last panel with at most four rows goes by itself.
  const tail = rows & 7;
  let whole = tail && tail <= 4 ? rows >> 3 : (rows + 7) >> 3;
  const half = (whole << 3) < rows;
  // So many panels that their inputs stay in the first-level cache while every quad of weights passes over them.
  const together = max(1, <i32>(GROUP_BYTES / xStep));
  while (whole > 0) {
    const panels = min(whole, together);
    const groupEnd = y + <usize>panels * yStep;
    let quadStart = w;
    let from = bias;
    for (let line: usize = 0; line < yStep; line += 128) {
      let xStart = x;
      for (let out = y + line; out < groupEnd; out += yStep) {
        let a0 = f32x4.splat(0), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, d0 = a0, d1 = a0;
        if (from) {
          a0 = v128.load32_splat(from);
          b0 = v128.load32_splat(from, 4);
          c0 = v128.load32_splat(from, 8);
          d0 = v128.load32_splat(from, 12);
          a1 = a0;
          b1 = b0;
          c1 = c0;
          d1 = d0;
        } else if (accumulate) {
          a0 = v128.load(out);
          a1 = v128.load(out, 16);
          b0 = v128.load(out, 32);
          b1 = v128.load(out, 48);
          c0 = v128.load(out, 64);
          c1 = v128.load(out, 80);
          d0 = v128.load(out, 96);
          d1 = v128.load(out, 112);
        }
        let quad = quadStart;
        const xEnd = xStart + length;
        for (let at = xStart; at < xEnd; at += 32) {
          const x0 = v128.load(at), x1 = v128.load(at, 16);
          let s = v128.load32_splat(quad);
          a0 = madd(s, x0, a0);
          a1 = madd(s, x1, a1);
          s = v128.load32_splat(quad, 4);
          b0 = madd(s, x0, b0);
          b1 = madd(s, x1, b1);
          s = v128.load32_splat(quad, 8);
          c0 = madd(s, x0, c0);
          c1 = madd(s, x1, c1);
          s = v128.load32_splat(quad, 12);
          d0 = madd(s, x0, d0);
          d1 = madd(s, x1, d1);
          quad += 16;
        }
        v128.store(out, a0);
        v128.store(out, a1, 16);
        v128.store(out, b0, 32);
        v128.store(out, b1, 48);
        v128.store(out, c0, 64);
        v128.store(out, c1, 80);
        v128.store(out, d0, 96);
        v128.store(out, d1, 112);
        xStart += xStep;
      }
      quadStart += wStep;
      if (from) from += 16;
    }
    x += <usize>panels * xStep;
    y = groupEnd;
    whole -= panels;
  }
  if (half) multiplyHalf(x, length, w, wStep, bias, accumulate, y, lines);
}

/**
 * The same for a last panel with at most four rows: here the vectors run along eight lines, and the result is turned over; the other
 * four rows become zero. Products are added in the same order as above, so that a row's figures are the same to the bit.
 */
function multiplyHalf(
  x: usize, length: usize, w: usize, wStep: usize, bias: usize, accumulate: bool, y: usize, lines: i32,
): void {
  const xEnd = x + length;
  for (let line = 0; line < lines; line += 8) {
    // A last single quad is computed twice instead of with a quad that is not there.
    const second = line + 4 < lines ? wStep : 0;
    let a0 = f32x4.splat(0), b0 = a0, c0 = a0, d0 = a0, a1 = a0, b1 = a0, c1 = a0, d1 = a0;
    if (bias) {
      a0 = b0 = c0 = d0 = v128.load(bias);
      a1 = b1 = c1 = d1 = v128.load(bias + (second ? 16 : 0));
      bias += 32;
    } else if (accumulate) {
      const ab = v128.load(y), cd = v128.load(y, 32), ef = v128.load(y, 64), gh = v128.load(y, 96);
      const p = low(ab, cd), q = low(ef, gh), r = high(ab, cd), s = high(ef, gh);
      a0 = lowHalf(p, q);
      b0 = highHalf(p, q);
      c0 = lowHalf(r, s);
      d0 = highHalf(r, s);
      if (second) {
        const ij = v128.load(y, 128), kl = v128.load(y, 160), mn = v128.load(y, 192), op = v128.load(y, 224);
        const t = low(ij, kl), u = low(mn, op), v = high(ij, kl), z = high(mn, op);
        a1 = lowHalf(t, u);
        b1 = highHalf(t, u);
        c1 = lowHalf(v, z);
        d1 = highHalf(v, z);
      }
    }
    let quad = w;
    let other = w + second;
    for (let at = x; at < xEnd; at += 32) {
      const w0 = v128.load(quad), w1 = v128.load(other);
      let s = v128.load32_splat(at);
      a0 = madd(w0, s, a0);
      a1 = madd(w1, s, a1);
      s = v128.load32_splat(at, 4);
      b0 = madd(w0, s, b0);
      b1 = madd(w1, s, b1);
      s = v128.load32_splat(at, 8);
      c0 = madd(w0, s, c0);
      c1 = madd(w1, s, c1);
      s = v128.load32_splat(at, 12);
      d0 = madd(w0, s, d0);
      d1 = madd(w1, s, d1);
      quad += 16;
      other += 16;
    }
    storeHalf(y, a0, b0, c0, d0);
    if (second) storeHalf(y + 128, a1, b1, c1, d1);
    w += wStep + wStep;
    y += 256;
  }
}

/** Four rows of four lines, turned over; the panel's other four rows become zero. */
@inline
function storeHalf(y: usize, a: v128, b: v128, c: v128, d: v128): void {
  transpose4(a, b, c, d, y, 32);
  const zero = f32x4.splat(0);
  v128.store(y, zero, 16);
  v128.store(y, zero, 48);
  v128.store(y, zero, 80);
  v128.store(y, zero, 112);
}

/**
 * Adds the sum over rows of x[row][input] * delta[row][output] to `gradient`, which has the layout of the weights.
 * `x` is in panels of eight rows as it was made, `delta` in panels of eight columns (`toColumns`); rows count in whole panels.
 */
export function accumulateWeights(x: usize, inputs4: i32, delta: usize, outputs4: i32, panels: i32, gradient: usize): void {
  const gStep = <usize>inputs4 << 4;
  const length = <usize>panels << 8;
  const xStep = <usize>inputs4 << 5;
  for (let output = 0; output < outputs4; output += 8) {
    const end = delta + length;
    if (output + 8 <= outputs4) {
      let upper = gradient;
      let lower = gradient + gStep;
      for (let input = 0; input < inputs4; input += 4) {
        let a0 = v128.load(upper), b0 = v128.load(upper, 16), c0 = v128.load(upper, 32), d0 = v128.load(upper, 48);
        let a1 = v128.load(lower), b1 = v128.load(lower, 16), c1 = v128.load(lower, 32), d1 = v128.load(lower, 48);
        let from = x + (<usize>input << 5);
        for (let at = delta; at < end; from += xStep) {
          let row = from;
          for (const panelEnd = at + 256; at < panelEnd; at += 32) {
            const g0 = v128.load(at), g1 = v128.load(at, 16);
            let s = v128.load32_splat(row);
            a0 = madd(s, g0, a0);
            a1 = madd(s, g1, a1);
            s = v128.load32_splat(row, 32);
            b0 = madd(s, g0, b0);
            b1 = madd(s, g1, b1);
            s = v128.load32_splat(row, 64);
            c0 = madd(s, g0, c0);
            c1 = madd(s, g1, c1);
            s = v128.load32_splat(row, 96);
            d0 = madd(s, g0, d0);
            d1 = madd(s, g1, d1);
            row += 4;
          }
        }
        v128.store(upper, a0);
        v128.store(upper, b0, 16);
        v128.store(upper, c0, 32);
        v128.store(upper, d0, 48);
        v128.store(lower, a1);
        v128.store(lower, b1, 16);
        v128.store(lower, c1, 32);
        v128.store(lower, d1, 48);
        upper += 64;
        lower += 64;
      }
    } else {
      let upper = gradient;
      for (let input = 0; input < inputs4; input += 4) {
        let a = v128.load(upper), b = v128.load(upper, 16), c = v128.load(upper, 32), d = v128.load(upper, 48);
        let from = x + (<usize>input << 5);
        for (let at = delta; at < end; from += xStep) {
          let row = from;
          for (const panelEnd = at + 256; at < panelEnd; at += 32) {
            const g = v128.load(at);
            a = madd(v128.load32_splat(row), g, a);
            b = madd(v128.load32_splat(row, 32), g, b);
            c = madd(v128.load32_splat(row, 64), g, c);
            d = madd(v128.load32_splat(row, 96), g, d);
            row += 4;
          }
        }
        v128.store(upper, a);
        v128.store(upper, b, 16);
        v128.store(upper, c, 32);
        v128.store(upper, d, 48);
        upper += 64;
      }
    }
    gradient += gStep + gStep;
    delta = end;
  }
}

/** Adds the sums over rows of `delta` (panels of eight columns) to a bias gradient. */
export function accumulateBias(delta: usize, outputs4: i32, panels: i32, gradient: usize): void {
  const length = <usize>panels << 8;
  for (let output = 0; output < outputs4; output += 8) {
    let a = v128.load(gradient);
    const end = delta + length;
    if (output + 8 <= outputs4) {
      let b = v128.load(gradient, 16);
      for (; delta < end; delta += 32) {
        a = f32x4.add(a, v128.load(delta));
        b = f32x4.add(b, v128.load(delta, 16));
      }
      v128.store(gradient, b, 16);
    } else {
      for (; delta < end; delta += 32) a = f32x4.add(a, v128.load(delta));
    }
    v128.store(gradient, a);
    gradient += 32;
  }
}
