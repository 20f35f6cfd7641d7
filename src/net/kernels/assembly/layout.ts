/** Moves between layouts: rows, panels of eight rows, panels of eight columns. */

// Four vectors are transposed by pairs, then by halves.
@inline
export function low(a: v128, b: v128): v128 {
  return v128.shuffle<u32>(a, b, 0, 4, 1, 5);
}
@inline
export function high(a: v128, b: v128): v128 {
  return v128.shuffle<u32>(a, b, 2, 6, 3, 7);
}
@inline
export function lowHalf(a: v128, b: v128): v128 {
  return v128.shuffle<u64>(a, b, 0, 2);
}
@inline
export function highHalf(a: v128, b: v128): v128 {
  return v128.shuffle<u64>(a, b, 1, 3);
}

/** Transposes four vectors to `to`, `step` bytes apart. */
@inline
export function transpose4(a: v128, b: v128, c: v128, d: v128, to: usize, step: usize): void {
  const ab = low(a, b), cd = low(c, d), ef = high(a, b), gh = high(c, d);
  v128.store(to, lowHalf(ab, cd));
  v128.store(to + step, highHalf(ab, cd));
  v128.store(to + 2 * step, lowHalf(ef, gh));
  v128.store(to + 3 * step, highHalf(ef, gh));
}

/** Rows order[first ..] of a row-major matrix into panels of eight rows; missing rows and columns up to `columns4` are zero. */
export function gather(source: usize, columns: i32, columns4: i32, order: usize, first: i32, rows: i32, to: usize): void {
  const bytes = <usize>columns << 2;
  for (let row = 0; row < rows; row += 8) {
    for (let half = 0; half < 8; half += 4) {
      const left = rows - row - half;
      const out = to + (<usize>half << 2);
      if (left <= 0) {
        for (let line = 0; line < columns4; line++) v128.store(out + (<usize>line << 5), f32x4.splat(0));
        continue;
      }
      const at = first + row + half;
      // A missing row reads the first one and is masked away.
      const a = rowAt(source, bytes, order, at);
      const b = left > 1 ? rowAt(source, bytes, order, at + 1) : a;
      const c = left > 2 ? rowAt(source, bytes, order, at + 2) : a;
      const d = left > 3 ? rowAt(source, bytes, order, at + 3) : a;
      const keep = i32x4(-1, left > 1 ? -1 : 0, left > 2 ? -1 : 0, left > 3 ? -1 : 0);
      let line = 0;
      for (; line < columns; line += 4) {
        const k = <usize>line << 2;
        transpose4(v128.load(a + k), v128.load(b + k), v128.load(c + k), v128.load(d + k), out + (<usize>line << 5), 32);
      }
      if (left < 4) {
        for (let l = 0; l < columns; l++) {
          const p = out + (<usize>l << 5);
          v128.store(p, v128.and(v128.load(p), keep));
        }
      }
      for (line = columns; line < columns4; line++) v128.store(out + (<usize>line << 5), f32x4.splat(0));
    }
    to += <usize>columns4 << 5;
  }
}

/** Address of row order[at], or of row `at` without an order. */
@inline
export function rowAt(source: usize, bytes: usize, order: usize, at: i32): usize {
  return source + bytes * <usize>(order ? load<i32>(order + (<usize>at << 2)) : at);
}

