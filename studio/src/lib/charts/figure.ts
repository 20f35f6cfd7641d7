/** Report pictures for the page: the same charts as in the HTML report, with what a pointer on them is told and their points as CSV. */
import { type Chart, linesChart, look, readingChart, scatterCharts } from '../../../../src/report/charts/charts.ts';
import { number } from '../../../../src/report/number.ts';
import type { Lines, Picture, ReadingSeries, Scatter } from '../../../../src/report/pictures/picture.ts';
import { csvRow } from '../export.ts';

/** What is said about the point under the pointer; undefined where a series only helps to draw. */
export interface Told {
  /** Where it is; the same for all points that share it. */
  place: string;
  label: string;
  value: string;
  colour?: string;
}

export interface FigurePart {
  chart: Chart;
  label: string;
  note: string;
  /** For those who hear the picture. */
  heard: string;
  /** Whether the pointer finds single points, or everything at one place of the axis. */
  trigger: 'item' | 'axis';
  tell(series: number, index: number): Told | undefined;
}

export interface LegendEntry {
  label: string;
  colour: string;
  dashes: string;
  value?: string;
}

export interface FigureData {
  title: string;
  caption: string;
  legend: LegendEntry[];
  parts: FigurePart[];
  csv(): string;
}

export function pictureFigure(picture: Picture): FigureData {
  return picture.kind === 'scatter' ? scatterFigure(picture) : linesFigure(picture);
}

function scatterFigure(picture: Scatter): FigureData {
  const charts = scatterCharts(picture);
  const points = picture.diagonal ? 1 : 0;
  return {
    title: picture.title,
    caption: picture.caption,
    legend: [],
    parts: picture.panels.map((panel, i) => ({
      chart: charts[i],
      label: picture.panels.length > 1 ? panel.label : '',
      note:
        panel.note +
        (panel.x.length < panel.total ? `, ${number(panel.x.length)} of ${number(panel.total)} drawn` : ''),
      heard: `${picture.title}. ${panel.label}: ${panel.note}`,
      trigger: 'item',
      tell: (series, index) =>
        series === points && index in panel.x
          ? {
              place: `${picture.xName} ${number(panel.x[index])}`,
              label: picture.yName,
              value: number(panel.y[index]),
            }
          : undefined,
    })),
    csv: () =>
      [
        csvRow(['panel', picture.xName, picture.yName]),
        ...picture.panels.flatMap(({ label, x, y }) => x.map((value, i) => csvRow([label, value, y[i]]))),
        '',
      ].join('\n'),
  };
}

function linesFigure(picture: Lines): FigureData {
  const looks = picture.lines.map(({ reference }, i) => look(i, reference === true));
  const last = (values: readonly number[]) => values[values.length - 1];
  return {
    title: picture.title,
    caption: picture.caption,
    legend: picture.lines.map((line, i) => ({
      label: line.name,
      colour: looks[i].colour,
      dashes: dashesOf(looks[i].dash),
      ...(picture.spread ? {} : { value: number(last(line.y)) }),
    })),
    parts: [
      {
        chart: linesChart(picture),
        label: '',
        note: '',
        heard: `${picture.title}: ${picture.lines.map(({ name, y }) => `${name} from ${number(y[0])} to ${number(last(y))}`).join(', ')}`,
        trigger: 'axis',
        // The axis may be of orders of magnitude; what is told is the number itself.
        tell: (series, index) => tellLine(picture.lines[series], picture.xName, index, looks[series]?.colour),
      },
    ],
    csv: () => linesCsv(picture.xName, picture.yName, picture.lines),
  };
}

/** A reading as a small line over its band. */
export function readingPart(reading: ReadingSeries): FigurePart {
  return {
    chart: readingChart(reading),
    label: '',
    note: '',
    heard: `${reading.label}: ${reading.lines.map(({ policy, y, latest }) => `${policy} ${number(y[0])} to ${number(latest)}`).join(', ')}`,
    trigger: 'axis',
    tell: (series, index) => {
      const line = reading.lines[series];
      return line && tellLine({ ...line, name: line.policy }, 'iteration', index, look(series, false).colour);
    },
  };
}

interface Named {
  name: string;
  x: readonly number[];
  y: readonly number[];
}

export function linesCsv(xName: string, yName: string, lines: readonly Named[]): string {
  const rows = lines.flatMap(({ name, x, y }) => x.map((value, i) => csvRow([name, value, y[i]])));
  return [csvRow(['line', xName, yName]), ...rows, ''].join('\n');
}

function tellLine(line: Named | undefined, xName: string, index: number, colour?: string): Told | undefined {
  if (!line || !(index in line.x)) return undefined;
  return {
    place: `${xName} ${number(line.x[index])}`,
    label: line.name,
    value: number(line.y[index]),
    ...(colour ? { colour } : {}),
  };
}

export function dashesOf(dash: number[] | 'solid'): string {
  return dash === 'solid' ? '' : dash.join(' ');
}
