/** The numbers of a log by metric and owner, with their signs put right. An owner is an agent, a policy, or the whole run. */
import { mean, median, quantile, spread } from '../../math/statistics.ts';
import type { Chunk, NumberColumn } from '../../recording/column.ts';
import { recognise } from '../../recording/importers/recognise.ts';
import type { Recording } from '../../recording/recording.ts';
import type { Run } from '../evidence/run.ts';
import { logLimits } from '../limits.ts';

export interface Series {
  /** As the log calls it. */
  name: string;
  metric: string;
  /** Index into the manifest's agents; -1 where the log does not tell whose it is. */
  agent: number;
  step: number[];
  value: number[];
  /** What a zero of a column with a fixed number of decimals may stand for; 0 where it is one. */
  rounding: number;
}

/** Figures of one owner, by metric. */
export class Owner {
  private readonly kept = new Map<string, Figures>();

  constructor(
    readonly agent: number,
    private readonly series: ReadonlyMap<string, Series>,
  ) {}

  /** Undefined where the log has no such metric, or too few numbers of it. */
  get(metric: string, fewest: number = logLimits.some.value): Figures | undefined {
    const series = this.series.get(metric);
    if (!series) return undefined;
    const figures = this.kept.get(metric) ?? new Figures(series);
    this.kept.set(metric, figures);
    return figures.count >= fewest ? figures : undefined;
  }

  all(): Series[] {
    return [...this.series.values()];
  }
}

/** Everything a log's numbers were read as, and what was not. */
export interface ReadLog {
  owners: Owner[];
  /** Columns that nobody understood, with what they may be. */
  unknown: { name: string; guesses: string[] }[];
}

/** One series summed up; what is not finite is left out of everything but `broken`. */
export class Figures {
  readonly values: number[];
  readonly steps: number[];
  readonly count: number;
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly least: number;
  readonly greatest: number;

  constructor(readonly series: Series) {
    const known = series.value.flatMap((value, i) => (Number.isFinite(value) ? [i] : []));
    this.values = known.map((i) => series.value[i]);
    this.steps = known.map((i) => series.step[i]);
    this.count = known.length;
    this.median = this.count > 0 ? median(this.values) : Number.NaN;
    this.low = this.count > 0 ? quantile(this.values, 0.05) : Number.NaN;
    this.high = this.count > 0 ? quantile(this.values, 0.95) : Number.NaN;
    this.least = this.values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    this.greatest = this.values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  }

  /** Whether numbers as small as this can be told from 0. */
  tells(size: number): boolean {
    return this.series.rounding <= size;
  }

  share(test: (value: number) => boolean): number {
    return this.values.filter(test).length / Math.max(1, this.count);
  }

  /** The first and the last fifth, at least three numbers each. */
  get early(): number[] {
    return this.values.slice(0, Math.max(3, Math.floor(this.count / 5)));
  }

  get late(): number[] {
    return this.values.slice(-Math.max(3, Math.floor(this.count / 5)));
  }

  get half(): number[] {
    return this.values.slice(Math.floor(this.count / 2));
  }

  /** How far the last fifth lies above the first, in standard errors. Neighbours in a log are alike, so the error is taken for a quarter of the points. */
  get rise(): number {
    const [early, late] = [spread(this.early), spread(this.late)];
    const error = Math.sqrt((early.std ** 2 / this.early.length + late.std ** 2 / this.late.length) * 4);
    const gap = mean(this.late) - mean(this.early);
    return error > 0 ? gap / error : gap === 0 ? 0 : gap > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }

  /** Kendall's z: how surely the numbers rise (or, negative, fall), whatever their size. */
  get trend(): number {
    const most = 200;
    const every = Math.max(1, Math.ceil(this.count / most));
    const values = this.values.filter((_, i) => i % every === 0);
    const n = values.length;
    if (n < 3) return 0;
    let score = 0;
    for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) score += Math.sign(values[j] - values[i]);
    const deviation = Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
    return (score - Math.sign(score)) / deviation;
  }

  /** Means of ten parts of the log, or of as many as have three numbers. */
  get smooth(): number[] {
    const parts = Math.max(1, Math.min(10, Math.floor(this.count / 3)));
    return Array.from({ length: parts }, (_, i) =>
      mean(this.values.slice(Math.floor((i * this.count) / parts), Math.floor(((i + 1) * this.count) / parts))),
    );
  }

  /** At most so many points, for drawing: the first number of each part, and the last of all. */
  thinned(most: number): { step: number[]; value: number[] } {
    const every = Math.max(1, Math.ceil(this.count / most));
    const kept = this.values.flatMap((_, i) => (i % every === 0 || i === this.count - 1 ? [i] : []));
    return { step: kept.map((i) => this.steps[i]), value: kept.map((i) => this.values[i]) };
  }

  /** The step at which `test` first holds. */
  onset(test: (value: number) => boolean): number {
    const at = this.values.findIndex(test);
    const step = at < 0 ? 0 : this.steps[at];
    return Number.isFinite(step) ? step : Math.max(0, at);
  }
}

