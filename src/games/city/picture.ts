/** Pictures of the city: the map of one world as it stands. Colour says whose a building is, its storeys say the size; a dashed one does not earn yet. */
import { told } from '../../language/language.ts';
import { type Picture, picture, tag, text } from '../svg.ts';
import type { City } from './game.ts';
import { closed, geometry, hub, river } from './map.ts';
import * as rules from './rules.ts';
import { parcels, side } from './rules.ts';

const cell = 40;
const margin = 16;
const head = 36;
const panel = 212;
export const sideColours = ['#d1602a', '#2b6cb0'];
const dark = ['#8c3a12', '#17426f'];
const ink = '#33383d';
const faint = '#6b7075';

/** The map after the latest pick of a world, as SVG. */
export function cityPicture(game: City, world: number): Picture {
  const width = side * cell + panel + 3 * margin;
  const height = side * cell + head + 2 * margin;
  const inside = [
    tag('rect', { width, height, rx: 12, fill: '#f6f5f1' }),
    text(margin, margin + 15, told('City', '城市'), { 'font-size': 16, 'font-weight': 600 }),
    text(margin + side * cell, margin + 15, monthOf(game, world), { 'text-anchor': 'end', fill: faint }),
    tag('g', { transform: `translate(${margin} ${margin + head - 8})` }, map(game, world)),
    tag('g', { transform: `translate(${2 * margin + side * cell} ${margin + head - 8})` }, legend(game, world)),
  ];
  return picture(width, height, inside.join(''));
}

function monthOf(game: City, world: number): string {
  const { months } = game.settings;
  const month = game.city.month[world] + 1;
  if (game.over[world] === 1) return told(`after ${month} months`, `${month} 个月之后`);
  return told(`month ${month} of ${months}`, `第 ${month} 个月，共 ${months} 个月`);
}

/** Price of a parcel's land as it stands, with every building in reach. */
function priceOf(game: City, world: number, parcel: number): number {
  const { city } = game;
  const at = world * parcels + parcel;
  return city.landValue[at] + rules.landPerNeighbour * (city.near[0][at] + city.near[1][at]);
}

const dearest = 700;

function landColour(price: number): string {
  // From pale sand to deep ochre.
  const t = Math.min(1, price / dearest);
  const mix = (a: number, b: number) => Math.round(a + (b - a) * t);
  return `rgb(${mix(250, 196)},${mix(246, 150)},${mix(232, 84)})`;
}

function map(game: City, world: number): string {
  const { city } = game;
  const base = world * parcels;
  const parts: string[] = [];
  const water: [number, number][] = [];
  const hubs: string[] = [];
  for (let parcel = 0; parcel < parcels; parcel++) {
    const x = (parcel % side) * cell;
    const y = Math.floor(parcel / side) * cell;
    const ground = city.ground[base + parcel];
    const fill =
      ground === river ? '#cfe3ee' : ground === closed ? '#dedcd5' : landColour(priceOf(game, world, parcel));
    parts.push(tag('rect', { x: x + 0.5, y: y + 0.5, width: cell - 1, height: cell - 1, rx: 3, fill }));
    if (ground === river) water.push([x + cell / 2, y + cell / 2]);
    if (ground === hub) hubs.push(hubMark(x + cell / 2, y + cell / 2));
  }
  parts.push(riverPath(water));
  for (let building = 0; building < city.buildings[world]; building++) parts.push(house(game, world, building));
  return parts.join('') + hubs.join('');
}

