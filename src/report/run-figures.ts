/** Charts of many runs as parts of a page: heading, legend, drawing, caption. */
import { told } from '../language/language.ts';
import type { StageChart } from '../symmetry/stage.ts';
import { type Chart, size } from './charts/charts.ts';
import { bandChart, boxChart, effectChart, legendItems } from './charts/curves.ts';
import type { Draw } from './charts/svg.ts';
import { number } from './number.ts';
import { safeText } from './safe-text.ts';

export function chartFigure(chart: StageChart, draw: Draw, command?: string): string {
  const by = command ? ` ${told('Made by', '生成命令：')} <code>${safeText(command)}</code>${told('.', '。')}` : '';
  const { option, legend, heard } = parts(chart);
  const list = legend.map(
    ({ label, colour, dashes }) =>
      `<li><svg viewBox="0 0 30 10" aria-hidden="true"><path d="M0 5H30" fill="none" stroke-width="2.5" stroke="${colour}"${dashes ? ` stroke-dasharray="${dashes}"` : ''}/></svg>${safeText(label)}</li>`,
  );
  return `<figure${option.width > size.width ? ' class="wide"' : ''}><h3>${safeText(chart.title)}</h3>${list.length > 0 ? `<ul class="legend">${list.join('')}</ul>` : ''}${draw(option, `${chart.title}: ${heard}`)}<figcaption>${safeText(chart.note)}${by}</figcaption></figure>`;
}

function parts(chart: StageChart): { option: Chart; legend: ReturnType<typeof legendItems>; heard: string } {
  switch (chart.kind) {
    case 'curves':
      return {
        option: bandChart(chart.bands, chart.y, false, chart.x),
        legend: legendItems(chart.bands.map(({ label }) => label)),
        heard: chart.bands
          .map(({ label, middle }) =>
            told(
              `${label} ends at ${number(middle[middle.length - 1])}`,
              `${label} 终值 ${number(middle[middle.length - 1])}`,
            ),
          )
          .join(', '),
      };
    case 'boxes':
      return {
        option: boxChart(chart.groups, chart.unit),
        legend: [],
        heard: chart.groups
          .map(
            ({ label, boxes }) =>
              `${label} ${boxes.map((box) => told(`${box.label} median ${number(middle(box.values))}`, `${box.label} 中位数 ${number(middle(box.values))}`)).join(', ')}`,
          )
          .join('; '),
      };
    default:
      return {
        option: effectChart(chart.effects, chart.unit, chart.margin),
        legend: [],
        heard: chart.effects
          .map(({ label, mean, low, high }) => `${label} ${number(mean)} (${number(low)} … ${number(high)})`)
          .join(', '),
      };
  }
}

function middle(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}
