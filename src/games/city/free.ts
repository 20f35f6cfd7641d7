/** The footprints that may be built on now, in three lists per world: singles, pairs, squares. A list's order carries no meaning, because drawing shuffles it. */
import type { RandomStream } from '../../math/random.ts';
import { footprints, geometry, open } from './map.ts';
import { opensIn, parcels } from './rules.ts';

/** Where each of the three lists begins. */
const listStart = [0, parcels, 3 * parcels] as const;
/** No parcel is further from a hub than the map is wide, so that all are open after this many months. */
const openingMonths = 64;

/** Of the map that is being surveyed: when each parcel opens, and each footprint. */
const never = 1000;
const parcelOpens = new Int16Array(parcels);
const footprintOpens = new Int16Array(footprints);

/** The month in which the last of a footprint's parcels opens; `never` where the ground forbids it. */
function openingMonth(footprint: number): number {
  const cells = geometry.cells[footprint];
  let latest = cells.length > 0 ? 0 : never;
  for (let i = 0; i < cells.length; i++) if (parcelOpens[cells[i]] > latest) latest = parcelOpens[cells[i]];
  return latest;
}

export class FreeFootprints {
  /** Per world and list. */
  readonly length: Int32Array;
  /** Free single parcels by zone, `world * 3 + zone`. */
  readonly inZone: Int32Array;
  private readonly list: Int16Array;
  /** Where each footprint stands in its list; -1: not in it. */
  private readonly where: Int16Array;
  /** Footprints that the ground allows, by the month in which they open, and where each month's begin. */
  private readonly opening: Int16Array;
  private readonly openingStart: Int16Array;

  constructor(
    worlds: number,
    private readonly zone: Uint8Array,
  ) {
    this.length = new Int32Array(worlds * 3);
    this.inZone = new Int32Array(worlds * 3);
    this.list = new Int16Array(worlds * footprints);
    this.where = new Int16Array(worlds * footprints);
    this.opening = new Int16Array(worlds * footprints);
    this.openingStart = new Int16Array(worlds * openingMonths);
  }

  /** Empties the lists and finds out when each footprint of a new map opens. */
  begin(world: number, ground: Uint8Array, distance: Float64Array): void {
    const base = world * parcels;
    this.length.fill(0, world * 3, world * 3 + 3);
    this.inZone.fill(0, world * 3, world * 3 + 3);
    this.where.fill(-1, world * footprints, (world + 1) * footprints);
    for (let parcel = 0; parcel < parcels; parcel++) {
      parcelOpens[parcel] = ground[base + parcel] === open ? opensIn(distance[base + parcel]) : never;
    }
    // Counting sort by month: count, sum up, put in place from the back.
    const starts = this.openingStart.subarray(world * openingMonths, (world + 1) * openingMonths);
    const order = this.opening.subarray(world * footprints, (world + 1) * footprints);
    starts.fill(0);
    for (let footprint = 0; footprint < footprints; footprint++) {
      const month = openingMonth(footprint);
      footprintOpens[footprint] = month;
      if (month < never) starts[month]++;
    }
    for (let month = 1; month < openingMonths; month++) starts[month] += starts[month - 1];
    for (let footprint = footprints - 1; footprint >= 0; footprint--) {
      if (footprintOpens[footprint] < never) order[--starts[footprintOpens[footprint]]] = footprint;
    }
  }

  /** Adds the footprints that open in a month and are not built on. */
  unlock(world: number, month: number, occupied: Uint8Array): void {
    const base = world * parcels;
    if (month + 1 >= openingMonths) return;
    const end = world * footprints + this.openingStart[world * openingMonths + month + 1];
    for (let i = world * footprints + this.openingStart[world * openingMonths + month]; i < end; i++) {
      const footprint = this.opening[i];
      const cells = geometry.cells[footprint];
      let free = true;
      for (let j = 0; j < cells.length && free; j++) free = occupied[base + cells[j]] === 0;
      if (!free) continue;
      const group = geometry.group[footprint];
      const length = this.length[world * 3 + group]++;
      this.list[world * footprints + listStart[group] + length] = footprint;
      this.where[world * footprints + footprint] = length;
      if (group === 0) this.inZone[world * 3 + this.zone[base + footprint]]++;
    }
  }

  /** Draws `count` footprints of a group without replacement into `into` from `at` on. */
  draw(world: number, group: number, count: number, stream: RandomStream, into: Int16Array, at: number): void {
    const { list, where } = this;
    const base = world * footprints;
    const start = base + listStart[group];
    const length = this.length[world * 3 + group];
    for (let n = 0; n < count; n++) {
      // A product instead of an exact draw: a footprint is favoured by at most 2^-32, and a list costs half as much.
      const other = n + ((stream.uniform() * (length - n)) | 0);
      const drawn = list[start + other];
      const kept = list[start + n];
      list[start + n] = drawn;
      list[start + other] = kept;
      where[base + drawn] = n;
      where[base + kept] = other;
      into[at + n] = drawn;
    }
  }

  /** Takes a footprint out, if it is in. */
  remove(world: number, footprint: number): void {
    const at = world * footprints + footprint;
    const hole = this.where[at];
    if (hole < 0) return;
    const group = geometry.group[footprint];
    const start = world * footprints + listStart[group];
    const last = this.list[start + --this.length[world * 3 + group]];
    this.list[start + hole] = last;
    this.where[world * footprints + last] = hole;
    this.where[at] = -1;
    if (group === 0) this.inZone[world * 3 + this.zone[world * parcels + footprint]]--;
  }

  /** What a saved world holds, with the width of each per world. */
  blocks(): [Int16Array | Int32Array, number][] {
    return [
      [this.opening, footprints],
      [this.openingStart, openingMonths],
      [this.inZone, 3],
      [this.list, footprints],
      [this.length, 3],
      [this.where, footprints],
    ];
  }
}
