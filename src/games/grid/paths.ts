/** Walking on a grid with obstacles. A cell is `row * width + column`; only a thing of 255 bars the way, prey and drifts do not. */

const obstacle = 255;

/** For every cell the legal moves as bits up, down, left, right, stay; an obstacle's cell has none. */
export function openMoves(
  width: number,
  height: number,
  thing: Uint8Array,
  base: number,
  moves: Uint8Array,
  movesBase: number,
): void {
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const cell = row * width + column;
      const open = (r: number, c: number) =>
        r >= 0 && r < height && c >= 0 && c < width && thing[base + r * width + c] !== obstacle;
      let bits = 0;
      if (open(row, column)) {
        bits = 1 << 4;
        if (open(row - 1, column)) bits |= 1;
        if (open(row + 1, column)) bits |= 2;
        if (open(row, column - 1)) bits |= 4;
        if (open(row, column + 1)) bits |= 8;
      }
      moves[movesBase + cell] = bits;
    }
  }
}

/** Whether every cell without an obstacle can be reached from every other. */
export function keepsConnected(width: number, height: number, thing: Uint8Array, base: number): boolean {
  const cells = width * height;
  const reached = new Uint8Array(cells);
  const stack: number[] = [];
  let free = 0;
  for (let cell = 0; cell < cells; cell++) if (thing[base + cell] !== obstacle) free++;
  const visit = (cell: number) => {
    if (reached[cell] === 1 || thing[base + cell] === obstacle) return;
    reached[cell] = 1;
    stack.push(cell);
  };
  for (let cell = 0; cell < cells && stack.length === 0; cell++) visit(cell);
  let count = 0;
  for (let cell = stack.pop(); cell !== undefined; cell = stack.pop()) {
    count++;
    const column = cell % width;
    if (cell >= width) visit(cell - width);
    if (cell + width < cells) visit(cell + width);
    if (column > 0) visit(cell - 1);
    if (column + 1 < width) visit(cell + 1);
  }
  return count === free;
}

/** Steps from one cell to every other, -1 where there is no way; breadth first. */
export function distancesFrom(
  width: number,
  height: number,
  moves: Uint8Array,
  base: number,
  from: number,
): Int16Array {
  const cells = width * height;
  const distances = new Int16Array(cells).fill(-1);
  const queue = new Int32Array(cells);
  const delta = [-width, width, -1, 1];
  distances[from] = 0;
  queue[0] = from;
  let tail = 1;
  for (let head = 0; head < tail; head++) {
    const cell = queue[head];
    for (let move = 0; move < 4; move++) {
      if (((moves[base + cell] >> move) & 1) === 0) continue;
      const next = cell + delta[move];
      if (distances[next] >= 0) continue;
      distances[next] = distances[cell] + 1;
      queue[tail++] = next;
    }
  }
  return distances;
}

/** Whether a cell lies within so many rows and columns of another. */
export function near(a: number, b: number, width: number, radius: number): boolean {
  const across = Math.abs((a % width) - (b % width));
  const down = Math.abs(Math.floor(a / width) - Math.floor(b / width));
  return across <= radius && down <= radius;
}