/** A smooth line through the river's parcels, which lie in order of rows; one that runs across is put in order of columns. */
function riverPath(points: [number, number][]): string {
  const rows = new Set(points.map(([, y]) => y)).size;
  const down = rows === side;
  const sorted = [...points].sort((a, b) => (down ? a[1] - b[1] : a[0] - b[0]));
  const [first] = sorted;
  const last = sorted[sorted.length - 1];
  const start = down ? [first[0], 0] : [0, first[1]];
  const end = down ? [last[0], side * cell] : [side * cell, last[1]];
  let d = `M${start[0]} ${start[1]} L${first[0]} ${first[1]}`;
  for (let i = 1; i < sorted.length; i++) {
    const [x0, y0] = sorted[i - 1];
    const [x1, y1] = sorted[i];
    const [mx, my] = [(x0 + x1) / 2, (y0 + y1) / 2];
    d += down ? ` C${x0} ${my} ${x1} ${my} ${x1} ${y1}` : ` C${mx} ${y0} ${mx} ${y1} ${x1} ${y1}`;
  }
  d += ` L${end[0]} ${end[1]}`;
  return tag('path', { d, fill: 'none', stroke: '#7fb2d1', 'stroke-width': cell * 0.5, 'stroke-linejoin': 'round' });
}

function hubMark(cx: number, cy: number): string {
  return (
    tag('circle', { cx, cy, r: 15, fill: '#ffffff', stroke: ink, 'stroke-width': 2.5 }) +
    tag('path', { d: star(cx, cy, 10, 4.2), fill: ink })
  );
}

function star(cx: number, cy: number, outer: number, inner: number): string {
  const points = Array.from({ length: 10 }, (_, i) => {
    const radius = i % 2 === 0 ? outer : inner;
    const angle = (i * Math.PI) / 5 - Math.PI / 2;
    return `${(cx + radius * Math.cos(angle)).toFixed(1)} ${(cy + radius * Math.sin(angle)).toFixed(1)}`;
  });
  return `M${points.join(' L')} z`;
}

function house(game: City, world: number, building: number): string {
  const { city } = game;
  const at = world * parcels + building;
  const cells = geometry.cells[city.footprint[at]];
  const last = cells[cells.length - 1];
  const x = (cells[0] % side) * cell;
  const y = Math.floor(cells[0] / side) * cell;
  const wide = ((last % side) - (cells[0] % side) + 1) * cell;
  const high = (Math.floor(last / side) - Math.floor(cells[0] / side) + 1) * cell;
  const earns = game.over[world] === 1 || city.month[world] >= city.placedIn[at] + rules.earnsAfter[city.size[at]];
  return block(x, y, wide, high, city.owner[at], city.size[at], earns);
}

/** A building: one, two or three rows of windows for small, medium and large. */
function block(
  x: number,
  y: number,
  wide: number,
  high: number,
  company: number,
  size: number,
  earns: boolean,
): string {
  const inset = size === 0 ? 8 : 5;
  const body = tag('rect', {
    x: x + inset,
    y: y + inset,
    width: wide - 2 * inset,
    height: high - 2 * inset,
    rx: company === 0 ? 3 : 9,
    fill: earns ? sideColours[company] : '#ffffff',
    'fill-opacity': earns ? 1 : 0.75,
    stroke: earns ? dark[company] : sideColours[company],
    'stroke-width': 2,
    'stroke-dasharray': earns ? undefined : '4 3',
  });
  const windows: string[] = [];
  for (let row = 0; row <= size; row++) {
    const cy = y + high / 2 + (row - size / 2) * 8;
    for (const dx of [-6, 0, 6]) {
      windows.push(
        tag('rect', {
          x: x + wide / 2 + dx - 1.75,
          y: cy - 2,
          width: 3.5,
          height: 4,
          fill: earns ? '#fff6e0' : sideColours[company],
        }),
      );
    }
  }
  return body + windows.join('');
}

function money(value: number): string {
  return `${value < 0 ? '−' : ''}${Math.abs(Math.round(value)).toLocaleString('en')}`;
}

