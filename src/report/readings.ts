/** A run's returns and readings over time as one picture, each beside its band. A band informs; a curve outside of it is not a fault. */
import { told } from '../language/language.ts';
import type { NumberColumn } from '../recording/column.ts';
import type { Recording } from '../recording/recording.ts';
import { labelOf, type Reading, readings } from '../training/record/readings.ts';
import { svgChart } from './charts/svg.ts';

/** One curve: a policy's reading, or an agent's mean return, by iteration. */
export interface Curve {
  readonly name: string;
  readonly points: [iteration: number, value: number][];
}

export interface Panel {
  readonly title: string;
  readonly band?: Reading['band'];
  readonly curves: Curve[];
}

/** What a picture shows, in this order; those that a recording does not have are left out. */
const shown = [
  'k3',
  'clip_fraction',
  'entropy_ratio',
  'explained_variance',
  'ratio_mean',
  'credit_correlation',
  'valid_ratio',
];

/** Of HOP+'s modules, on episodes that none was trained on. */
const modules = {
  'world_model.cells': "world model: share of players' next cells wrong",
  'world_model.catches': 'world model: share of catches wrong',
  'world_model.reward': 'world model: error of rewards',
  'imagination.length': 'imagined steps',
  'other_agents.right': 'other agents: share of choices foreseen',
  'other_agents.best': 'other agents: the best possible share',
  'other_agents.majority': 'other agents: share by the majority alone',
  'subgoal.error': 'subgoals: error of the guess',
  'subgoal.error_prior': 'subgoals: error of the prior alone',
};

/** Mean return per agent, then the readings per policy, then those of the modules. */
export async function readingPanels(recording: Recording): Promise<Panel[]> {
  const { agents = [], policies = [] } = recording.manifest;
  const returns = new Means(agents.map((agent) => agent.name));
  for await (const chunk of recording.chunks('episodes', ['iteration', 'agent', 'return'])) {
    const [iteration, agent, value] = ['iteration', 'agent', 'return'].map((name) => numbers(chunk.columns.get(name)));
    if (!iteration || !agent || !value) continue;
    for (let row = 0; row < chunk.rows; row++)
      returns.add(Number(agent[row]), Number(iteration[row]), Number(value[row]));
  }
  const byName = new Map(
    [...shown, ...Object.keys(modules)].map((name) => [name, new Means(policies.map((policy) => policy.name))]),
  );
  for await (const chunk of recording.chunks('scalars', ['name', 'iteration', 'policy', 'value'])) {
    const name = chunk.columns.get('name');
    const [iteration, policy, value] = ['iteration', 'policy', 'value'].map((item) => numbers(chunk.columns.get(item)));
    if (name?.kind !== 'text' || !iteration || !policy || !value) continue;
    name.values.forEach((item, row) => {
      byName.get(item)?.add(Number(policy[row]), Number(iteration[row]), Number(value[row]));
    });
  }
  const panels: Panel[] = [{ title: told('mean return', '平均回报'), curves: returns.curves() }];
  for (const name of shown) {
    const reading = readings.find((item) => item.name === name)!;
    panels.push({ title: labelOf(reading), band: reading.band, curves: byName.get(name)!.curves() });
  }
  for (const [name, title] of Object.entries(modules)) panels.push({ title, curves: byName.get(name)!.curves() });
  return panels.filter((panel) => panel.curves.some((curve) => curve.points.length > 0));
}

function numbers(column: { kind: string } | undefined): NumberColumn['values'] | undefined {
  return column && column.kind !== 'text' ? (column as NumberColumn).values : undefined;
}

/** Means by curve and iteration. */
class Means {
  private readonly sums: Map<number, { count: number; total: number }>[];

  constructor(private readonly names: readonly string[]) {
    this.sums = names.map(() => new Map());
  }

  add(curve: number, iteration: number, value: number): void {
    if (!this.sums[curve] || !Number.isFinite(value)) return;
    const entry = this.sums[curve].get(iteration) ?? { count: 0, total: 0 };
    this.sums[curve].set(iteration, { count: entry.count + 1, total: entry.total + value });
  }

  curves(): Curve[] {
    return this.names.map((name, i) => ({
      name,
      points: [...this.sums[i]].sort((a, b) => a[0] - b[0]).map(([at, { count, total }]) => [at, total / count]),
    }));
  }
}

const columns = 2;
const panelWidth = 400;
const panelHeight = 190;
const margin = { left: 56, right: 16, top: 34, bottom: 24 };

/** All panels on one page, two side by side, the bands in green. */
export async function readingsPicture(title: string, panels: readonly Panel[]): Promise<string> {
  const rows = Math.ceil(panels.length / columns);
  const head = 44;
  const place = (i: number) => ({ x: (i % columns) * panelWidth, y: head + Math.floor(i / columns) * panelHeight });
  const names = [...new Set(panels.flatMap((panel) => panel.curves.map((curve) => curve.name)))];
  return svgChart(
    {
      title: [
        { text: `${title}${told(', by iteration', '，按迭代')}`, left: 12, top: 8, textStyle: { fontSize: 15 } },
        ...panels.map((panel, i) => ({
          text: panel.title + bandWords(panel.band),
          left: place(i).x + margin.left - 8,
          top: place(i).y + 6,
          textStyle: { fontSize: 12, fontWeight: 'normal' as const },
        })),
      ],
      legend: { data: names, right: 12, top: 8 },
      grid: panels.map((_, i) => ({
        left: place(i).x + margin.left,
        top: place(i).y + margin.top,
        width: panelWidth - margin.left - margin.right,
        height: panelHeight - margin.top - margin.bottom,
      })),
      xAxis: panels.map((_, i) => ({ type: 'value', gridIndex: i, splitLine: { show: false }, max: 'dataMax' })),
      yAxis: panels.map((_, i) => ({ type: 'value', gridIndex: i, scale: true, splitNumber: 3 })),
      series: panels.flatMap((panel, i) =>
        panel.curves.map((curve, c) => ({
          type: 'line' as const,
          name: curve.name,
          xAxisIndex: i,
          yAxisIndex: i,
          symbol: 'none',
          lineStyle: { width: 1.5 },
          data: curve.points,
          ...(c === 0 && panel.band ? { markArea: bandArea(panel.band) } : {}),
        })),
      ),
    },
    { width: columns * panelWidth, height: head + rows * panelHeight + 8 },
  );
}

function bandWords(band: Reading['band']): string {
  if (!band) return '';
  const [low, high] = band;
  return low === null ? `   at most ${high}` : high === null ? `   at least ${low}` : `   ${low} to ${high}`;
}

function bandArea([low, high]: NonNullable<Reading['band']>) {
  const edge = (value: number | null) => (value === null ? {} : { yAxis: value });
  return {
    silent: true,
    itemStyle: { color: '#009e73', opacity: 0.14 },
    data: [[edge(low), edge(high)]] as [{ yAxis?: number }, { yAxis?: number }][],
  };
}
