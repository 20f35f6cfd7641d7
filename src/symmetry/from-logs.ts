/** What a log tells of each agent: its returns over training, as episodes would, and its late losses. Log lines are means already, so each counts as one episode. */

import { Run } from '../doctor/evidence/run.ts';
import { type Figures, type Owner, readOwners } from '../doctor/scalars/series.ts';
import { median } from '../math/statistics.ts';
import type { Recording } from '../recording/recording.ts';
import { lastShare, type RunCurve } from '../sweep/curves.ts';
import { rounded } from './stages/phenomenon.ts';

export interface AgentsOfLog {
  curve: RunCurve;
  /** By figure, each agent's median over the last fifth of its numbers; NaN where an agent has none. */
  late: Record<string, number[]>;
}

/** Figures that are compared between agents beside the returns. */
const compared = ['value_loss', 'policy_loss', 'entropy', 'kl', 'clip_fraction', 'grad_norm', 'explained_variance'];

/** Null where the log does not tell its agents' returns apart. */
export async function readAgents(recording: Recording): Promise<AgentsOfLog | null> {
  const names = (recording.manifest.agents ?? []).map(({ name }) => name);
  if (names.length < 2 || !recording.tables.includes('scalars')) return null;
  const { owners } = await readOwners(recording, new Run(recording.manifest));
  const byAgent = names.map((_, agent) => owners.find((owner) => owner.agent === agent));
  const returns = byAgent.map((owner) => owner?.get('return', 1) ?? owner?.get('evaluation_return', 1));
  if (returns.some((figures) => figures === undefined)) return null;
  return { curve: curveOf(names, returns as Figures[]), late: lateFigures(byAgent) };
}

function curveOf(agents: string[], returns: readonly Figures[]): RunCurve {
  const clock = (figures: Figures, i: number) => (Number.isFinite(figures.steps[i]) ? figures.steps[i] : i + 1);
  const steps = Float64Array.from(
    new Set(returns.flatMap((figures) => figures.values.map((_, i) => clock(figures, i)))),
  ).sort();
  const row = new Map([...steps].map((step, i) => [step, i]));
  const means = new Float64Array(steps.length * agents.length);
  const counts = new Int32Array(means.length);
  const from = steps[steps.length - 1] * (1 - lastShare);
  const sums = new Float64Array(agents.length);
  const lastCount = new Array<number>(agents.length).fill(0);
  returns.forEach((figures, agent) => {
    figures.values.forEach((value, i) => {
      const at = row.get(clock(figures, i))! * agents.length + agent;
      counts[at]++;
      means[at] += (value - means[at]) / counts[at];
      if (clock(figures, i) <= from) return;
      sums[agent] += value;
      lastCount[agent]++;
    });
  });
  for (let i = 0; i < means.length; i++) if (counts[i] === 0) means[i] = Number.NaN;
  const last = Array.from(sums, (sum, agent) => (lastCount[agent] > 0 ? sum / lastCount[agent] : Number.NaN));
  return { agents, steps, means, counts, last, lastCount };
}

function lateFigures(owners: readonly (Owner | undefined)[]): Record<string, number[]> {
  const out: Record<string, number[]> = {};
  for (const metric of compared) {
    const values = owners.map((owner) => {
      const figures = owner?.get(metric, 1);
      return figures && figures.series.agent >= 0 ? median(figures.late) : Number.NaN;
    });
    if (values.filter(Number.isFinite).length > 1) out[metric] = values;
  }
  return out;
}

/** Over several runs, each figure's middle by agent. */
export function lateByAgent(logs: readonly AgentsOfLog[], agents: number): Record<string, number[]> {
  const out: Record<string, number[]> = {};
  for (const metric of compared) {
    const rows = logs.flatMap(({ late }) => (late[metric] ? [late[metric]] : []));
    if (rows.length === 0) continue;
    out[`late ${metric} by agent`] = Array.from({ length: agents }, (_, agent) => {
      const known = rows.map((values) => values[agent]).filter(Number.isFinite);
      return known.length > 0 ? rounded(median(known)) : Number.NaN;
    });
  }
  return out;
}
