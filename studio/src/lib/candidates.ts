/** What a candidate is called in its game; a number where the game has no names. */
import { geometry } from '../../../src/games/city/map.ts';
import { side } from '../../../src/games/city/rules.ts';
import { moveNames } from '../../../src/games/grid/grid.ts';

const acts: Record<string, readonly string[]> = {
  'stag-hunt': ['hunt stag', 'take hare'],
  snowdrift: ['clear drift'],
};

const sizes = ['small', 'medium', 'large'];

export function candidateName(game: string, id: number): string {
  const own = acts[game];
  if (own) return moveNames[id] ?? own[id - moveNames.length] ?? `action ${id}`;
  if (game.startsWith('city')) return cityName(id);
  return `action ${id}`;
}

/** Row and column of the building's first parcel, counted from 1. */
function cityName(id: number): string {
  const cells = geometry.cells[id];
  if (!cells || cells.length === 0) return 'stop';
  return `${sizes[geometry.group[id]]} at ${Math.floor(cells[0] / side) + 1}, ${(cells[0] % side) + 1}`;
}
