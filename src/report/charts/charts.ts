/** Options for ECharts from a picture's data. Colours are CSS variables, so that one drawing serves light and dark pages. */
import type { EChartsCoreOption } from 'echarts/core';
import { number } from '../number.ts';
import type { Lines, Panel, ReadingSeries, Scatter } from '../pictures/picture.ts';

export interface Chart {
  width: number;
  height: number;
  option: EChartsCoreOption;
}

/** A line's look: its colour and its dashes, so that colour is never the only difference. */
export interface Look {
  colour: string;
  dash: number[] | 'solid';
}

export const size = { width: 420, height: 270 };
const text = { fontFamily: 'inherit', fontSize: 13, color: 'var(--soft)' };

/** The first 25 differ. */
export function look(index: number, reference: boolean): Look {
  const dashes: Look['dash'][] = ['solid', [8, 3], [2, 3], [10, 3, 2, 3], [5, 5]];
  return {
    colour: reference ? 'var(--soft)' : `var(--c${(index % 5) + 1})`,
    dash: dashes[(index + Math.floor(index / 5)) % dashes.length],
  };
}

export interface Range {
  min: number;
  max: number;
  /** Between labels; ECharts' own choice trips over ends that rounding has moved. */
  interval: number;
}

/** Round ends just outside the values, so that no point sits on the frame, and about five labels between. */
export function range(values: readonly number[], whole = false): Range {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(high >= low)) [low, high] = [0, 1];
  if (high === low) {
    const room = whole ? 1 : Math.abs(low) * 0.1 || 1;
    [low, high] = whole ? [low, low + room] : [low - room, high + room];
  }
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const times = [1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10;
  const interval = whole ? Math.max(1, times * power) : times * power;
  if (whole) return { min: low, max: high, interval: clean(interval) };
  const [min, max] = [Math.floor(low / interval) * interval, Math.ceil(high / interval) * interval];
  return { min: clean(min), max: clean(max), interval: clean(interval) };
}

export function axis(name: string, limits: Range, at: 'x' | 'y', label: (at: number) => string = number) {
  return {
    type: 'value',
    ...limits,
    name,
    nameLocation: 'middle',
    nameGap: at === 'x' ? 28 : 48,
    nameTextStyle: text,
    axisLine: { show: true, onZero: false, lineStyle: { color: 'var(--edge)' } },
    axisTick: { show: false },
    axisLabel: { ...text, fontSize: 12, hideOverlap: true, formatter: (value: number) => label(clean(value)) },
    splitLine: { lineStyle: { color: 'var(--grid)' } },
  };
}

/** 0.30000000000000004 is 0.3. */
const clean = (value: number) => Number(value.toPrecision(10));

export const base = {
  animation: false,
  backgroundColor: 'transparent',
  grid: { left: 66, right: 14, top: 12, bottom: 48, outerBoundsMode: 'none' },
};

/** One chart for each panel, all on the same axes. */
export function scatterCharts(picture: Scatter): Chart[] {
  const all = (pick: (panel: Panel) => number[]) => picture.panels.flatMap(pick);
  const x = range(picture.diagonal ? all((panel) => [...panel.x, ...panel.y]) : all((panel) => panel.x));
  const y = picture.diagonal ? x : range(all((panel) => panel.y));
  return picture.panels.map((panel, i) => ({
    ...size,
    option: {
      ...base,
      xAxis: axis(picture.xName, x, 'x'),
      yAxis: axis(picture.yName, y, 'y'),
      series: [
        ...(picture.diagonal
          ? [
              {
                type: 'line',
                silent: true,
                symbol: 'none',
                lineStyle: { color: 'var(--soft)', width: 1, type: [4, 4] },
                data: [
                  [x.min, x.min],
                  [x.max, x.max],
                ],
              },
            ]
          : []),
        {
          type: 'scatter',
          silent: true,
          // One path for all points, or a picture would be ten times as large.
          large: true,
          largeThreshold: 1,
          symbol: 'rect',
          symbolSize: panel.x.length > 400 ? 3 : 5,
          itemStyle: { color: i === 0 && picture.panels.length > 1 ? 'var(--c2)' : 'var(--c1)', opacity: 0.55 },
          data: panel.x.map((value, k) => [value, panel.y[k]]),
        },
      ],
    },
  }));
}

