/** The city's worlds: ground, buildings, neighbour counts, free footprints and money, with the moves on them. It knows nothing of decisions or rewards. */
import type { RandomStream } from '../../math/random.ts';
import { type SavedNumbers, saveBlock } from '../arrays.ts';
import { drawMap, footprints, geometry, open } from './map.ts';
import * as rules from './rules.ts';
import { parcels, side } from './rules.ts';

/** Where each of the three lists of free footprints begins: singles, pairs, squares. */
const listStart = [0, parcels, 3 * parcels] as const;
/** No parcel is further from a hub than the map is wide, so that all are open after this many months. */
const openingMonths = 64;

const opensInMonth = new Int16Array(footprints);

/** The tables of running sums, in order. */
export const sumCells = (side + 1) * (side + 1);
export const sumTables = 5;
const openTo = 2;
const unrented = 4;

export class CityWorlds {
  /** Per parcel: open, river or hub; distance from the nearest hub, its zone and land value; building number + 1 or 0; IND and EDU buildings in reach. */
  readonly ground: Uint8Array;
  readonly distance: Float64Array;
  readonly zone: Uint8Array;
  readonly landValue: Float64Array;
  readonly occupied: Uint8Array;
  readonly near: [Uint8Array, Uint8Array];
  /** Free footprints that may be built on now, in three lists, and where each stands in its list (-1: not in it). */
  readonly list: Int16Array;
  readonly listLength: Int32Array;
  readonly where: Int16Array;
  /** Footprints that the ground allows, by the month in which they open, and where each month's begin. */
  private readonly opening: Int16Array;
  private readonly openingStart: Int16Array;
  /** Free single parcels by zone, `world * 3 + zone`. */
  readonly freeInZone: Int32Array;
  /**
   * Five tables of running sums per world, 13 x 13 each: over the factors of IND's buildings, of EDU's, of those EDU buildings that
   * another IND neighbour would still touch, of those IND buildings that another EDU neighbour would, and over the rents of IND
   * buildings without a school. A footprint's reach is a rectangle, so four entries give the sum of a new building's neighbours.
   */
  readonly sums: Float64Array;
  /** Buildings, up to `parcels` per world. */
  readonly buildings: Int32Array;
  readonly owner: Uint8Array;
  readonly size: Uint8Array;
  readonly footprint: Int16Array;
  readonly placedIn: Int16Array;
  readonly paid: Float64Array;
  /** Per company, `world * 2 + company`: money, what the last month brought, and what all its buildings bring once they run. */
  readonly cash: Float64Array;
  readonly income: Float64Array;
  readonly promised: Float64Array;
  readonly bankrupt: Uint8Array;
  readonly counts: Int32Array;
  readonly month: Int32Array;

  constructor(
    readonly settings: rules.CitySettings,
    readonly worlds: number,
  ) {
    const perParcel = worlds * parcels;
    this.ground = new Uint8Array(perParcel);
    this.distance = new Float64Array(perParcel);
    this.zone = new Uint8Array(perParcel);
    this.landValue = new Float64Array(perParcel);
    this.occupied = new Uint8Array(perParcel);
    this.near = [new Uint8Array(perParcel), new Uint8Array(perParcel)];
    this.list = new Int16Array(worlds * footprints);
    this.listLength = new Int32Array(worlds * 3);
    this.where = new Int16Array(worlds * footprints);
    this.opening = new Int16Array(worlds * footprints);
    this.openingStart = new Int16Array(worlds * openingMonths);
    this.freeInZone = new Int32Array(worlds * 3);
    this.sums = new Float64Array(worlds * sumTables * sumCells);
    this.buildings = new Int32Array(worlds);
    this.owner = new Uint8Array(perParcel);
    this.size = new Uint8Array(perParcel);
    this.footprint = new Int16Array(perParcel);
    this.placedIn = new Int16Array(perParcel);
    this.paid = new Float64Array(perParcel);
    this.cash = new Float64Array(worlds * 2);
    this.income = new Float64Array(worlds * 2);
    this.promised = new Float64Array(worlds * 2);
    this.bankrupt = new Uint8Array(worlds * 2);
    this.counts = new Int32Array(worlds * 6);
    this.month = new Int32Array(worlds);
  }

