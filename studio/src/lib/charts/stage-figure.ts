/** Charts of an investigation for the page: the same as in its HTML report. Numbers that were not finite come as null, because JSON has no name for them. */
import { bandChart, boxChart, effectChart, legendItems } from '../../../../src/report/charts/curves.ts';
import { number } from '../../../../src/report/number.ts';
import type { StageChart } from '../../../../src/symmetry/stage.ts';
import { say } from '../../texts/index.svelte.ts';
import { csvRow } from '../export.ts';
import { type FigureData, linesCsv } from './figure.ts';

export function stageFigure(chart: StageChart): FigureData {
  switch (chart.kind) {
    case 'curves':
      return curvesFigure(chart);
    case 'boxes':
      return boxesFigure(chart);
    default:
      return effectsFigure(chart);
  }
}

const known = (values: readonly (number | null)[]) => values.map((value) => value ?? Number.NaN);

function curvesFigure(chart: Extract<StageChart, { kind: 'curves' }>): FigureData {
  const bands = chart.bands.map((band) => ({
    label: band.label,
    steps: known(band.steps),
    middle: known(band.middle),
    low: known(band.low),
    high: known(band.high),
  }));
  const legend = legendItems(bands.map(({ label }) => label));
  return {
    title: chart.title,
    caption: chart.note,
    legend,
    parts: [
      {
        chart: bandChart(bands, chart.y, false, chart.x),
        label: '',
        note: '',
        heard: `${chart.title}: ${bands.map(({ label, middle }) => `${label} ends at ${number(middle[middle.length - 1])}`).join(', ')}`,
        trigger: 'axis',
        // Two helping series bound the band, the third is the line.
        tell: (series, index) => {
          const band = bands[Math.floor(series / 3)];
          if (series % 3 !== 2 || !band || !(index in band.steps)) return undefined;
          return {
            place: `steps ${number(band.steps[index])}`,
            label: band.label,
            value: `${number(band.middle[index])} (${number(band.low[index])} to ${number(band.high[index])})`,
            colour: legend[Math.floor(series / 3)].colour,
          };
        },
      },
    ],
    csv: () =>
      linesCsv(
        'steps',
        'return',
        bands.flatMap(({ label, steps, middle, low, high }) => [
          { name: label, x: steps, y: middle },
          { name: `${label}, lower end`, x: steps, y: low },
          { name: `${label}, upper end`, x: steps, y: high },
        ]),
      ),
  };
}

function boxesFigure(chart: Extract<StageChart, { kind: 'boxes' }>): FigureData {
  const groups = chart.groups.map(({ label, boxes }) => ({
    label,
    boxes: boxes.map((box) => ({ label: box.label, values: known(box.values).filter(Number.isFinite) })),
  }));
  const entries = groups.flatMap(({ label, boxes }) => boxes.map((box) => ({ ...box, group: label })));
  const points = entries.flatMap((entry) => entry.values.map((value) => ({ entry, value })));
  const name = (entry: (typeof entries)[number]) => [entry.group, entry.label].filter(Boolean).join(', ');
  const order = groups.length > 1 ? say('symmetry.order', { all: groups.map(({ label }) => label).join(', ') }) : '';
  return {
    title: chart.title,
    caption: chart.note + order,
    legend: [],
    parts: [
      {
        chart: boxChart(groups, chart.unit),
        label: '',
        note: '',
        heard: `${chart.title}: ${entries.map((entry) => `${name(entry)}, ${entry.values.length} points`).join('; ')}`,
        trigger: 'item',
        tell: (series, index) => {
          if (series === 0) {
            const entry = entries[index];
            if (!entry || entry.values.length === 0) return undefined;
            const sorted = [...entry.values].sort((a, b) => a - b);
            const middle = (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
            return {
              place: name(entry),
              label: `median of ${sorted.length}`,
              value: `${number(middle)} (${number(sorted[0])} to ${number(sorted[sorted.length - 1])})`,
            };
          }
          const point = points[index];
          return point && { place: name(point.entry), label: chart.unit, value: number(point.value) };
        },
      },
    ],
    csv: () =>
      [
        csvRow(['group', 'box', chart.unit]),
        ...points.map(({ entry, value }) => csvRow([entry.group, entry.label, value])),
        '',
      ].join('\n'),
  };
}

function effectsFigure(chart: Extract<StageChart, { kind: 'effects' }>): FigureData {
  const effects = chart.effects.map(({ label, mean, low, high }) => {
    const [m, l, h] = known([mean, low, high]);
    return { label, mean: m, low: l, high: h };
  });
  const span = ({ low, high }: { low: number; high: number }) => `${number(low)} to ${number(high)}`;
  return {
    title: chart.title,
    caption: chart.note,
    legend: [],
    parts: [
      {
        chart: effectChart(effects, chart.unit),
        label: '',
        note: '',
        heard: `${chart.title}: ${effects.map((effect) => `${effect.label} ${number(effect.mean)} (${span(effect)})`).join(', ')}`,
        trigger: 'item',
        // First the line of no effect, then an interval for each, then all means.
        tell: (series, index) => {
          if (series !== effects.length + 1) return undefined;
          const effect = effects[index];
          return (
            effect && { place: effect.label, label: chart.unit, value: `${number(effect.mean)} (${span(effect)})` }
          );
        },
      },
    ],
    csv: () =>
      [
        csvRow(['effect', 'mean', 'low', 'high']),
        ...effects.map(({ label, mean, low, high }) => csvRow([label, mean, low, high])),
        '',
      ].join('\n'),
  };
}