export function linesChart(picture: Lines): Chart {
  const xs = picture.lines.flatMap((line) => line.x);
  const x = range(xs, true);
  const { value, limits, label } = picture.logarithmic ? magnitudes(picture) : plain(picture);
  return {
    ...size,
    option: {
      ...base,
      xAxis: { ...axis(picture.xName, x, 'x'), splitLine: { show: false } },
      yAxis: axis(picture.yName, limits, 'y', label),
      series: picture.lines.map((line, i) => {
        const { colour, dash } = look(i, line.reference === true);
        return {
          type: 'line',
          name: line.name,
          silent: true,
          showSymbol: line.x.length < 4,
          symbol: 'circle',
          symbolSize: 6,
          itemStyle: { color: colour },
          lineStyle: { color: colour, width: line.reference ? 1.5 : 2, type: dash },
          data: line.x.map((at, k) => [at, value(line.y[k])]),
        };
      }),
    },
  };
}

interface Scale {
  value: (y: number) => number;
  limits: Range;
  label: (at: number) => string;
}

function plain(picture: Lines): Scale {
  return { value: (y) => y, limits: range(picture.lines.flatMap((line) => line.y)), label: number };
}

/** Orders of magnitude; 0 is drawn one below the smallest and labelled as what it is. */
function magnitudes(picture: Lines): Scale {
  const ys = picture.lines.flatMap((line) => line.y);
  const positive = ys.filter((y) => y > 0).map(Math.log10);
  if (positive.length === 0)
    return { value: () => 0, limits: { min: 0, max: 1, interval: 1 }, label: (at) => (at === 0 ? '0' : '') };
  const zero = ys.some((y) => !(y > 0));
  const lowest = Math.floor(Math.min(...positive));
  const min = zero ? lowest - 1 : lowest;
  const max = Math.max(Math.ceil(Math.max(...positive)), lowest + 1);
  return {
    value: (y) => (y > 0 ? Math.log10(y) : min),
    limits: { min, max, interval: Math.ceil((max - min) / 6) },
    label: (at) => {
      if (zero && at === min) return '0';
      return Number.isInteger(at) ? (Math.abs(at) < 4 ? number(Number((10 ** at).toPrecision(1))) : `1e${at}`) : '';
    },
  };
}

/** A reading as a small line over its band, without axes: the card around it has the numbers. */
export function readingChart(reading: ReadingSeries): Chart {
  const edges = [...(reading.band ?? [])].flatMap((edge) => (edge === null || edge === Number.MIN_VALUE ? [] : [edge]));
  const ys = reading.lines.flatMap((line) => line.y);
  const xs = reading.lines.flatMap((line) => line.x);
  const low = Math.min(...ys, ...edges);
  const high = Math.max(...ys, ...edges);
  const room = 0.08 * (high - low) || 0.1 * Math.abs(high) || 1;
  const limits = { min: low - room, max: high + room, interval: high - low + 2 * room };
  const hidden = { axisLine: { show: false }, axisTick: { show: false }, axisLabel: { show: false } };
  const [from, to] = reading.band ?? [null, null];
  const start = Math.min(...xs);
  const end = Math.max(...xs, start + 1);
  return {
    width: 240,
    height: 54,
    option: {
      animation: false,
      backgroundColor: 'transparent',
      grid: { left: 2, right: 2, top: 2, bottom: 2, outerBoundsMode: 'none' },
      xAxis: {
        type: 'value',
        min: start,
        max: end,
        interval: end - start,
        ...hidden,
        splitLine: { show: false },
      },
      yAxis: { type: 'value', ...limits, ...hidden, splitLine: { show: false } },
      series: reading.lines.map((line, i) => {
        const { colour, dash } = look(i, false);
        return {
          type: 'line',
          silent: true,
          showSymbol: line.x.length < 2,
          symbol: 'circle',
          symbolSize: 5,
          itemStyle: { color: colour },
          lineStyle: { color: colour, width: 1.5, type: dash },
          data: line.x.map((at, k) => [at, line.y[k]]),
          ...(i === 0 && reading.band
            ? {
                markArea: {
                  silent: true,
                  itemStyle: { color: 'var(--good)', opacity: 0.16 },
                  data: [
                    [
                      { yAxis: Math.max(limits.min, from ?? limits.min) },
                      { yAxis: Math.min(limits.max, to ?? limits.max) },
                    ],
                  ],
                },
              }
            : {}),
        };
      }),
    },
  };
}
