/** How a chart is set up for uPlot: axes whose ticks are never clipped or doubled, strokes by agent, the usual band with its label, and marks at moments. */
import type uPlot from 'uplot';
import type { Drawn } from '../export.ts';
import { powerText, tickTexts } from './scale.ts';

export interface Mark {
  x: number;
  label: string;
}

export interface PlotLook {
  lines: readonly Drawn[];
  width: number;
  height: number;
  /** Whether places are seconds since 1970. */
  clock: boolean;
  logarithmic: boolean;
  /** Whether a logarithmic axis has to show 0 or less. */
  signed: boolean;
  /** The smallest size that such an axis tells from 0. */
  least: number;
  band?: readonly [number | null, number | null];
  bandLabel: string;
  marks(): readonly Mark[];
  /** Range of the vertical axis, where somebody has chosen one. */
  yRange(): [number, number] | undefined;
  isHidden(label: string): boolean;
}

const wholeSteps = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((lead) => lead * 10 ** power)).flat();
const font = '12px system-ui, sans-serif';

export function plotOptions(look: PlotLook, hover: (u: uPlot) => void): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const [faint, line, bandColour, good] = ['--faint', '--line', '--band', '--good'].map((name) =>
    style.getPropertyValue(name),
  );
  const axis: uPlot.Axis = {
    stroke: faint,
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1, size: 5 },
    font,
  };
  const bands = look.lines.flatMap((drawn, i): uPlot.Band[] =>
    drawn.upper === undefined ? [] : [{ series: [drawn.upper + 1, i + 1], fill: `${drawn.colour}2e` }],
  );
  return {
    width: Math.max(160, look.width),
    height: look.height,
    padding: [8, 18, 0, 0],
    scales: {
      x: { time: look.clock, auto: false },
      y: {
        ...(look.logarithmic ? { distr: look.signed ? 4 : 3, ...(look.signed ? { asinh: look.least } : {}) } : {}),
        range: (_, low, high) => look.yRange() ?? padded(low, high, look.logarithmic),
      },
    },
    legend: { show: false },
    cursor: {
      drag: { x: false, y: false, setScale: false },
      points: { size: 6 },
      sync: {
        key: 'trueline',
        scales: ['x', null],
        filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave' },
      },
    },
    axes: [
      {
        ...axis,
        size: 30,
        space: 64,
        // There is no half of an iteration.
        ...(look.lines.every(({ x }) => x.every(Number.isInteger)) ? { incrs: wholeSteps } : {}),
        ...(look.clock
          ? {}
          : { values: (_: uPlot, ticks: number[], __: number, ___: number, step: number) => tickTexts(ticks, step) }),
      },
      {
        ...axis,
        size: (_, texts) => 16 + 7 * Math.max(2, ...(texts ?? []).map((text) => text?.length ?? 0)),
        values: (_, ticks, __, ___, step) =>
          look.logarithmic ? ticks.map((tick) => powerText(tick)) : tickTexts(ticks, step),
      },
    ],
    series: [
      {},
      ...look.lines.map(
        (drawn): uPlot.Series => ({
          label: drawn.label,
          show: !look.isHidden(drawn.label),
          stroke: drawn.hidden ? 'transparent' : drawn.colour,
          width: drawn.hidden ? 0 : drawn.faint ? 1 : 1.6,
          alpha: drawn.faint ? 0.35 : 1,
          spanGaps: true,
          ...(drawn.dash?.length ? { dash: drawn.dash } : {}),
          points: { show: (u) => !drawn.hidden && u.data[0].length < 40, size: 4, fill: drawn.colour },
        }),
      ),
    ],
    bands,
    focus: { alpha: 0.15 },
    hooks: {
      drawClear: [(u) => drawBand(u, look.band, look.bandLabel, bandColour, good)],
      draw: [(u) => drawMarks(u, look.marks(), style.getPropertyValue('--accent'), style.getPropertyValue('--ink'))],
      setCursor: [hover],
    },
  };
}

/** A little room above and below; a curve that never moves lies in the middle. */
function padded(low: number | null, high: number | null, logarithmic: boolean): [number, number] {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high))
    return logarithmic ? [1e-3, 1] : [0, 1];
  if (logarithmic && low > 0) return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high * 1.0001))];
  if (low === high) {
    const room = Math.abs(low) > 0 ? Math.abs(low) * 0.1 : 0.5;
    return [low - room, high + room];
  }
  const room = (high - low) * 0.06;
  return [low - room, high + room];
}

function drawBand(u: uPlot, band: PlotLook['band'], label: string, colour: string, ink: string): void {
  if (!band) return;
  const [low, high] = band;
  const { left, top: above, width, height } = u.bbox;
  const below = above + height;
  const at = (value: number) => Math.min(below, Math.max(above, u.valToPos(value, 'y', true)));
  const top = high === null ? above : at(high);
  const bottom = low === null || low < 1e-300 ? below : at(low);
  if (!(bottom > top)) return;
  u.ctx.save();
  u.ctx.fillStyle = colour;
  u.ctx.fillRect(left, top, width, bottom - top);
  u.ctx.fillStyle = ink;
  u.ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  u.ctx.textAlign = 'left';
  // In the band where it fits, else above it, or below where there is no room above.
  const line = 16 * devicePixelRatio;
  const foot = bottom - top > line ? top + 0.8 * line : top - above > line ? top - line / 4 : bottom + 0.8 * line;
  u.ctx.fillText(label, left + 5 * devicePixelRatio, foot);
  u.ctx.restore();
}

function drawMarks(u: uPlot, marks: readonly Mark[], colour: string, ink: string): void {
  const { left, top, width, height } = u.bbox;
  for (const { x, label } of marks) {
    const at = u.valToPos(x, 'x', true);
    if (!(at >= left && at <= left + width)) continue;
    u.ctx.save();
    u.ctx.strokeStyle = colour;
    u.ctx.lineWidth = 1.5 * devicePixelRatio;
    u.ctx.setLineDash([5 * devicePixelRatio, 3 * devicePixelRatio]);
    u.ctx.beginPath();
    u.ctx.moveTo(at, top);
    u.ctx.lineTo(at, top + height);
    u.ctx.stroke();
    if (label) {
      u.ctx.fillStyle = ink;
      u.ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
      const right = at > left + width * 0.7;
      u.ctx.textAlign = right ? 'right' : 'left';
      u.ctx.fillText(label, at + (right ? -4 : 4) * devicePixelRatio, top + height - 6 * devicePixelRatio);
    }
    u.ctx.restore();
  }
}
