/** Pictures of the grid games: one step of one world. A player's number is its seat, counted from 1. */
import { comma, type Pair, told } from '../../language/language.ts';
import { type Picture, picture, short, tag, text } from '../svg.ts';
import { Cleanup } from './cleanup.ts';
import { CoinGame } from './coin-game.ts';
import { type GridGame, obstacle } from './grid.ts';

export const seatColours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#b8860b', '#56b4e9', '#7a5195', '#4d4d4d'];
const cell = 64;
const margin = 14;
const head = 34;

/** The field after the latest step of a world, as SVG. */
export function gridPicture(game: GridGame, world: number, counted = true): Picture {
  const { width, height } = game.rules;
  const boardWidth = width * cell;
  const boardHeight = height * cell;
  const parts: string[] = [];
  const full = Math.max(boardWidth, 240) + 2 * margin;
  const tall = boardHeight + head + 2 * margin + 30;
  parts.push(tag('rect', { width: full, height: tall, rx: 12, fill: '#f6f5f1' }));
  parts.push(text(margin, margin + 14, title(game), { 'font-size': 15, 'font-weight': 600 }));
  if (counted)
    parts.push(text(full - margin, margin + 14, stepOf(game, world), { 'text-anchor': 'end', fill: '#6b7075' }));

  const board: string[] = [];
  const ground = game.name === 'snowdrift' ? ['#e8eef4', '#e1e9f1'] : ['#dbe8cf', '#d3e2c5'];
  const river = game instanceof Cleanup ? new Set(game.riverCells) : null;
  for (let i = 0; i < game.cells; i++) {
    const x = (i % width) * cell;
    const y = Math.floor(i / width) * cell;
    board.push(
      tag('rect', {
        x: x + 1,
        y: y + 1,
        width: cell - 2,
        height: cell - 2,
        rx: 7,
        fill: river?.has(i) ? '#9cc6e0' : ground[(Math.floor(i / width) + (i % width)) % 2],
      }),
    );
    const thing = game.thing[world * game.cells + i];
    if (thing === obstacle) board.push(stone(x, y));
    else if (thing > 0) board.push(drawn(game, world, i, x, y));
  }
  for (let i = 0; i < game.cells; i++) board.push(...playersOn(game, world, i));
  parts.push(tag('g', { transform: `translate(${margin} ${margin + head - 8})` }, board.join('')));
  parts.push(
    tag(
      'g',
      { transform: `translate(${margin} ${margin + head + boardHeight + 14})` },
      roll(game, world, full - 2 * margin),
    ),
  );
  return picture(full, tall, parts.join(''));
}

const titles: Readonly<Record<string, Pair>> = {
  'stag-hunt': ['Stag hunt', '猎鹿'],
  snowdrift: ['Snowdrift', '雪堆'],
  'coin-game': ['Coin game', '硬币游戏'],
  cleanup: ['Cleanup', '清理'],
};

function title(game: GridGame): string {
  return told(...(titles[game.name] ?? [game.name, game.name]));
}

function stepOf(game: GridGame, world: number): string {
  const [step, all, over] = [game.stepsTaken[world], game.rules.horizon, game.over[world]];
  return told(`step ${step} of ${all}${over ? ', over' : ''}`, `第 ${step} 步，共 ${all} 步${over ? '，已结束' : ''}`);
}

/** What lies on a cell. */
function drawn(game: GridGame, world: number, at: number, x: number, y: number): string {
  const thing = game.thing[world * game.cells + at];
  if (game instanceof CoinGame) return coin(x, y, game.ownerOf(world, at));
  if (game instanceof Cleanup) return thing === 1 ? dirt(x, y) : apple(x, y);
  if (game.name === 'snowdrift') return drift(x, y);
  return thing === 1 ? stag(x, y) : hare(x, y);
}

