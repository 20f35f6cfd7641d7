/** What is known of each candidate of a pick: `assess` gives figures in money for scripted players and the recording, `describe` makes of them the scaled features that a policy sees. STOP has figures of 0. */
import { geometry } from './map.ts';
import * as rules from './rules.ts';
import { parcels } from './rules.ts';
import { type CityWorlds, fieldMask, openShift, rentShift, sumCells } from './world.ts';

/** Meaning and order of a candidate's features. */
export const candidateFeatures = [
  'stop',
  'small',
  'medium',
  'large',
  'cost',
  'net income',
  'profit to the end',
  'profit per cost',
  'rent',
  'land price',
  'near',
  'mid',
  'distance',
  'IND neighbours',
  'EDU neighbours',
  'months left',
  'months it earns',
  'cash',
  'cash after',
  'debt after',
  'loss of own neighbours',
  'gain of the other company',
] as const;
const width = candidateFeatures.length;

/** Figures per candidate, laid out like the game's candidates; the money is not scaled. */
export class CandidateFigures {
  readonly footprint: Int16Array;
  /** 0 small, 1 medium, 2 large, 3 STOP. */
  readonly size: Uint8Array;
  readonly cost: Float64Array;
  /** Monthly net income once it runs, rent included, as the neighbours are now. */
  readonly net: Float64Array;
  /** Net income over the months it will run, less the half of its cost that the end does not give back. */
  readonly profit: Float64Array;
  /** What it takes from the company's own buildings until the end, all taken to run already. */
  readonly ownLoss: Float64Array;
  /** What it adds to the other company's buildings until the end, all taken to run already, rent left out. */
  readonly otherGain: Float64Array;
  /** What it pays or gets each month for schools, and what the land beneath costs. */
  readonly rent: Float64Array;
  readonly land: Float64Array;

  constructor(length: number) {
    this.footprint = new Int16Array(length);
    this.size = new Uint8Array(length);
    this.cost = new Float64Array(length);
    this.net = new Float64Array(length);
    this.profit = new Float64Array(length);
    this.ownLoss = new Float64Array(length);
    this.otherGain = new Float64Array(length);
    this.rent = new Float64Array(length);
    this.land = new Float64Array(length);
  }
}

/** What the land beneath a footprint costs; every parcel of it is priced like the one at its top left. */
function landPrice(city: CityWorlds, parcel: number, cells: number): number {
  return cells * (city.landValue[parcel] + rules.landPerNeighbour * (city.near[0][parcel] + city.near[1][parcel]));
}

/** Fills size and cost of the placements of one size from `first` up to `end`, and nothing else: enough to tell which are legal. */
export function price(
  city: CityWorlds,
  world: number,
  company: number,
  size: number,
  first: number,
  end: number,
  figures: CandidateFigures,
): void {
  const { footprint: footprints, cost: costs, size: sizes } = figures;
  const baseCost = rules.baseCost[company][size];
  const cells = first < end ? geometry.cellCount[footprints[first]] : 0;
  for (let at = first; at < end; at++) {
    sizes[at] = size;
    costs[at] = baseCost + landPrice(city, world * parcels + (footprints[at] % parcels), cells);
  }
}

/** Fills the figures of the placements of one size from `first` up to `end`, whose footprints are already there. */
export function assess(
  city: CityWorlds,
  world: number,
  company: number,
  size: number,
  first: number,
  end: number,
  figures: CandidateFigures,
): void {
  const { settings, zone } = city;
  // Locals, because the compiler does not lift a property out of the loop.
  const { footprint: footprints, cost: costs, net: nets, profit: profits, ownLoss: losses, otherGain: gains } = figures;
  const { rent: rents, land: lands } = figures;
  figures.size.fill(size, first, end);
  const nearInd = city.near[0];
  const nearEdu = city.near[1];
  const month = city.month[world];
  const months = Math.max(0, settings.months - month - rules.earnsAfter[size]);
  const otherPlays = 1 - city.bankrupt[world * 2 + 1 - company];
  const rentDue = company === 0 ? otherPlays * rules.rentBySize[size] : 0;
  const baseCost = rules.baseCost[company][size];
  const fixed = rules.baseRevenue[company][size] - rules.runningCost[company][size];
  const factor = rules.factor[company][size];
  const zonePay = rules.zonePay[company];
  const bonus = company === 0 ? settings.indBonus : settings.eduBonus;
  const cap = company === 0 ? 3 : settings.eduBonusCap;
  const congestion = company === 0 ? settings.indCongestion : settings.eduCongestion;
  // A neighbour is taken to feel it from now to the end, whether it runs already or not.
  // Factors are stored doubled.
  const lossEach = (congestion * (settings.months - month)) / 2;
  const gainEach =
    (otherPlays * (company === 0 ? settings.eduBonus : settings.indBonus) * (settings.months - month)) / 2;
  const { sums } = city;
  const table = (world * 2 + company) * sumCells;
  const corners = geometry.reachCorners;
  // Every footprint of a size has as many parcels as another.
  const cells = first < end ? geometry.cellCount[footprints[first]] : 0;
  for (let at = first; at < end; at++) {
    const footprint = footprints[at];
    const parcel = world * parcels + (footprint % parcels);
    const where = zone[parcel];
    const ind = nearInd[parcel];
    const edu = nearEdu[parcel];
    const others = company === 0 ? edu : ind;
    const own = company === 0 ? ind : edu;
    const land = landPrice(city, parcel, cells);
    const cost = baseCost + land;
    const corner = footprint * 4;
    const touched =
      sums[table + corners[corner]] -
      sums[table + corners[corner + 1]] -
      sums[table + corners[corner + 2]] +
      sums[table + corners[corner + 3]];
    const ownLoss = lossEach * (touched & fieldMask);
    const otherGain = gainEach * ((touched >> openShift) & fieldMask);
    const rent = company === 1 ? otherPlays * 5 * (touched >> rentShift) : edu > 0 ? -rentDue : 0;
    const around = bonus * Math.min(others, cap) - congestion * own;
    const net = fixed + factor * (zonePay[where] + around) + rent;
    const profit = net * months - cost / 2;

    costs[at] = cost;
    nets[at] = net;
    profits[at] = profit;
    losses[at] = ownLoss;
    gains[at] = otherGain;
    rents[at] = rent;
    lands[at] = land;
  }
}

