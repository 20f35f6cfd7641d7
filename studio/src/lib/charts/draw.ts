/** Draws a figure's chart into the page, alive under the pointer. It brings ECharts along, so it is loaded when the first picture is shown. */
import { newChart } from '../../../../src/report/charts/echarts.ts';
import { standsAlone, svgDrawer } from '../../../../src/report/charts/svg.ts';
import { safeText } from '../../../../src/report/safe-text.ts';
import type { FigurePart } from './figure.ts';

interface Pointed {
  seriesIndex: number;
  dataIndex: number;
}

/** Where the pointer is, from the chart's upper left corner. */
export interface Place {
  x: number;
  y: number;
}

/** Draws until it is told to stop; the width follows the holder's. A pointer that rests where the chart is drawn is told of at once, as if it had moved. */
export function draw(holder: HTMLElement, part: FigurePart, pointer?: Place): () => void {
  const { option, height } = part.chart;
  const chart = newChart(holder, { width: Math.max(120, holder.clientWidth), height });
  const series = (option.series as { silent?: boolean }[]).map((one, i) => ({
    ...one,
    silent: part.tell(i, 0) === undefined,
    emphasis: { disabled: true },
  }));
  chart.setOption({
    ...option,
    // A wide page has room for the last label.
    grid: { ...(option.grid as object), ...(part.chart.height > 100 ? { right: 26 } : {}) },
    series,
    tooltip: {
      trigger: part.trigger,
      confine: true,
      transitionDuration: 0,
      className: 'tip',
      backgroundColor: 'var(--card)',
      borderColor: 'var(--edge)',
      padding: [4, 8],
      textStyle: { color: 'var(--ink)', fontSize: 13 },
      axisPointer: { type: 'line', animation: false, lineStyle: { color: 'var(--soft)' }, label: { show: false } },
      // Elements, never markup: names come from strangers.
      formatter: (pointed: Pointed | Pointed[]) => tip(part, Array.isArray(pointed) ? pointed : [pointed]),
    },
  });
  if (pointer) chart.dispatchAction({ type: 'showTip', ...pointer });
  const watch = new ResizeObserver(() => {
    if (holder.clientWidth > 0 && holder.clientWidth !== chart.getWidth()) chart.resize({ width: holder.clientWidth });
  });
  watch.observe(holder);
  return () => {
    watch.disconnect();
    chart.dispose();
  };
}

function tip(part: FigurePart, pointed: readonly Pointed[]): HTMLElement {
  const box = document.createElement('div');
  for (const { seriesIndex, dataIndex } of pointed) {
    const told = part.tell(seriesIndex, dataIndex);
    if (!told) continue;
    if (box.childElementCount === 0) box.append(element('div', told.place));
    const row = element('div', `${told.label} `);
    if (told.colour) row.prepend(mark(told.colour));
    row.append(element('b', told.value));
    box.append(row);
  }
  return box;
}

function element(name: string, text: string): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function mark(colour: string): HTMLElement {
  const made = document.createElement('i');
  made.style.background = colour;
  return made;
}

const above = 26;

/** A figure as one file of its own; several parts stand side by side, each below its label. */
export async function svgOf(parts: readonly FigurePart[]): Promise<string> {
  const render = await svgDrawer();
  const drawn = parts.map(({ chart, heard }) => standsAlone(render(chart, heard), chart));
  if (parts.length === 1) return drawn[0];
  let width = 0;
  const placed = parts.map(({ chart, label }, i) => {
    const x = width;
    width += chart.width;
    return `<text x="${x + 12}" y="18">${safeText(label)}</text>${drawn[i].replace(/^<svg/, `<svg x="${x}" y="${above}"`)}`;
  });
  const height = above + Math.max(...parts.map(({ chart }) => chart.height));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="14"><rect width="${width}" height="${height}" fill="#fff"/>${placed.join('')}</svg>`;
}
