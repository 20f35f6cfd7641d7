/** A city's ground as data, [column, row] from the top left, and a finished city as JSON. What is exported can be given as a map again. */
import type { City } from './game.ts';
import { closed, geometry, hub, open, river } from './map.ts';
import * as rules from './rules.ts';
import { type CityPlan, parcels, side } from './rules.ts';

const parcelOf = ([x, y]: readonly [number, number]) => y * side + x;
const cellOf = (parcel: number): [number, number] => [parcel % side, Math.floor(parcel / side)];

/** Lays a map out in `ground`; gives the hubs. */
export function layOut({ river: water, hubs, slots }: CityPlan, ground: Uint8Array, base: number): number[] {
  ground.fill(slots ? closed : open, base, base + parcels);
  for (const slot of slots ?? []) ground[base + parcelOf(slot)] = open;
  for (const at of water) ground[base + parcelOf(at)] = river;
  for (const at of hubs) ground[base + parcelOf(at)] = hub;
  return hubs.map(parcelOf);
}

/** Everything that a world's city is, for programs of others. */
export function cityExport(game: City, world: number) {
  const { city } = game;
  const base = world * parcels;
  const kind = (wanted: number) =>
    Array.from({ length: parcels }, (_, parcel) => parcel)
      .filter((parcel) => city.ground[base + parcel] === wanted)
      .map(cellOf);
  const slots = city.ground.subarray(base, base + parcels).includes(closed) ? { slots: kind(open) } : {};
  const { map: _, ...settings } = game.settings;
  return {
    format: 'trueline/city/1',
    months: city.month[world] + (game.over[world] === 1 ? 1 : 0),
    finished: game.over[world] === 1,
    settings,
    river: kind(river),
    hubs: kind(hub),
    ...slots,
    companies: rules.companies.map((name, company) => ({
      name,
      cash: city.cash[world * 2 + company],
      income: city.income[world * 2 + company],
      bankrupt: city.bankrupt[world * 2 + company] === 1,
    })),
    buildings: Array.from({ length: city.buildings[world] }, (_, building) => {
      const at = base + building;
      return {
        company: rules.companies[city.owner[at]],
        size: rules.sizeNames[city.size[at]],
        parcels: Array.from(geometry.cells[city.footprint[at]], cellOf),
        month: city.placedIn[at],
        cost: city.paid[at],
      };
    }),
  };
}