/** Fills the features of the placements of one size from `first` up to `end`, which were assessed before. */
export function describe(
  city: CityWorlds,
  world: number,
  company: number,
  size: number,
  first: number,
  end: number,
  figures: CandidateFigures,
  features: Float32Array,
): void {
  const { settings, distance, zone } = city;
  const { footprint: footprints, cost: costs, net: nets, profit: profits, ownLoss: losses, otherGain: gains } = figures;
  const { rent: rents, land: lands } = figures;
  const nearInd = city.near[0];
  const nearEdu = city.near[1];
  const month = city.month[world];
  const cash = city.cash[world * 2 + company];
  const monthsLeft = (settings.months - month) / settings.months;
  const monthsEarning = Math.max(0, settings.months - month - rules.earnsAfter[size]) / settings.months;
  const isSmall = size === 0 ? 1 : 0;
  const isMedium = size === 1 ? 1 : 0;
  const isLarge = size === 2 ? 1 : 0;
  for (let at = first; at < end; at++) {
    const parcel = world * parcels + (footprints[at] % parcels);
    const where = zone[parcel];
    const cost = costs[at];
    const profit = profits[at];
    const f = at * width;
    features[f] = 0;
    features[f + 1] = isSmall;
    features[f + 2] = isMedium;
    features[f + 3] = isLarge;
    features[f + 4] = cost * 2e-4;
    features[f + 5] = nets[at] * 2e-3;
    features[f + 6] = profit * 1e-4;
    features[f + 7] = profit / cost;
    features[f + 8] = rents[at] * 1e-2;
    features[f + 9] = lands[at] * 1e-3;
    features[f + 10] = where === 0 ? 1 : 0;
    features[f + 11] = where === 1 ? 1 : 0;
    features[f + 12] = distance[parcel] * (1 / 6);
    features[f + 13] = nearInd[parcel] * 0.2;
    features[f + 14] = nearEdu[parcel] * 0.2;
    features[f + 15] = monthsLeft;
    features[f + 16] = monthsEarning;
    features[f + 17] = cash * 1e-4;
    features[f + 18] = (cash - cost) * 1e-4;
    features[f + 19] = cost > cash ? (cost - cash) * 2e-4 : 0;
    features[f + 20] = losses[at] * 2e-4;
    features[f + 21] = gains[at] * 2e-4;
  }
}

/** Fills STOP's figures at index `at`. */
export function assessStop(at: number, figures: CandidateFigures): void {
  figures.footprint[at] = -1;
  figures.size[at] = 3;
  figures.cost[at] = 0;
  figures.net[at] = 0;
  figures.profit[at] = 0;
  figures.ownLoss[at] = 0;
  figures.otherGain[at] = 0;
  figures.rent[at] = 0;
  figures.land[at] = 0;
}

/** Fills STOP's features at index `at`. */
export function describeStop(
  city: CityWorlds,
  world: number,
  company: number,
  at: number,
  features: Float32Array,
): void {
  const cash = city.cash[world * 2 + company];
  const { months } = city.settings;
  const f = at * width;
  features.fill(0, f, f + width);
  features[f] = 1;
  features[f + 15] = (months - city.month[world]) / months;
  features[f + 17] = cash / 10_000;
  features[f + 18] = cash / 10_000;
  features[f + 19] = Math.max(0, -cash) / 5000;
}
