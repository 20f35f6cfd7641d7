/** Pictures as SVG and their points as CSV, made here so that what is saved needs nothing else. */
import { escapeText } from '../../../src/games/svg.ts';
import { Pyramid, thin } from './charts/pyramid.ts';

export interface Drawn {
  label: string;
  colour: string;
  /** Lengths of strokes and gaps, where agents of one run are told apart by them. */
  dash?: number[];
  x: Float64Array;
  y: Float64Array;
  /** The unsmoothed curve behind a smoothed one. */
  faint?: boolean;
  /** Bounds a band and is not drawn itself. */
  hidden?: boolean;
  /** Index of the line above, where the space between is a band. */
  upper?: number;
}

export function save(name: string, content: string, kind: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type: kind }));
  link.download = name.replace(/[^\w.-]+/g, '-');
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** One row for each point; texts are quoted, and none can begin a formula in a spreadsheet. */
export function plotCsv(xLabel: string, lines: readonly Drawn[]): string {
  const rows = [`curve,${quote(xLabel)},value`];
  for (const { label, x, y, faint } of lines) {
    if (faint) continue;
    for (let i = 0; i < x.length; i++) rows.push(csvRow([label, x[i], y[i]]));
  }
  return `${rows.join('\n')}\n`;
}

/** One line of a table whose texts come from anywhere. */
export function csvRow(cells: readonly (string | number)[]): string {
  return cells.map((cell) => (typeof cell === 'number' ? String(cell) : quote(cell))).join(',');
}

function quote(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

const width = 720;
const height = 360;
const margin = { left: 64, right: 16, top: 36, bottom: 56 };

export function plotSvg(
  title: string,
  xLabel: string,
  lines: readonly Drawn[],
  [from, to]: [number, number],
  band?: readonly [number | null, number | null],
): string {
  const across = width - margin.left - margin.right;
  const down = height - margin.top - margin.bottom;
  const { x, ys } = thin(
    lines.map((line) => new Pyramid(line.x, line.y)),
    from,
    to,
    across,
  );
  const values = ys.flatMap((y) => [...y.filter(Number.isFinite)]);
  let low = Math.min(...values);
  let high = Math.max(...values);
  if (!(high > low)) [low, high] = [low - 0.5, high + 0.5];
  const px = (value: number) => margin.left + ((value - from) / (to - from)) * across;
  const py = (value: number) => margin.top + (1 - (value - low) / (high - low)) * down;
  const clamp = (value: number) => Math.max(margin.top, Math.min(margin.top + down, value));
  const parts: string[] = [];
  if (band) {
    const top = clamp(band[1] === null ? margin.top : py(band[1]));
    const bottom = clamp(band[0] === null ? margin.top + down : py(band[0]));
    parts.push(
      `<rect x="${margin.left}" y="${top}" width="${across}" height="${Math.max(0, bottom - top)}" fill="#15703f" opacity="0.12"/>`,
    );
  }
  for (let i = 0; i <= 4; i++) {
    const value = low + ((high - low) * i) / 4;
    const place = from + ((to - from) * i) / 4;
    parts.push(
      `<path d="M${margin.left} ${py(value)}H${width - margin.right}" stroke="#d8dee4"/>`,
      `<text x="${margin.left - 6}" y="${py(value) + 4}" text-anchor="end">${short(value)}</text>`,
      `<text x="${px(place)}" y="${height - margin.bottom + 18}" text-anchor="middle">${short(place)}</text>`,
    );
  }
  lines.forEach((line, i) => {
    if (line.upper !== undefined) {
      const points = (y: Float64Array) =>
        [...x.keys()].filter((k) => Number.isFinite(y[k])).map((k) => `${px(x[k]).toFixed(1)} ${py(y[k]).toFixed(1)}`);
      parts.push(
        `<path d="M${[...points(ys[line.upper]), ...points(ys[i]).reverse()].join('L')}Z" fill="${line.colour}" opacity="0.18"/>`,
      );
    }
    if (line.hidden) return;
    const points = [...x.keys()]
      .filter((k) => Number.isFinite(ys[i][k]))
      .map((k) => `${px(x[k]).toFixed(1)} ${py(ys[i][k]).toFixed(1)}`);
    if (points.length > 0)
      parts.push(
        `<path d="M${points.join('L')}" fill="none" stroke="${line.colour}" stroke-width="1.6"${line.dash?.length ? ` stroke-dasharray="${line.dash.join(' ')}"` : ''} opacity="${line.faint ? 0.35 : 1}"/>`,
      );
  });
  parts.push(`<text x="${margin.left}" y="22" font-size="16" font-weight="600">${escapeText(title)}</text>`);
  parts.push(
    `<text x="${margin.left + across / 2}" y="${height - margin.bottom + 34}" text-anchor="middle">${escapeText(xLabel)}</text>`,
  );
  const { entries, rows } = legend(lines.filter(({ faint, hidden }) => !faint && !hidden));
  const tall = height + (rows - 1) * rowHeight;
  for (const { label, colour, x: left, row } of entries) {
    const y = height + row * rowHeight;
    parts.push(
      `<rect x="${left}" y="${y - 16}" width="10" height="10" fill="${colour}"/>`,
      `<text x="${left + 14}" y="${y - 7}">${escapeText(label)}</text>`,
    );
  }
  parts.unshift(`<rect width="${width}" height="${tall}" fill="#fff"/>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${tall}" font-family="system-ui, sans-serif" font-size="12" fill="#33383d">${parts.join('')}</svg>\n`;
}

const rowHeight = 18;

/** Where each entry goes; one that does not fit begins a row. */
function legend(lines: readonly Drawn[]) {
  let [left, row] = [margin.left, 0];
  const entries = lines.map(({ label, colour }) => {
    const wide = 24 + label.length * 7;
    if (left > margin.left && left + wide > width) [left, row] = [margin.left, row + 1];
    const entry = { label, colour, x: left, row };
    left += wide;
    return entry;
  });
  return { entries, rows: row + 1 };
}

function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}
