/** What a company sees of the city, and the joint state. A company's own figures come first in its observation; in the joint state IND's do. */
import * as rules from './rules.ts';
import type { CityWorlds } from './world.ts';

/** Figures of one company, in order. */
const companyFigures = [
  'cash',
  'debt',
  'income',
  'promised income',
  'small',
  'medium',
  'large',
  'unfinished',
  'bankrupt',
];
const commonFigures = [
  'months gone',
  'months left',
  'medium may be built',
  'large may be built',
  'free parcels',
  'free pairs',
  'free squares',
  'free near',
  'free mid',
  'free far',
];

/** Meaning and order of an observation. */
export const observationNames: readonly string[] = [
  'is EDU',
  'acts now',
  'moves first this month',
  'picks of this turn',
  ...commonFigures,
  ...companyFigures.map((name) => `own ${name}`),
  ...companyFigures.map((name) => `other's ${name}`),
];
/** Meaning and order of the joint state. */
export const stateNames: readonly string[] = [
  'EDU acts',
  'EDU moves first this month',
  'picks of this turn',
  ...commonFigures,
  ...companyFigures.map((name) => `IND ${name}`),
  ...companyFigures.map((name) => `EDU ${name}`),
];

const common = new Float64Array(commonFigures.length);
const figures = new Float64Array(2 * companyFigures.length);
const each = companyFigures.length;

/** Fills both companies' observations and the joint state of a world. */
export function observe(
  city: CityWorlds,
  world: number,
  turn: number,
  picks: number,
  observation: Float32Array,
  state: Float32Array,
): void {
  const { months } = city.settings;
  const month = city.month[world];
  const first = month % 2;
  common[0] = month / months;
  common[1] = (months - month) / months;
  common[2] = month >= rules.availableFrom[1] ? 1 : 0;
  common[3] = month >= rules.availableFrom[2] ? 1 : 0;
  for (let group = 0; group < 3; group++) common[4 + group] = city.free.length[world * 3 + group] / 100;
  for (let zone = 0; zone < 3; zone++) common[7 + zone] = city.free.inZone[world * 3 + zone] / 50;
  for (let company = 0; company < 2; company++) {
    const c = world * 2 + company;
    const f = company * each;
    figures[f] = city.cash[c] / 10_000;
    figures[f + 1] = Math.max(0, -city.cash[c]) / 5000;
    figures[f + 2] = city.income[c] / 5000;
    figures[f + 3] = city.promised[c] / 5000;
    for (let size = 0; size < 3; size++) figures[f + 4 + size] = city.counts[world * 6 + company * 3 + size] / 10;
    figures[f + 7] = city.unfinished[c] / 5;
    figures[f + 8] = city.bankrupt[c];
  }
  for (let company = 0; company < 2; company++) {
    let at = (world * 2 + company) * observationNames.length;
    observation[at++] = company;
    observation[at++] = turn === company ? 1 : 0;
    observation[at++] = first === company ? 1 : 0;
    observation[at++] = turn === company ? picks / 5 : 0;
    for (let i = 0; i < common.length; i++) observation[at++] = common[i];
    for (let i = 0; i < each; i++) observation[at++] = figures[company * each + i];
    for (let i = 0; i < each; i++) observation[at++] = figures[(1 - company) * each + i];
  }
  let at = world * stateNames.length;
  state[at++] = turn;
  state[at++] = first;
  state[at++] = picks / 5;
  for (let i = 0; i < common.length; i++) state[at++] = common[i];
  for (let i = 0; i < figures.length; i++) state[at++] = figures[i];
}