  begin(world: number, stream: RandomStream): void {
    const base = world * parcels;
    drawMap(stream, this.ground, this.distance, base);
    this.survey(world);
    this.freeInZone.fill(0, world * 3, world * 3 + 3);
    for (const array of [this.occupied, ...this.near]) array.fill(0, base, base + parcels);
    this.where.fill(-1, world * footprints, (world + 1) * footprints);
    this.listLength.fill(0, world * 3, world * 3 + 3);
    this.buildings[world] = 0;
    this.sums.fill(0, world * sumTables * sumCells, (world + 1) * sumTables * sumCells);
    this.cash[world * 2] = this.settings.indCash;
    this.cash[world * 2 + 1] = this.settings.eduCash;
    for (const array of [this.income, this.promised, this.bankrupt]) array.fill(0, world * 2, world * 2 + 2);
    this.counts.fill(0, world * 6, world * 6 + 6);
    this.month[world] = 0;
    this.unlock(world);
  }

  /** What follows from the map alone: zones, and when each footprint opens. */
  private survey(world: number): void {
    const base = world * parcels;
    for (let parcel = base; parcel < base + parcels; parcel++) {
      this.zone[parcel] = rules.zoneOf(this.distance[parcel]);
      this.landValue[parcel] = rules.landValue(this.distance[parcel]);
    }
    // Counting sort by month: count, sum up, put in place from the back.
    const starts = this.openingStart.subarray(world * openingMonths, (world + 1) * openingMonths);
    const order = this.opening.subarray(world * footprints, (world + 1) * footprints);
    starts.fill(0);
    for (let footprint = 0; footprint < footprints; footprint++) {
      const month = this.openingMonth(base, footprint);
      opensInMonth[footprint] = month;
      if (month >= 0) starts[month]++;
    }
    for (let month = 1; month < openingMonths; month++) starts[month] += starts[month - 1];
    for (let footprint = footprints - 1; footprint >= 0; footprint--) {
      if (opensInMonth[footprint] >= 0) order[--starts[opensInMonth[footprint]]] = footprint;
    }
  }

  /** The month in which the last of a footprint's parcels opens; -1 where the ground forbids it. */
  private openingMonth(base: number, footprint: number): number {
    const cells = geometry.cells[footprint];
    let furthest = 0;
    for (let i = 0; i < cells.length; i++) {
      if (this.ground[base + cells[i]] !== open) return -1;
      if (this.distance[base + cells[i]] > furthest) furthest = this.distance[base + cells[i]];
    }
    return cells.length > 0 ? rules.opensIn(furthest) : -1;
  }

  /** Adds the footprints that this month's radius opens. */
  unlock(world: number): void {
    const base = world * parcels;
    const month = this.month[world];
    if (month + 1 >= openingMonths) return;
    const end = world * footprints + this.openingStart[world * openingMonths + month + 1];
    for (let i = world * footprints + this.openingStart[world * openingMonths + month]; i < end; i++) {
      const footprint = this.opening[i];
      const cells = geometry.cells[footprint];
      let free = true;
      for (let j = 0; j < cells.length && free; j++) free = this.occupied[base + cells[j]] === 0;
      if (!free) continue;
      const group = geometry.group[footprint];
      const length = this.listLength[world * 3 + group]++;
      this.list[world * footprints + listStart[group] + length] = footprint;
      this.where[world * footprints + footprint] = length;
      if (group === 0) this.freeInZone[world * 3 + this.zone[base + footprint]]++;
    }
  }