/** Several players on one cell stand in a row at its lower edge, so that the prey stays visible. */
function playersOn(game: GridGame, world: number, at: number): string[] {
  const here: number[] = [];
  for (let seat = 0; seat < game.players; seat++) {
    const place = world * game.players + seat;
    if (game.present[place] === 1 && game.position[place] === at) here.push(seat);
  }
  const x = (at % game.rules.width) * cell;
  const y = Math.floor(at / game.rules.width) * cell;
  const covers = game.thing[world * game.cells + at] > 0;
  const radius = here.length > 3 ? 8 : here.length > 1 || covers ? 10 : 13;
  return here.map((seat, i) => {
    const cx = x + (cell * (i + 1)) / (here.length + 1);
    const cy = y + cell - radius - (covers ? 3 : 5);
    return disc(cx, cy, radius, seat);
  });
}

function disc(cx: number, cy: number, radius: number, seat: number): string {
  const circle = tag('circle', {
    cx,
    cy,
    r: radius,
    fill: seatColours[seat % 8],
    stroke: '#ffffff',
    'stroke-width': 2,
  });
  const number = { 'text-anchor': 'middle', fill: '#ffffff', 'font-weight': 700, 'font-size': radius * 1.15 };
  return circle + text(cx, cy + radius * 0.4, String(seat + 1), number);
}

/** Who is still there, and what the step paid. */
function roll(game: GridGame, world: number, width: number): string {
  const each = Math.min(64, width / game.players);
  const parts: string[] = [];
  for (let seat = 0; seat < game.players; seat++) {
    const place = world * game.players + seat;
    const reward = game.reward[place];
    const x = seat * each;
    const paid = reward === 0 ? '' : `${reward > 0 ? '+' : '−'}${short(Math.abs(reward))}`;
    const faded = game.present[place] === 0 && reward === 0 ? 0.3 : 1;
    const colour = reward > 0 ? '#1b7f4b' : '#b3261e';
    const sum = text(x + 22, 4, paid, { fill: colour, 'font-weight': 600, 'font-size': 11 });
    parts.push(tag('g', { opacity: faded }, disc(x + 10, 0, 9, seat) + sum));
  }
  return parts.join('');
}

function stag(x: number, y: number): string {
  const brown = '#7a4a22';
  const antlers = `M${x + 24} ${y + 16} q-8 -2 -8 -11 M${x + 20} ${y + 13} q-6 0 -8 -4 M${x + 40} ${y + 16} q8 -2 8 -11 M${x + 44} ${y + 13} q6 0 8 -4`;
  const face = `M${x + 22} ${y + 17} q10 -6 20 0 q1 10 -6 18 q-4 4 -8 0 q-7 -8 -6 -18 z`;
  return (
    tag('path', { d: antlers, fill: 'none', stroke: brown, 'stroke-width': 3, 'stroke-linecap': 'round' }) +
    tag('path', { d: face, fill: '#a9713c', stroke: brown, 'stroke-width': 1.5 }) +
    eyes(x + 28, x + 36, y + 22) +
    tag('ellipse', { cx: x + 32, cy: y + 34, rx: 3, ry: 2, fill: '#3a2412' })
  );
}

function hare(x: number, y: number): string {
  const grey = '#8a8178';
  const ear = (cx: number, turn: number) =>
    tag('ellipse', {
      cx,
      cy: y + 13,
      rx: 4,
      ry: 9,
      fill: '#cfc6bb',
      stroke: grey,
      'stroke-width': 1.5,
      transform: `rotate(${turn} ${cx} ${y + 20})`,
    });
  return (
    ear(x + 28, -12) +
    ear(x + 36, 12) +
    tag('circle', { cx: x + 32, cy: y + 27, r: 9, fill: '#ded6cc', stroke: grey, 'stroke-width': 1.5 }) +
    eyes(x + 28.5, x + 35.5, y + 25) +
    tag('ellipse', { cx: x + 32, cy: y + 30, rx: 1.8, ry: 1.3, fill: '#b5655f' })
  );
}

function eyes(left: number, right: number, y: number): string {
  return [left, right].map((cx) => tag('circle', { cx, cy: y, r: 1.6, fill: '#2b2119' })).join('');
}

