/** A chart as a picture of its own, with real colours and no page around it. */
import * as echarts from 'echarts';

/** Distinct for colour-blind readers as well (Okabe and Ito). */
const palette = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#b3a500', '#555555'];

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
