/** Charts of many runs: curves with bands, box plots by group, effects with intervals. What the band or the bar is, the caption says; it is never a standard deviation by surprise. */
import { told } from '../../language/language.ts';
import type { Band } from '../../sweep/compare.ts';
import { number } from '../number.ts';
import { axis, base, type Chart, look, range, size } from './charts.ts';
import { standsAlone, svgDrawer } from './svg.ts';

/** About what a letter of a label takes, in pixels. */
const letter = 6.5;

/** Middle lines over their bands. */
export function bandChart(
  bands: readonly Band[],
  yName = told('return', '回报'),
  legend = false,
  xName = told('steps', '步数'),
): Chart {
  const x = range([0, ...bands.flatMap(({ steps }) => steps)], true);
  const y = range(bands.flatMap(({ low, high }) => [...low, ...high]));
  const series = bands.flatMap((band, i) => {
    const { colour, dash } = look(i, false);
    const points = (values: readonly number[]) => values.map((value, at) => [band.steps[at], value]);
    const quiet = {
      type: 'line',
      silent: true,
      symbol: 'none',
      lineStyle: { width: 0 },
      stack: `band ${i}`,
      stackStrategy: 'all',
    };
    return [
      { ...quiet, data: points(band.low) },
      {
        ...quiet,
        data: points(band.high.map((value, at) => value - band.low[at])),
        areaStyle: { color: colour, opacity: 0.16 },
      },
      {
        type: 'line',
        name: band.label,
        silent: true,
        symbol: 'none',
        itemStyle: { color: colour },
        lineStyle: { color: colour, width: 2, type: dash },
        data: points(band.middle),
      },
    ];
  });
  const shown = legend
    ? { legend: { data: bands.map(({ label }) => label), top: 0, textStyle: { color: 'var(--soft)' } } }
    : {};
  return {
    width: legend ? 760 : size.width,
    height: legend ? 360 + legendTall(bands) : size.height,
    option: {
      ...base,
      ...shown,
      grid: { ...base.grid, ...(legend ? { top: legendTall(bands) } : {}) },
      xAxis: { ...axis(xName, x, 'x', shortSteps), splitLine: { show: false } },
      yAxis: axis(yName, y, 'y'),
      series,
    },
  };
}

/** The lines of a legend in a picture of its own take so much. */
function legendTall(bands: readonly Band[]): number {
  const wide = bands.reduce((sum, { label }) => sum + 45 + letter * label.length, 0);
  return 16 + 24 * Math.ceil(wide / 700);
}

/** A picture of its own: colours are the light page's, and the legend is in it. */
export async function bandPicture(bands: readonly Band[], title: string): Promise<string> {
  const draw = await svgDrawer();
  const chart = bandChart(bands, told('return', '回报'), true);
  return standsAlone(draw(chart, title), chart);
}

export interface BoxGroup {
  label: string;
  boxes: readonly { label: string; values: readonly number[] }[];
}

const small = { fontFamily: 'inherit', fontSize: 11, color: 'var(--soft)' };

/** The groups' names over their boxes, with a line between groups. */
function groupAxis(groups: readonly BoxGroup[], width: number) {
  return {
    type: 'category',
    position: 'top',
    data: groups.map(({ label }) => label),
    axisTick: { show: true, alignWithLabel: false, length: 6, lineStyle: { color: 'var(--edge)' } },
    axisLine: { lineStyle: { color: 'var(--edge)' } },
    axisLabel: { ...small, interval: 0, width: (0.85 * width) / groups.length, overflow: 'break' },
    splitLine: { show: true, lineStyle: { color: 'var(--edge)' } },
  };
}

/** One box for each entry, its points beside it; groups apart. Names that would run into each other lie one below the other, and their boxes with them. */
export function boxChart(groups: readonly BoxGroup[], yName: string): Chart {
  const [only] = groups;
  if (groups.length === 1 && runTogether(only.boxes.map(({ label }) => label))) return lyingBoxes(only.boxes, yName);
  const entries = groups.flatMap(({ boxes }, group) => boxes.map((box, i) => ({ ...box, group, place: i })));
  const labels = entries.map(({ label }, i) => `${i} ${label}`);
  const finite = entries.map(({ values }) => values.filter((value) => Number.isFinite(value)));
  const y = range(finite.flat());
  const colourOf = (place: number) => look(place, false).colour;
  const width = groups.length > 2 ? 640 : size.width;
  const named = groups.length > 1;
  return {
    width,
    height: size.height + (named ? 30 : 0),
    option: {
      ...base,
      ...(named ? { grid: { ...base.grid, top: 50 } } : {}),
      xAxis: [
        {
          type: 'category',
          data: labels,
          axisTick: { show: false },
          axisLine: { lineStyle: { color: 'var(--edge)' } },
          axisLabel: {
            ...small,
            interval: 0,
            rotate: entries.length > 6 ? 35 : 0,
            formatter: (value: string) => value.slice(value.indexOf(' ') + 1),
          },
        },
        ...(named ? [groupAxis(groups, width)] : []),
      ],
      yAxis: axis(yName, y, 'y'),
      series: [
        {
          type: 'boxplot',
          silent: true,
          boxWidth: [10, 34],
          data: finite.map((values, i) => ({
            value: fiveNumbers(values),
            itemStyle: { color: 'transparent', borderColor: colourOf(entries[i].place), borderWidth: 1.5 },
          })),
        },
        {
          type: 'scatter',
          silent: true,
          symbolSize: 5,
          data: finite.flatMap((values, i) =>
            values.map((value) => ({
              value: [i, value],
              itemStyle: { color: colourOf(entries[i].place), opacity: 0.55 },
            })),
          ),
        },
      ],
    },
  };
}

