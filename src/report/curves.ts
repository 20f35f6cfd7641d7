/** Curves with bands as an SVG picture, drawn without a browser. The band is what the text beside it says, not a standard deviation. */
import * as echarts from 'echarts';
import type { Band } from '../sweep/compare.ts';

/** Distinct for colour-blind readers as well (Okabe and Ito). */
export const palette = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#b3a500', '#555555'];

export interface PictureSize {
  width?: number;
  height?: number;
}

/** Renders any chart to SVG text. */
export function svgChart(option: echarts.EChartsOption, { width = 760, height = 380 }: PictureSize = {}): string {
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height });
  chart.setOption({ animation: false, color: palette, textStyle: { fontFamily: 'system-ui, sans-serif' }, ...option });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

export function curveChart(bands: readonly Band[], title: string, size: PictureSize = {}): string {
  const series = bands.flatMap((band, i) => {
    const points = (values: readonly number[]) => values.map((value, at) => [band.steps[at], value]);
    const colour = palette[i % palette.length];
    const quiet = { type: 'line' as const, symbol: 'none', silent: true, lineStyle: { width: 0 }, stack: `band ${i}` };
    return [
      { ...quiet, data: points(band.low), stackStrategy: 'all' as const },
      {
        ...quiet,
        data: points(band.high.map((value, at) => value - band.low[at])),
        areaStyle: { color: colour, opacity: 0.18 },
        stackStrategy: 'all' as const,
      },
      {
        type: 'line' as const,
        name: band.label,
        symbol: 'none',
        data: points(band.middle),
        lineStyle: { width: 2, color: colour },
        itemStyle: { color: colour },
      },
    ];
  });
  return svgChart(
    {
      title: { text: title, left: 'center', textStyle: { fontSize: 14 } },
      legend: { data: bands.map(({ label }) => label), bottom: 0 },
      grid: { left: 60, right: 20, top: 40, bottom: 60 },
      xAxis: {
        type: 'value',
        name: 'steps',
        nameLocation: 'middle',
        nameGap: 25,
        axisLabel: { formatter: (value: number) => shortSteps(value) },
      },
      yAxis: { type: 'value', name: 'return', scale: true },
      series,
    },
    size,
  );
}

function shortSteps(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  return value >= 1e3 ? `${Number((value / 1e3).toPrecision(3))}k` : String(value);
}