function drift(x: number, y: number): string {
  const mound = `M${x + 7} ${y + 37} q5 -17 15 -15 q4 -13 15 -8 q11 -1 12 11 q8 2 9 12 z`;
  const shade = `M${x + 18} ${y + 33} q4 -6 10 -5 M${x + 36} ${y + 30} q5 -4 10 0`;
  return (
    tag('path', { d: mound, fill: '#ffffff', stroke: '#9db4c8', 'stroke-width': 1.5 }) +
    tag('path', { d: shade, fill: 'none', stroke: '#c3d3e0', 'stroke-width': 2, 'stroke-linecap': 'round' })
  );
}

/** A coin has the colour and the number of its owner. */
function coin(x: number, y: number, seat: number): string {
  const at = { cx: x + 32, cy: y + 22 };
  return (
    tag('circle', { ...at, r: 15, fill: '#f2c94c', stroke: seatColours[seat % 8], 'stroke-width': 5 }) +
    text(at.cx, at.cy + 5, String(seat + 1), {
      'text-anchor': 'middle',
      fill: '#5b4300',
      'font-weight': 700,
      'font-size': 14,
    })
  );
}

function apple(x: number, y: number): string {
  const stem = `M${x + 32} ${y + 15} q1 -6 5 -8`;
  return (
    tag('circle', { cx: x + 32, cy: y + 24, r: 11, fill: '#c0392b' }) +
    tag('path', { d: stem, fill: 'none', stroke: '#5d4226', 'stroke-width': 2.5, 'stroke-linecap': 'round' }) +
    tag('ellipse', {
      cx: x + 40,
      cy: y + 11,
      rx: 5,
      ry: 2.5,
      fill: '#4f8a3c',
      transform: `rotate(-20 ${x + 40} ${y + 11})`,
    })
  );
}

function dirt(x: number, y: number): string {
  const spots = [
    [22, 18, 9],
    [38, 24, 11],
    [28, 32, 7],
  ];
  return spots
    .map(([cx, cy, r]) => tag('circle', { cx: x + cx, cy: y + cy, r, fill: '#6d5a3a', opacity: 0.85 }))
    .join('');
}

function stone(x: number, y: number): string {
  return (
    tag('rect', { x: x + 5, y: y + 5, width: cell - 10, height: cell - 10, rx: 12, fill: '#7d8288' }) +
    tag('path', {
      d: `M${x + 14} ${y + 20} q8 -8 20 -6`,
      fill: 'none',
      stroke: '#a9adb2',
      'stroke-width': 4,
      'stroke-linecap': 'round',
    })
  );
}

/** The same in a terminal: digits are seats, 2+ is seat 2 and more than one other; S stag, h hare, o drift, w waste, a apple, A to H a coin of player 1 to 8, # obstacle. */
export function gridText(game: GridGame, world: number): string {
  const letters = { snowdrift: ['o'], cleanup: ['w', 'a'] }[game.name] ?? ['S', 'h'];
  const { width, height } = game.rules;
  const line = `+${'----'.repeat(width)}+`;
  const rows = [`${title(game)}${told(', ', '，')}${stepOf(game, world)}`, line];
  for (let row = 0; row < height; row++) {
    let written = '|';
    for (let column = 0; column < width; column++) {
      const at = row * width + column;
      const thing = game.thing[world * game.cells + at];
      const letter = game instanceof CoinGame ? String.fromCharCode(65 + game.ownerOf(world, at)) : letters[thing - 1];
      const what = thing === obstacle ? '#' : thing > 0 ? letter : '.';
      const seats: number[] = [];
      for (let seat = 0; seat < game.players; seat++) {
        const place = world * game.players + seat;
        if (game.present[place] === 1 && game.position[place] === at) seats.push(seat + 1);
      }
      const who = seats.length > 2 ? `${seats[0]}+` : seats.join('');
      written += thing === obstacle ? ' ###' : ` ${what}${who.padEnd(2)}`;
    }
    rows.push(`${written}|`);
  }
  rows.push(line);
  const paid: string[] = [];
  for (let seat = 0; seat < game.players; seat++) {
    const reward = game.reward[world * game.players + seat];
    if (reward !== 0) paid.push(`${told('player', '玩家')} ${seat + 1}: ${reward > 0 ? '+' : ''}${short(reward)}`);
  }
  rows.push(paid.join(comma()));
  return rows.join('\n');
}
