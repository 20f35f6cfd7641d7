/** The parts of ECharts that our pictures need. Import it when something is drawn, never before: it is large. */
import { BoxplotChart, LineChart, ScatterChart } from 'echarts/charts';
import {
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  TitleComponent,
  TooltipComponent,
} from 'echarts/components';
import { type ECharts, init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';

const parts = [
  LineChart,
  ScatterChart,
  BoxplotChart,
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  TitleComponent,
  TooltipComponent,
  SVGRenderer,
];

/** A chart in a page's element, or one that is only rendered to text. */
export function newChart(holder: HTMLElement | null, size: { width: number; height: number }): ECharts {
  // Here and not at the top: a bundler drops what a module does only by being imported.
  use(parts);
  return init(holder, null, { renderer: 'svg', ssr: holder === null, ...size });
}