  /** Draws footprints of a group without replacement: the n-th draw, with n counted by the caller from 0. */
  draw(world: number, group: number, n: number, stream: RandomStream): number {
    const start = world * footprints + listStart[group];
    // A product instead of an exact draw: a footprint is favoured by at most 2^-32, and a list costs half as much.
    const other = n + ((stream.uniform() * (this.listLength[world * 3 + group] - n)) | 0);
    const drawn = this.list[start + other];
    const kept = this.list[start + n];
    this.list[start + n] = drawn;
    this.list[start + other] = kept;
    this.where[world * footprints + drawn] = n;
    this.where[world * footprints + kept] = other;
    return drawn;
  }

  place(world: number, company: number, size: number, footprint: number, cost: number): void {
    const base = world * parcels;
    const building = this.buildings[world]++;
    this.owner[base + building] = company;
    this.size[base + building] = size;
    this.footprint[base + building] = footprint;
    this.placedIn[base + building] = this.month[world];
    this.paid[base + building] = cost;
    this.counts[world * 6 + company * 3 + size]++;
    this.cash[world * 2 + company] -= cost;
    const reach = geometry.reach[footprint];
    const near = this.near[company];
    for (let i = 0; i < reach.length; i++) {
      const parcel = reach[i];
      const neighbour = this.occupied[base + parcel] - 1;
      const before = near[base + parcel]++;
      if (neighbour < 0 || this.owner[base + neighbour] === company) continue;
      if (this.footprint[base + neighbour] % parcels !== parcel) continue;
      // The other's building stands there; it may have had its fill of neighbours now, or its first school.
      const theirSize = this.size[base + neighbour];
      if (before === this.cap(company) - 1)
        this.add(world, openTo + company, parcel, -rules.factor[1 - company][theirSize]);
      if (company === 1 && before === 0) this.add(world, unrented, parcel, -rules.rentBySize[theirSize]);
    }
    this.count(world, building);
    const cells = geometry.cells[footprint];
    for (let i = 0; i < cells.length; i++) {
      this.occupied[base + cells[i]] = building + 1;
      const covering = geometry.covering[cells[i]];
      for (let j = 0; j < covering.length; j++) this.remove(world, covering[j]);
    }
  }

  /** How many neighbours of a company count for a building of the other. */
  private cap(company: number): number {
    return company === 0 ? this.settings.eduBonusCap : 3;
  }

  /** Enters a building into the running sums as the neighbours are now. */
  private count(world: number, building: number): void {
    const base = world * parcels;
    const company = this.owner[base + building];
    const size = this.size[base + building];
    const top = this.footprint[base + building] % parcels;
    const factor = rules.factor[company][size];
    this.add(world, company, top, factor);
    const others = this.near[1 - company][base + top];
    if (others < this.cap(1 - company)) this.add(world, openTo + 1 - company, top, factor);
    if (company === 0 && others === 0) this.add(world, unrented, top, rules.rentBySize[size]);
  }

  private add(world: number, table: number, parcel: number, value: number): void {
    const start = (world * sumTables + table) * sumCells;
    const left = (parcel % side) + 1;
    for (let row = Math.floor(parcel / side) + 1; row <= side; row++) {
      for (let at = start + row * (side + 1) + left; at < start + (row + 1) * (side + 1); at++) this.sums[at] += value;
    }
  }

  private remove(world: number, footprint: number): void {
    const at = world * footprints + footprint;
    const hole = this.where[at];
    if (hole < 0) return;
    const group = geometry.group[footprint];
    const start = world * footprints + listStart[group];
    const last = this.list[start + --this.listLength[world * 3 + group]];
    this.list[start + hole] = last;
    this.where[world * footprints + last] = hole;
    this.where[at] = -1;
    if (group === 0) this.freeInZone[world * 3 + this.zone[world * parcels + footprint]]--;
  }