const runTogether = (labels: readonly string[]) =>
  labels.some((label) => label.length * letter > (size.width - 80) / labels.length);

const longestName = 300;

function lyingBoxes(boxes: BoxGroup['boxes'], unit: string): Chart {
  const names = boxes.map(({ label }) => label.length * letter);
  const room = Math.min(longestName, Math.max(...names) + 10);
  const lines = Math.max(...names.map((wide) => Math.ceil(wide / room)));
  const finite = boxes.map(({ values }) => values.filter((value) => Number.isFinite(value)));
  const colourOf = (place: number) => look(place, false).colour;
  return {
    width: size.width + room,
    height: 70 + (14 + 14 * lines) * boxes.length,
    option: {
      ...base,
      grid: { ...base.grid, left: room + 14, right: 30 },
      xAxis: axis(unit, range(finite.flat()), 'x'),
      yAxis: {
        type: 'category',
        data: boxes.map(({ label }, i) => `${i} ${label}`),
        inverse: true,
        axisTick: { show: false },
        axisLine: { lineStyle: { color: 'var(--edge)' } },
        axisLabel: {
          ...small,
          interval: 0,
          width: room,
          overflow: 'break',
          formatter: (value: string) => value.slice(value.indexOf(' ') + 1),
        },
      },
      series: [
        {
          type: 'boxplot',
          silent: true,
          boxWidth: [8, 20],
          data: finite.map((values, i) => ({
            value: fiveNumbers(values),
            itemStyle: { color: 'transparent', borderColor: colourOf(i), borderWidth: 1.5 },
          })),
        },
        {
          type: 'scatter',
          silent: true,
          symbolSize: 5,
          data: finite.flatMap((values, i) =>
            values.map((value) => ({ value: [value, i], itemStyle: { color: colourOf(i), opacity: 0.55 } })),
          ),
        },
      ],
    },
  };
}

function fiveNumbers(values: readonly number[]): number[] {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => {
    const place = share * (sorted.length - 1);
    const low = Math.floor(place);
    return sorted[low] + (place - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
  };
  return sorted.length === 0 ? [] : [0, 0.25, 0.5, 0.75, 1].map(at);
}

export interface Effect {
  label: string;
  mean: number;
  low: number;
  high: number;
}

/** Means with their intervals, one below the other, and the line of no effect; where equality is claimed within `margin`, both its ends are drawn. */
export function effectChart(effects: readonly Effect[], xName: string, margin?: number): Chart {
  const ends = margin === undefined ? [] : [-margin, margin];
  const x = range([0, ...ends, ...effects.flatMap(({ low, high }) => [low, high])]);
  const line = (data: number[][], style: object) => ({
    type: 'line',
    silent: true,
    symbol: 'none',
    data,
    lineStyle: style,
  });
  return {
    width: size.width,
    height: Math.max(150, 70 + 24 * effects.length),
    option: {
      ...base,
      // Room for the last label, which stands half outside.
      grid: { ...base.grid, left: 86, right: 30 },
      xAxis: axis(xName, x, 'x', number),
      yAxis: {
        type: 'category',
        data: effects.map(({ label }, i) => `${i} ${label}`),
        inverse: true,
        axisTick: { show: false },
        axisLine: { lineStyle: { color: 'var(--edge)' } },
        axisLabel: {
          fontFamily: 'inherit',
          fontSize: 12,
          color: 'var(--soft)',
          formatter: (value: string) => value.slice(value.indexOf(' ') + 1),
        },
      },
      series: [
        line(
          [
            [0, 0],
            [0, effects.length - 1],
          ],
          { color: 'var(--soft)', width: 1, type: [4, 4] },
        ),
        ...ends.map((end) =>
          line(
            [
              [end, 0],
              [end, effects.length - 1],
            ],
            { color: 'var(--c2)', width: 1.5, type: [2, 3] },
          ),
        ),
        ...effects.map(({ low, high }, i) =>
          line(
            [
              [low, i],
              [high, i],
            ],
            { color: 'var(--c1)', width: 2.5 },
          ),
        ),
        {
          type: 'scatter',
          silent: true,
          symbolSize: 8,
          itemStyle: { color: 'var(--c1)' },
          data: effects.map(({ mean }, i) => [mean, i]),
        },
      ],
    },
  };
}

export function shortSteps(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  return value >= 1e3 ? `${Number((value / 1e3).toPrecision(3))}k` : String(value);
}

/** Which line is which, as a list beside the picture. */
export function legendItems(labels: readonly string[]): { label: string; colour: string; dashes: string }[] {
  return labels.map((label, i) => {
    const { colour, dash } = look(i, false);
    return { label, colour, dashes: dash === 'solid' ? '' : dash.join(' ') };
  });
}
