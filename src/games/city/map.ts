/** The city's ground and the geometry of footprints. A footprint is `shape * 144 + top-left parcel`; not every number is one, because some would stick out of the map. */
import type { RandomStream } from '../../math/random.ts';
import { parcels, side } from './rules.ts';

/** Footprints: one parcel, two side by side, two one above the other, two by two. */
export const footprints = 4 * parcels;
const shapeSize = [
  [1, 1],
  [2, 1],
  [1, 2],
  [2, 2],
] as const;

export const open = 0;
export const river = 1;
export const hub = 2;
/** Dry land that may not be built on. */
export const closed = 3;

interface Geometry {
  /** Parcels of every footprint; empty where it would stick out. */
  readonly cells: readonly Int32Array[];
  /** Parcels within Chebyshev distance 2 of any of its parcels. */
  readonly reach: readonly Int32Array[];
  /** That rectangle as four entries of a 13 x 13 table of running sums: plus, minus, minus, plus. */
  readonly reachCorners: Int32Array;
  readonly cellCount: Uint8Array;
  /** Footprints that cover a parcel. */
  readonly covering: readonly Int32Array[];
  /** Which list of free footprints it belongs to: 0 singles, 1 pairs, 2 squares. */
  readonly group: Uint8Array;
}

export const geometry: Geometry = (() => {
  const cells: Int32Array[] = [];
  const reach: Int32Array[] = [];
  const reachCorners = new Int32Array(footprints * 4);
  const cellCount = new Uint8Array(footprints);
  const covering: number[][] = Array.from({ length: parcels }, () => []);
  const group = new Uint8Array(footprints);
  for (let footprint = 0; footprint < footprints; footprint++) {
    const shape = Math.floor(footprint / parcels);
    const [wide, high] = shapeSize[shape];
    const x = footprint % side;
    const y = Math.floor((footprint % parcels) / side);
    group[footprint] = shape === 0 ? 0 : shape === 3 ? 2 : 1;
    const own: number[] = [];
    const around: number[] = [];
    if (x + wide <= side && y + high <= side) {
      for (let j = y; j < y + high; j++) for (let i = x; i < x + wide; i++) own.push(j * side + i);
      const left = Math.max(0, x - 2);
      const top = Math.max(0, y - 2);
      const right = Math.min(side, x + wide + 2);
      const bottom = Math.min(side, y + high + 2);
      for (let j = top; j < bottom; j++) for (let i = left; i < right; i++) around.push(j * side + i);
      const sum = (i: number, j: number) => j * (side + 1) + i;
      reachCorners.set([sum(right, bottom), sum(left, bottom), sum(right, top), sum(left, top)], footprint * 4);
    }
    cellCount[footprint] = own.length;
    cells.push(Int32Array.from(own));
    reach.push(Int32Array.from(around));
    for (const parcel of own) covering[parcel].push(footprint);
  }
  return { cells, reach, reachCorners, cellCount, covering: covering.map((list) => Int32Array.from(list)), group };
})();

/** Draws river and hubs into `ground`, and the distance of every parcel from the nearest hub into `distance`. Gives the hubs. */
export function drawMap(
  stream: RandomStream,
  ground: Uint8Array,
  distance: Float64Array,
  base: number,
): [number, number] {
  ground.fill(open, base, base + parcels);
  // The river runs from one side to the other, one parcel in every row or column, and wanders by at most one.
  const down = stream.below(2) === 0;
  let across = 2 + stream.below(side - 4);
  for (let along = 0; along < side; along++) {
    ground[base + (down ? along * side + across : across * side + along)] = river;
    across = Math.min(side - 1, Math.max(0, across + stream.below(3) - 1));
  }
  const free = () => {
    for (;;) {
      const parcel = (2 + stream.below(side - 4)) * side + 2 + stream.below(side - 4);
      if (ground[base + parcel] === open) return parcel;
    }
  };
  let first = free();
  let second = free();
  while (apart(first, second) < 4.2) {
    first = free();
    second = free();
  }
  ground[base + first] = hub;
  ground[base + second] = hub;
  measure([first, second], distance, base);
  return [first, second];
}

/** The distance of every parcel from the nearest hub. */
export function measure(hubs: readonly number[], distance: Float64Array, base: number): void {
  for (let parcel = 0; parcel < parcels; parcel++)
    distance[base + parcel] = Math.min(...hubs.map((at) => apart(parcel, at)));
}

function apart(a: number, b: number): number {
  const x = (a % side) - (b % side);
  const y = Math.floor(a / side) - Math.floor(b / side);
  return Math.sqrt(x * x + y * y);
}
