/** Draws charts as SVG text with ECharts, without a browser. ECharts is loaded at the first drawing, so that commands which draw nothing start as fast as before. */
import type { Chart } from './charts.ts';
import { safeText } from './safe-text.ts';

export type Draw = (chart: Chart, title: string) => string;

let loaded: Promise<typeof import('echarts/core')> | undefined;

async function load() {
  const [core, charts, components, renderers] = await Promise.all([
    import('echarts/core'),
    import('echarts/charts'),
    import('echarts/components'),
    import('echarts/renderers'),
  ]);
  core.use([
    charts.LineChart,
    charts.ScatterChart,
    charts.BoxplotChart,
    components.GridComponent,
    components.LegendComponent,
    components.MarkAreaComponent,
    renderers.SVGRenderer,
  ]);
  return core;
}

/** A function that draws; every drawing of one function has names of its own, and the same drawings in the same order are the same text. */
export async function svgDrawer(): Promise<Draw> {
  loaded ??= load();
  const { init } = await loaded;
  let count = 0;
  return ({ width, height, option }, title) => {
    const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
    try {
      chart.setOption(option);
      return tidy(chart.renderToSVGString(), `p${count++}`, title);
    } finally {
      chart.dispose();
    }
  };
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
