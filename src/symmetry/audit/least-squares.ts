/** y = a x1 + b x2 by least squares, from sums alone. */

export class SquareSums {
  count = 0;
  xx = 0;
  xz = 0;
  zz = 0;
  xy = 0;
  zy = 0;
  yy = 0;

  add(x: number, z: number, y: number): void {
    if (!Number.isFinite(x + z + y)) return;
    this.count++;
    this.xx += x * x;
    this.xz += x * z;
    this.zz += z * z;
    this.xy += x * y;
    this.zy += z * y;
    this.yy += y * y;
  }
}

/** NaN where the two columns do not tell a and b apart. `residual` is the share of y that is left, as a root. */
export function solvePair(sums: SquareSums): { a: number; b: number; residual: number } {
  const { xx, xz, zz, xy, zy, yy, count } = sums;
  const determinant = xx * zz - xz * xz;
  if (count < 4 || !(determinant > 1e-9 * xx * zz)) return { a: Number.NaN, b: Number.NaN, residual: Number.NaN };
  const a = (xy * zz - zy * xz) / determinant;
  const b = (zy * xx - xy * xz) / determinant;
  const left = Math.max(0, yy - a * xy - b * zy);
  return { a, b, residual: yy > 0 ? Math.sqrt(left / yy) : Number.NaN };
}