/** Panels of eight rows [panel][lines][8] into panels of eight columns [lines / 8][row][8]; a last half panel leaves its rest unset. */
export function toColumns(source: usize, lines: i32, panels: i32, to: usize): void {
  const step = <usize>panels << 8;
  for (let panel = 0; panel < panels; panel++) {
    let out = to + (<usize>panel << 8);
    let line = 0;
    for (; line + 8 <= lines; line += 8) {
      transpose4(v128.load(source), v128.load(source, 32), v128.load(source, 64), v128.load(source, 96), out, 32);
      transpose4(v128.load(source, 16), v128.load(source, 48), v128.load(source, 80), v128.load(source, 112), out + 128, 32);
      transpose4(v128.load(source, 128), v128.load(source, 160), v128.load(source, 192), v128.load(source, 224), out + 16, 32);
      transpose4(v128.load(source, 144), v128.load(source, 176), v128.load(source, 208), v128.load(source, 240), out + 144, 32);
      source += 256;
      out += step;
    }
    if (line < lines) {
      transpose4(v128.load(source), v128.load(source, 32), v128.load(source, 64), v128.load(source, 96), out, 32);
      transpose4(v128.load(source, 16), v128.load(source, 48), v128.load(source, 80), v128.load(source, 112), out + 128, 32);
      source += 128;
    }
  }
}

/** Spreads rows in panels of eight columns to items in panels of eight items: item i takes row `rowOfItem[i]`; whole panels of items. */
export function spread(columns: usize, lines: i32, rowPanels: i32, rowOfItem: usize, items: i32, to: usize): void {
  const step = <usize>rowPanels << 8;
  for (let item = 0; item < items; item += 4) {
    const index = rowOfItem + (<usize>item << 2);
    let a = columns + (<usize>load<i32>(index) << 5);
    let b = columns + (<usize>load<i32>(index, 4) << 5);
    let c = columns + (<usize>load<i32>(index, 8) << 5);
    let d = columns + (<usize>load<i32>(index, 12) << 5);
    let out = to + (<usize>(item >> 3) * (<usize>lines << 5)) + (<usize>(item & 4) << 2);
    for (let line = 0; line < lines; line += 8) {
      transpose4(v128.load(a), v128.load(b), v128.load(c), v128.load(d), out, 32);
      if (line + 4 < lines) {
        transpose4(v128.load(a, 16), v128.load(b, 16), v128.load(c, 16), v128.load(d, 16), out + 128, 32);
      }
      out += 256;
      a += step;
      b += step;
      c += step;
      d += step;
    }
  }
}

/** Sums items into their rows, both in panels of eight columns; rows are cleared first. */
export function gatherSums(items: usize, lines: i32, itemPanels: i32, rowOfItem: usize, count: i32, rowPanels: i32, to: usize): void {
  const itemStep = <usize>itemPanels << 8;
  const rowStep = <usize>rowPanels << 8;
  for (let line = 0; line < lines; line += 8) {
    memory.fill(to, 0, rowStep);
    for (let item = 0; item < count; item++) {
      const row = to + (<usize>load<i32>(rowOfItem + (<usize>item << 2)) << 5);
      const from = items + (<usize>item << 5);
      v128.store(row, f32x4.add(v128.load(row), v128.load(from)));
      v128.store(row, f32x4.add(v128.load(row, 16), v128.load(from, 16)), 16);
    }
    items += itemStep;
    to += rowStep;
  }
}

/** Weights [outputs / 4][inputs4][4] into [inputs / 4][outputs4][4]. */
export function transposeWeights(weight: usize, inputs4: i32, outputs4: i32, to: usize): void {
  for (let output = 0; output < outputs4; output += 4) {
    for (let input = 0; input < inputs4; input += 4) {
      const out = to + (<usize>input * <usize>outputs4 << 2) + (<usize>output << 4);
      transpose4(v128.load(weight), v128.load(weight, 16), v128.load(weight, 32), v128.load(weight, 48), out, 16);
      weight += 64;
    }
  }
}

/** Panels of eight rows back to row-major rows, `columns` of them. */
export function scatterRows(source: usize, columns: i32, columns4: i32, rows: i32, to: usize): void {
  for (let row = 0; row < rows; row++) {
    const from = source + <usize>(row >> 3) * (<usize>columns4 << 5) + (<usize>(row & 7) << 2);
    for (let column = 0; column < columns; column++) {
      store<f32>(to, load<f32>(from + (<usize>column << 5)));
      to += 4;
    }
  }
}
