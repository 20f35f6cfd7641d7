/** The city's worlds: ground, buildings, neighbour counts and money, with the moves on them. It knows nothing of decisions or rewards. */
import type { RandomStream } from '../../math/random.ts';
import { type SavedNumbers, saveBlock } from '../arrays.ts';
import { FreeFootprints } from './free.ts';
import { drawMap, geometry, measure } from './map.ts';
import { layOut } from './plan.ts';
import * as rules from './rules.ts';
import { parcels, side } from './rules.ts';

/**
 * What a new building of a company would touch, packed into one whole number so that four loads fetch all of it: twice the factors of
 * the company's own buildings, twice those of the other's that another neighbour would still touch, and, for EDU, a fifth of the rents
 * of IND buildings without a school. A parcel has at most 3, 3 and 5 of them, so sums over the map stay below 512, 512 and 1024.
 */
export const sumCells = (side + 1) * (side + 1);
export const openShift = 9;
export const rentShift = 18;
export const fieldMask = 511;
const ownUnit = 2;
const openUnit = 2 << openShift;

export class CityWorlds {
  /** Per parcel: open, river or hub; distance from the nearest hub, its zone and land value; building number + 1 or 0; IND and EDU buildings in reach. */
  readonly ground: Uint8Array;
  readonly distance: Float64Array;
  readonly zone: Uint8Array;
  readonly landValue: Float64Array;
  readonly occupied: Uint8Array;
  readonly near: [Uint8Array, Uint8Array];
  readonly free: FreeFootprints;
  /** Running sums of that per company, `(world * 2 + company)`, 13 x 13 each: a footprint's reach is a rectangle, so four entries give its sum. */
  readonly sums: Int32Array;
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
  /** Buildings that do not earn yet. */
  readonly unfinished: Int32Array;
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
    this.free = new FreeFootprints(worlds, this.zone);
    this.sums = new Int32Array(worlds * 2 * sumCells);
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
    this.unfinished = new Int32Array(worlds * 2);
    this.month = new Int32Array(worlds);
  }

  begin(world: number, stream: RandomStream): void {
    const base = world * parcels;
    const { map } = this.settings;
    if (map) measure(layOut(map, this.ground, base), this.distance, base);
    else drawMap(stream, this.ground, this.distance, base);
    this.survey(world);
    for (const array of [this.occupied, ...this.near]) array.fill(0, base, base + parcels);
    this.buildings[world] = 0;
    this.sums.fill(0, world * 2 * sumCells, (world + 1) * 2 * sumCells);
    this.cash[world * 2] = this.settings.indCash;
    this.cash[world * 2 + 1] = this.settings.eduCash;
    for (const array of [this.income, this.promised, this.bankrupt, this.unfinished])
      array.fill(0, world * 2, world * 2 + 2);
    this.counts.fill(0, world * 6, world * 6 + 6);
    this.month[world] = 0;
    this.unlock(world);
  }

  /** What follows from the map alone. */
  private survey(world: number): void {
    for (let parcel = world * parcels; parcel < (world + 1) * parcels; parcel++) {
      this.zone[parcel] = rules.zoneOf(this.distance[parcel]);
      this.landValue[parcel] = rules.landValue(this.distance[parcel]);
    }
    this.free.begin(world, this.ground, this.distance);
  }

  /** Adds the footprints that this month's radius opens. */
  unlock(world: number): void {
    this.free.unlock(world, this.month[world], this.occupied);
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
    this.unfinished[world * 2 + company]++;
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
      let less = 0;
      if (before === this.cap(company) - 1) less += openUnit * rules.factor[1 - company][theirSize];
      if (company === 1 && before === 0) less += (rules.rentBySize[theirSize] / 5) << rentShift;
      if (less > 0) this.add(world, company, parcel, -less);
    }
    this.count(world, building);
    const cells = geometry.cells[footprint];
    for (let i = 0; i < cells.length; i++) {
      this.occupied[base + cells[i]] = building + 1;
      const covering = geometry.covering[cells[i]];
      for (let j = 0; j < covering.length; j++) this.free.remove(world, covering[j]);
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
    this.add(world, company, top, ownUnit * factor);
    const others = this.near[1 - company][base + top];
    let touched = 0;
    if (others < this.cap(1 - company)) touched += openUnit * factor;
    if (company === 0 && others === 0) touched += (rules.rentBySize[size] / 5) << rentShift;
    if (touched > 0) this.add(world, 1 - company, top, touched);
  }

  private add(world: number, company: number, parcel: number, value: number): void {
    const { sums } = this;
    const start = (world * 2 + company) * sumCells;
    const left = (parcel % side) + 1;
    for (let row = Math.floor(parcel / side) + 1; row <= side; row++) {
      for (let at = start + row * (side + 1) + left; at < start + (row + 1) * (side + 1); at++) sums[at] += value;
    }
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
    for (let company = 0; company < 2; company++) {
      this.promised[c + company] = 0;
      this.unfinished[c + company] = 0;
    }
    flow[0] = 0;
    flow[1] = 0;
    for (let building = 0; building < this.buildings[world]; building++) {
      const company = this.owner[base + building];
      const size = this.size[base + building];
      const age = month - this.placedIn[base + building];
      const runs = age >= rules.earnsAfter[size];
      if (age + 1 < rules.earnsAfter[size]) this.unfinished[c + company]++;
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
      ...this.free.blocks(),
      [this.ground, parcels],
      [this.distance, parcels],
      [this.zone, parcels],
      [this.landValue, parcels],
      [this.occupied, parcels],
      [this.near[0], parcels],
      [this.near[1], parcels],
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
      [this.unfinished, 2],
      [this.month, 1],
    ];
  }

  save(world: number, saved: number[]): void {
    for (const [array, width] of this.blocks()) saveBlock(saved, array, world * width, width);
  }

  load(world: number, read: SavedNumbers): void {
    for (const [array, width] of this.blocks()) read.block(array, world * width, width);
    this.sums.fill(0, world * 2 * sumCells, (world + 1) * 2 * sumCells);
    for (let building = 0; building < this.buildings[world]; building++) this.count(world, building);
  }
}
