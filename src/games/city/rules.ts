/** The numbers of the city game. Company 0 is IND and company 1 is EDU; sizes are 0 small, 1 medium, 2 large; zones 0 near, 1 mid, 2 far. */
import { z } from 'zod';

export const side = 12;
export const parcels = side * side;
export const companies = ['IND', 'EDU'] as const;
export const sizeNames = ['small', 'medium', 'large'] as const;

/** Months after which a size may be built, and from which after placement it earns and runs. */
export const availableFrom = [0, 5, 10] as const;
export const earnsAfter = [1, 2, 3] as const;

export const baseCost = [
  [1400, 2700, 5200],
  [1200, 2200, 3600],
] as const;
export const baseRevenue = [
  [190, 400, 840],
  [150, 300, 590],
] as const;
export const factor = [
  [1, 2, 4],
  [1, 1.5, 3],
] as const;
export const runningCost = [
  [100, 180, 300],
  [70, 120, 190],
] as const;
export const zonePay = [
  [100, 50, 0],
  [80, 40, 0],
] as const;
/** What an IND building with a school nearby pays to EDU each month. */
export const rentBySize = [25, 45, 70] as const;

/** Rewards are money in units of this. */
export const rewardUnit = 10_000;

export function zoneOf(distance: number): number {
  return distance <= 2 ? 0 : distance <= 4 ? 1 : 2;
}

/** The first month in which a parcel so far from the nearest hub may be built on: d <= 3 + 0.25 m. */
export function opensIn(distance: number): number {
  return Math.max(0, Math.ceil((distance - 3) * 4));
}

/** Price of one parcel of land without neighbours, and what each building in reach adds to it. */
export function landValue(distance: number): number {
  return 400 * Math.max(0, 1 - distance / 7);
}
export const landPerNeighbour = 30;

const numbers = {
  standard: { indBonus: 25, eduBonus: 15, eduBonusCap: 3, eduCongestion: 25 },
  dilemma: { indBonus: 35, eduBonus: -15, eduBonusCap: 6, eduCongestion: 12 },
} as const;

const cell = z.tuple([
  z
    .int()
    .min(0)
    .max(side - 1),
  z
    .int()
    .min(0)
    .max(side - 1),
]);

/** A map. An exported city is one, too: what it has beyond the map is left aside. */
const cityPlan = z
  .object({
    river: z.array(cell).describe('Parcels of water.'),
    hubs: z
      .array(cell)
      .min(1)
      .max(8)
      .describe('Parcels that nothing is built on; land near them is dearer and opens first.'),
    slots: z
      .array(cell)
      .optional()
      .describe('Parcels that may be built on; all that are neither river nor hub unless given.'),
  })
  .check(({ value, issues }) => {
    const taken = new Map<string, string>();
    for (const kind of ['river', 'hubs', 'slots'] as const)
      value[kind]?.forEach(([x, y], i) => {
        const before = taken.get(`${x} ${y}`);
        taken.set(`${x} ${y}`, kind);
        if (before)
          issues.push({
            code: 'custom',
            message: `[${x}, ${y}] is named twice, in ${before} and in ${kind}`,
            path: [kind, i],
            input: value,
          });
      });
  });

export type CityPlan = z.infer<typeof cityPlan>;

function schemaOf(standard: { indBonus: number; eduBonus: number; eduBonusCap: number; eduCongestion: number }) {
  return z.strictObject({
    map: cityPlan
      .nullable()
      .default(null)
      .describe('River, hubs and slots of every episode; null draws a new map each time. A file: map=@city-map.json.'),
    cooperation: z
      .number()
      .min(0)
      .max(1)
      .default(0.2)
      .describe("Share of the other company's reward that is added to one's own."),
    months: z.int().min(1).max(120).default(30).describe('Months in an episode.'),
    placements: z.int().min(3).max(96).default(24).describe('The most placements that a list offers besides STOP.'),
    indCash: z.number().default(6000).describe('What IND starts with.'),
    eduCash: z.number().default(5000).describe('What EDU starts with.'),
    debtLimit: z
      .number()
      .min(0)
      .default(5000)
      .describe('A company this far in debt at the end of a month is bankrupt; no placement may lead beyond.'),
    interest: z.number().min(0).max(1).default(0.1).describe('Interest on debt, each month.'),
    indBonus: z
      .number()
      .default(standard.indBonus)
      .describe('What each of up to 3 EDU neighbours adds to an IND building, times its factor.'),
    indCongestion: z
      .number()
      .default(25)
      .describe('What each IND neighbour takes from an IND building, times its factor.'),
    eduBonus: z
      .number()
      .default(standard.eduBonus)
      .describe('What each IND neighbour adds to an EDU building, times its factor; below 0 it harms.'),
    eduBonusCap: z
      .int()
      .min(0)
      .default(standard.eduBonusCap)
      .describe('How many IND neighbours count for an EDU building.'),
    eduCongestion: z
      .number()
      .default(standard.eduCongestion)
      .describe('What each EDU neighbour takes from an EDU building, times its factor.'),
  });
}

export const citySettings = schemaOf(numbers.standard);
export const dilemmaSettings = schemaOf(numbers.dilemma);
export type CitySettings = z.infer<typeof citySettings>;

/** Monthly revenue of a running building; `others` and `own` count the neighbours of the other and of its own company. */
export function revenue(
  settings: CitySettings,
  company: number,
  size: number,
  zone: number,
  others: number,
  own: number,
): number {
  const bonus =
    company === 0
      ? settings.indBonus * Math.min(3, others)
      : settings.eduBonus * Math.min(settings.eduBonusCap, others);
  const congestion = (company === 0 ? settings.indCongestion : settings.eduCongestion) * own;
  return baseRevenue[company][size] + factor[company][size] * (zonePay[company][zone] + bonus - congestion);
}