export async function readOwners(recording: Recording, run: Run): Promise<ReadLog> {
  const raw = new Map<string, { name: string; agent: number; step: number[]; value: number[] }>();
  for await (const chunk of recording.chunks('scalars', ['name', 'value', 'step', 'iteration', 'agent', 'policy'])) {
    const names = chunk.columns.get('name');
    if (names?.kind !== 'text') continue;
    const [value, step, iteration, agent, policy] = ['value', 'step', 'iteration', 'agent', 'policy'].map((column) =>
      numbers(chunk, column),
    );
    names.values.forEach((name, i) => {
      const who = ownerOf(run, at(agent, i), at(policy, i));
      const key = `${who} ${name}`;
      const series = raw.get(key) ?? { name, agent: who, step: [], value: [] };
      raw.set(key, series);
      series.value.push(Number(value![i]));
      const known = at(step, i);
      series.step.push(Number.isNaN(known) ? at(iteration, i) : known);
    });
  }
  const declared = (run.manifest as { metrics?: Record<string, string> }).metrics ?? {};
  const rounding = new Map(
    Object.entries((run.manifest.log as { rounding?: Record<string, number> } | undefined)?.rounding ?? {}),
  );
  const mapped = new Map(Object.entries(declared).filter(([, metric]) => typeof metric === 'string'));
  const byAgent = new Map<number, Map<string, Series>>();
  // All names together: some are understood only beside those of the other agents.
  const all = [...raw.values()];
  const valuesOf = (wanted: string) => all.filter(({ name }) => name === wanted).flatMap(({ value }) => value);
  const rows = recognise([...new Set(all.map(({ name }) => name))], valuesOf, mapped);
  const known = new Map(rows.map((row) => [row.name, row]));
  const used = all.sort((a, b) => Number(known.get(b.name)!.used) - Number(known.get(a.name)!.used));
  for (const own of used) {
    const { metric, sign } = known.get(own.name)!;
    const series = byAgent.get(own.agent) ?? new Map<string, Series>();
    byAgent.set(own.agent, series);
    // Of two names for one figure of one agent the better is read.
    if (metric !== null && !series.has(metric))
      series.set(metric, {
        ...own,
        metric,
        value: own.value.map((value) => sign * value),
        rounding: rounding.get(own.name) ?? 0,
      });
  }
  const unknown = rows.filter(({ metric, note }) => metric === null && note === '');
  return { owners: owners(byAgent), unknown: unknown.map(({ name, guesses }) => ({ name, guesses })) };
}

/** Where some numbers are an agent's and others the run's, each agent is seen beside the run's. */
function owners(byAgent: ReadonlyMap<number, Map<string, Series>>): Owner[] {
  const whole = byAgent.get(-1) ?? new Map<string, Series>();
  const agents = [...byAgent.keys()].filter((agent) => agent >= 0).sort((a, b) => a - b);
  if (agents.length === 0) return [new Owner(-1, whole)];
  return agents.map((agent) => new Owner(agent, new Map([...whole, ...byAgent.get(agent)!])));
}

function numbers(chunk: Chunk, name: string): NumberColumn['values'] | undefined {
  const column = chunk.columns.get(name);
  return column && column.kind !== 'text' ? column.values : undefined;
}

const at = (values: NumberColumn['values'] | undefined, i: number) => (values ? Number(values[i]) : Number.NaN);

function ownerOf(run: Run, agent: number, policy: number): number {
  if (agent >= 0) return agent;
  if (!(policy >= 0)) return -1;
  const owner = run.agents.findIndex((_, i) => run.policyOf(i) === policy);
  return owner >= 0 ? owner : policy;
}