function legend(game: City, world: number): string {
  const { city } = game;
  const parts: string[] = [];
  for (let company = 0; company < 2; company++) {
    const c = world * 2 + company;
    const y = company * 150;
    const counts = [0, 1, 2].map((size) => city.counts[world * 6 + company * 3 + size]);
    const state = city.bankrupt[c]
      ? told('bankrupt', '破产')
      : game.over[world] === 0 && game.turn[world] === company
        ? told('to move', '轮到它')
        : '';
    parts.push(tag('rect', { x: 0, y, width: panel, height: 136, rx: 8, fill: '#ffffff', stroke: '#e2dfd6' }));
    parts.push(tag('rect', { x: 0, y, width: 6, height: 136, rx: 3, fill: sideColours[company] }));
    parts.push(
      text(18, y + 24, rules.companies[company], { 'font-size': 16, 'font-weight': 700, fill: dark[company] }),
    );
    parts.push(text(panel - 12, y + 24, state, { 'text-anchor': 'end', fill: city.bankrupt[c] ? '#b3261e' : faint }));
    parts.push(pair(y + 48, told('cash', '现金'), money(city.cash[c]), city.cash[c] < 0));
    parts.push(pair(y + 68, told('last month', '上月'), money(city.income[c]), city.income[c] < 0));
    counts.forEach((count, size) => {
      const x = 16 + size * 64;
      parts.push(tag('g', { transform: `translate(${x} ${y + 80})` }, block(0, 0, cell, cell, company, size, true)));
      parts.push(text(x + 40, y + 105, String(count), { 'font-weight': 600 }));
      parts.push(
        text(x + 20, y + 129, told(rules.sizeNames[size], ['小', '中', '大'][size]), {
          'text-anchor': 'middle',
          'font-size': 10,
          fill: faint,
        }),
      );
    });
  }
  const y = 316;
  parts.push(text(0, y, told('land price', '地价'), { fill: faint }));
  for (let i = 0; i < 20; i++) {
    parts.push(tag('rect', { x: i * 8, y: y + 8, width: 8.5, height: 12, fill: landColour((dearest * i) / 19) }));
  }
  parts.push(text(0, y + 34, '0', { 'font-size': 11, fill: faint }));
  parts.push(
    text(160, y + 34, told(`${dearest} or more`, `${dearest} 及以上`), {
      'font-size': 11,
      fill: faint,
      'text-anchor': 'end',
    }),
  );
  parts.push(hubMark(16, y + 66), text(40, y + 71, told('hub', '枢纽')));
  parts.push(
    tag('rect', { x: 86, y: y + 58, width: 28, height: 16, rx: 8, fill: '#7fb2d1' }),
    text(122, y + 71, told('river', '河流')),
  );
  parts.push(
    tag('g', { transform: `translate(-4 ${y + 88})` }, block(0, 0, cell, cell, 0, 0, false)),
    text(40, y + 113, told('not earning yet', '尚无收益')),
  );
  return parts.join('');
}

function pair(y: number, name: string, value: string, bad: boolean): string {
  return (
    text(18, y, name, { fill: faint }) +
    text(panel - 12, y, value, { 'text-anchor': 'end', 'font-weight': 600, fill: bad ? '#b3261e' : ink })
  );
}

/** The same in a terminal: i, m, I are small, medium and large of IND; e, d, E of EDU; ~ river, @ hub. */
export function cityText(game: City, world: number): string {
  const { city } = game;
  const base = world * parcels;
  const letters = ['imI', 'edE'];
  const line = `+${'--'.repeat(side)}-+`;
  const rows = [`${told('City, ', '城市，')}${monthOf(game, world)}`, line];
  for (let row = 0; row < side; row++) {
    let written = '|';
    for (let column = 0; column < side; column++) {
      const parcel = row * side + column;
      const building = city.occupied[base + parcel] - 1;
      const ground = city.ground[base + parcel];
      const land = ground === river ? '~' : ground === hub ? '@' : '.';
      written += ` ${building >= 0 ? letters[city.owner[base + building]][city.size[base + building]] : land}`;
    }
    rows.push(`${written} |`);
  }
  rows.push(line);
  for (let company = 0; company < 2; company++) {
    const c = world * 2 + company;
    const [cash, income] = [money(city.cash[c]), money(city.income[c])];
    const state = city.bankrupt[c] ? told(', bankrupt', '，破产') : '';
    rows.push(
      told(
        `${rules.companies[company]}: cash ${cash}, last month ${income}${state}`,
        `${rules.companies[company]}：现金 ${cash}，上月 ${income}${state}`,
      ),
    );
  }
  return rows.join('\n');
}
