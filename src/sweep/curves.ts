/** Returns over training, from a recording's episodes: one point per iteration, and the last fifth of the steps apart. Works on anybody's recording that has episodes. */
import type { Recording } from '../recording/recording.ts';

export interface RunCurve {
  agents: string[];
  /** Steps at the end of each iteration; the iteration's number where steps were not recorded. */
  steps: Float64Array;
  /** By iteration and agent: mean return of the episodes that ended in it; NaN where none did. */
  means: Float64Array;
  counts: Int32Array;
  /** Mean return of each agent over the last fifth of the steps, or NaN. */
  last: number[];
  /** Episodes of each agent behind `last`. */
  lastCount: number[];
}

/** The share of steps, counted from the end, that a run is judged by. */
export const lastShare = 0.2;

export async function readCurve(recording: Recording): Promise<RunCurve> {
  const names = (recording.manifest.agents ?? []).map(({ name }) => name);
  const table = await recording.read('episodes', ['iteration', 'agent', 'return', 'episode']);
  const column = (name: string) => table.columns.get(name)?.values as ArrayLike<number> | undefined;
  const agent = column('agent');
  const returns = column('return');
  const count = table.rows;
  // Without iterations, the order of the episodes is the only clock there is.
  const clock = column('iteration') ?? column('episode') ?? Float64Array.from({ length: count }, (_, row) => row);
  let iterations = 0;
  let agents = names.length;
  for (let row = 0; row < count; row++) {
    iterations = Math.max(iterations, clock[row] + 1);
    agents = Math.max(agents, (agent?.[row] ?? 0) + 1);
  }
  while (names.length < agents) names.push(`agent ${names.length}`);
  const means = new Float64Array(iterations * agents);
  const counts = new Int32Array(iterations * agents);
  const steps = await readSteps(recording, iterations);
  const from = steps[iterations - 1] * (1 - lastShare);
  const sums = new Float64Array(agents);
  const ended = new Array<number>(agents).fill(0);
  for (let row = 0; row < count; row++) {
    const at = clock[row] * agents + (agent?.[row] ?? 0);
    const value = returns?.[row] ?? Number.NaN;
    counts[at]++;
    means[at] += (value - means[at]) / counts[at];
    if (steps[clock[row]] <= from) continue;
    sums[agent?.[row] ?? 0] += value;
    ended[agent?.[row] ?? 0]++;
  }
  for (let i = 0; i < means.length; i++) if (counts[i] === 0) means[i] = Number.NaN;
  return {
    agents: names,
    steps,
    means,
    counts,
    last: Array.from(sums, (sum, i) => (ended[i] > 0 ? sum / ended[i] : Number.NaN)),
    lastCount: ended,
  };
}

async function readSteps(recording: Recording, iterations: number): Promise<Float64Array> {
  const steps = Float64Array.from({ length: iterations }, (_, iteration) => iteration + 1);
  if (!recording.tables.includes('scalars')) return steps;
  const table = await recording.read('scalars', ['iteration', 'step']);
  const iteration = table.columns.get('iteration')?.values as ArrayLike<number> | undefined;
  const step = table.columns.get('step')?.values as ArrayLike<number> | undefined;
  if (!iteration || !step) return steps;
  const known = new Float64Array(iterations).fill(Number.NaN);
  for (let row = 0; row < table.rows; row++) if (iteration[row] < iterations) known[iteration[row]] = step[row];
  return known.some(Number.isNaN) ? steps : known;
}

/** The mean over agents of `last`: what a run as a whole came to. */
export function score(curve: RunCurve): number {
  return curve.last.reduce((sum, value) => sum + value, 0) / curve.last.length;
}

/** A value for each of `bins` equal parts of the steps up to `end`: the mean of the iterations that end in it, weighted by episodes. NaN for an empty bin. */
export function binned(curve: RunCurve, end: number, bins: number, agent?: number): Float64Array {
  const agents = curve.agents.length;
  const sum = new Float64Array(bins);
  const weight = new Float64Array(bins);
  for (let iteration = 0; iteration < curve.steps.length; iteration++) {
    const bin = Math.min(bins - 1, Math.floor(((curve.steps[iteration] - 1e-9) / end) * bins));
    for (let a = agent ?? 0; a < (agent === undefined ? agents : agent + 1); a++) {
      const at = iteration * agents + a;
      if (curve.counts[at] === 0) continue;
      sum[bin] += curve.means[at] * curve.counts[at];
      weight[bin] += curve.counts[at];
    }
  }
  return sum.map((value, bin) => (weight[bin] > 0 ? value / weight[bin] : Number.NaN));
}