  /** What a building brings a month once it runs, rent left out. */
  netOf(world: number, building: number): number {
    const base = world * parcels;
    const company = this.owner[base + building];
    const size = this.size[base + building];
    const parcel = base + (this.footprint[base + building] % parcels);
    const zone = this.zone[parcel];
    const others = this.near[1 - company][parcel];
    // A building lies in its own reach and is not its own neighbour.
    const own = this.near[company][parcel] - 1;
    return rules.revenue(this.settings, company, size, zone, others, own) - rules.runningCost[company][size];
  }

  /** The end of a month: income, rent, interest, bankruptcies. Fills `flow` with what each company gained or lost. */
  close(world: number, flow: Float64Array): void {
    const base = world * parcels;
    const c = world * 2;
    const month = this.month[world];
    const rentFlows = this.bankrupt[c] === 0 && this.bankrupt[c + 1] === 0;
    this.promised[c] = 0;
    this.promised[c + 1] = 0;
    flow[0] = 0;
    flow[1] = 0;
    for (let building = 0; building < this.buildings[world]; building++) {
      const company = this.owner[base + building];
      const size = this.size[base + building];
      const runs = month >= this.placedIn[base + building] + rules.earnsAfter[size];
      const net = this.netOf(world, building);
      if (this.bankrupt[c + company] === 0) {
        this.promised[c + company] += net;
        if (runs) flow[company] += net;
      }
      if (company === 1 || !rentFlows) continue;
      if (this.near[1][base + (this.footprint[base + building] % parcels)] === 0) continue;
      const rent = rules.rentBySize[size];
      this.promised[c] -= rent;
      this.promised[c + 1] += rent;
      if (!runs) continue;
      flow[0] -= rent;
      flow[1] += rent;
    }
    for (let company = 0; company < 2; company++) {
      if (this.bankrupt[c + company] === 1) continue;
      // Interest is on the debt as it stood, before the month's income.
      if (this.cash[c + company] < 0) flow[company] += this.cash[c + company] * this.settings.interest;
      this.cash[c + company] += flow[company];
      this.income[c + company] = flow[company];
      if (this.cash[c + company] > -this.settings.debtLimit) continue;
      this.bankrupt[c + company] = 1;
      this.income[c + company] = 0;
      this.promised[c + company] = 0;
    }
  }

  /** Half of what a company's buildings cost. */
  residual(world: number, company: number): number {
    const base = world * parcels;
    let paid = 0;
    for (let building = 0; building < this.buildings[world]; building++) {
      if (this.owner[base + building] === company) paid += this.paid[base + building];
    }
    return paid / 2;
  }

  private blocks(): [{ [index: number]: number } & ArrayLike<number>, number][] {
    return [
      [this.ground, parcels],
      [this.distance, parcels],
      [this.zone, parcels],
      [this.landValue, parcels],
      [this.opening, footprints],
      [this.openingStart, openingMonths],
      [this.freeInZone, 3],
      [this.occupied, parcels],
      [this.near[0], parcels],
      [this.near[1], parcels],
      [this.list, footprints],
      [this.listLength, 3],
      [this.where, footprints],
      [this.buildings, 1],
      [this.owner, parcels],
      [this.size, parcels],
      [this.footprint, parcels],
      [this.placedIn, parcels],
      [this.paid, parcels],
      [this.cash, 2],
      [this.income, 2],
      [this.promised, 2],
      [this.bankrupt, 2],
      [this.counts, 6],
      [this.month, 1],
    ];
  }

  save(world: number, saved: number[]): void {
    for (const [array, width] of this.blocks()) saveBlock(saved, array, world * width, width);
  }

  load(world: number, read: SavedNumbers): void {
    for (const [array, width] of this.blocks()) read.block(array, world * width, width);
    this.sums.fill(0, world * sumTables * sumCells, (world + 1) * sumTables * sumCells);
    for (let building = 0; building < this.buildings[world]; building++) this.count(world, building);
  }
}
