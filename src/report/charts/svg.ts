/** Draws charts as SVG text with ECharts, without a browser. ECharts is loaded at the first drawing, so that commands which draw nothing start as fast as before. */

import type { EChartsCoreOption } from 'echarts/core';
import { told } from '../../language/language.ts';
import { needing } from '../../recording/optional.ts';
import { light } from '../pages/page-style.ts';
import { safeText } from '../safe-text.ts';
import type { Chart } from './charts.ts';

export type Draw = (chart: Chart, title: string) => string;

/** Distinct for colour-blind readers as well (Okabe and Ito). */
const palette = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#b3a500', '#555555'];

const load = () => needing('echarts', told('drawing charts', '绘制图表'), () => import('./echarts.ts'));

/** A function that draws; every drawing of one function has names of its own, and the same drawings in the same order are the same text. */
export async function svgDrawer(): Promise<Draw> {
  const { newChart } = await load();
  let count = 0;
  return ({ width, height, option }, title) => {
    const chart = newChart(null, { width, height });
    try {
      chart.setOption(option);
      return tidy(chart.renderToSVGString(), `p${count++}`, title);
    } finally {
      chart.dispose();
    }
  };
}

/** A chart as a picture of its own, with real colours and no page around it. */
export async function svgChart(option: EChartsCoreOption, size: { width: number; height: number }): Promise<string> {
  const { newChart } = await load();
  const chart = newChart(null, size);
  try {
    const textStyle = { fontFamily: 'system-ui, sans-serif' };
    chart.setOption({ animation: false, color: palette, textStyle, ...option });
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}

/** Without styles for pointers and marks for scripts, of which a still picture has no need; scaled by the page, and named for those who hear it. */
function tidy(svg: string, prefix: string, title: string): string {
  return svg
    .replace(/<style[\s\S]*?<\/style>\s*/g, '')
    .replace(/ (?:ecmeta_[\w]+|class|pointer-events|baseProfile|version|xmlns:xlink)="[^"]*"/g, '')
    .replace(/\bzr\d+-/g, `${prefix}-`)
    .replace(/^<svg width="[^"]*" height="[^"]*"/, `<svg role="img" aria-labelledby="${prefix}-t"`)
    .replace(/^(<svg[^>]*>)/, `$1<title id="${prefix}-t">${safeText(title)}</title>`)
    .replace(/\n/g, '');
}

/** A picture of its own, with no page around it: colours are the light page's. */
export function standsAlone(svg: string, { width, height }: Chart): string {
  const colours = new Map([...light.matchAll(/--(\w+):(#\w+)/g)].map(([, name, colour]) => [name, colour]));
  return svg
    .replace(/var\(--(\w+)\)/g, (_, name: string) => colours.get(name) ?? '#000')
    .replaceAll('inherit', 'sans-serif')
    .replace(/^<svg/, `<svg width="${width}" height="${height}" style="background:#fff"`);
}
