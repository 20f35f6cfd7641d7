/** What a candidate is called in its game; a number where the game has no names. */
import { geometry } from '../../../src/games/city/map.ts';
import { side } from '../../../src/games/city/rules.ts';
import { moveNames } from '../../../src/games/grid/grid.ts';
import { words } from '../texts/index.svelte.ts';

const acts: Record<string, readonly string[]> = {
  'stag-hunt': ['hunt stag', 'take hare'],
  snowdrift: ['clear drift'],
};

const chinese: Record<string, string> = {
  up: '上',
  down: '下',
  left: '左',
  right: '右',
  stay: '停',
  'hunt stag': '猎鹿',
  'take hare': '捉兔',
  'clear drift': '铲雪',
};

const sizes = [
  ['small', '小'],
  ['medium', '中'],
  ['large', '大'],
];

const pick = (en: string, zh: string) => (words.language === 'zh' ? zh : en);

export function candidateName(game: string, id: number): string {
  const own = acts[game];
  const name = own && (moveNames[id] ?? own[id - moveNames.length]);
  if (name) return pick(name, chinese[name] ?? name);
  return game.startsWith('city') ? cityName(id) : pick(`action ${id}`, `动作 ${id}`);
}

/** Row and column of the building's first parcel, counted from 1. */
function cityName(id: number): string {
  const cells = geometry.cells[id];
  if (!cells || cells.length === 0) return pick('stop', '停止');
  const [row, column] = [Math.floor(cells[0] / side) + 1, (cells[0] % side) + 1];
  const [en, zh] = sizes[geometry.group[id]];
  return pick(`${en} at ${row}, ${column}`, `${zh}楼 ${row}, ${column}`);
}
