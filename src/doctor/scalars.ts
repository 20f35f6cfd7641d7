/** What a log alone suggests. Names of metrics differ between programs, so they are recognised loosely, and nothing here is sure. */

import { mean } from '../math/statistics.ts';
import type { NumberColumn } from '../recording/column.ts';
import type { Recording } from '../recording/recording.ts';
import type { Finding } from './diagnosis.ts';
import { figure } from './diagnosis.ts';
import type { Run } from './run.ts';

const sure = 0.3;

export async function fromScalars(recording: Recording, run: Run): Promise<Finding[]> {
  const series = new Map<string, number[]>();
  for await (const chunk of recording.chunks('scalars', ['name', 'value'])) {
    const names = chunk.columns.get('name');
    const values = (chunk.columns.get('value') as NumberColumn | undefined)?.values;
    if (names?.kind !== 'text' || !values) continue;
    names.values.forEach((name, i) => {
      const list = series.get(name) ?? [];
      if (list.length < 100_000) list.push(Number(values[i]));
      series.set(name, list);
    });
  }
  const find = (pattern: RegExp) => [...series].find(([name]) => pattern.test(name.toLowerCase()))?.[1];
  const kl = find(/(^|[^a-z])(approx_?)?kl/);
  const clip = find(/clip_?frac/);
  const entropy = find(/entropy(?!.*(coef|ratio))/);
  const findings: Finding[] = [];
  const add = (cause: string, summary: string, measured: number) =>
    findings.push({
      cause,
      confidence: sure,
      agents: run.agents.map((_, i) => i),
      onset: 0,
      rows: 0,
      summary,
      evidence: [{ check: 'scalars', measured: { mean: figure(measured) }, expected: {} }],
    });
  const all = [...series.values()].flat();
  if (all.length > 0 && all.some((value) => !Number.isFinite(value)))
    add('non-finite', 'The log holds numbers that are not finite.', Number.NaN);
  if (clip && clip.length >= 3 && mean(clip) > 0.9) {
    add(
      'subset-not-replayed',
      `The clip fraction is ${figure(mean(clip))} throughout, which fits a distribution that is not replayed.`,
      mean(clip),
    );
    add(
      'old-logp-wrong',
      `The clip fraction is ${figure(mean(clip))} throughout, which fits a wrong old log-probability.`,
      mean(clip),
    );
  }
  if (kl && kl.length >= 3 && kl.every((value) => Math.abs(value) < 1e-5)) {
    const still = !entropy || Math.max(...entropy) - Math.min(...entropy) < 1e-3;
    for (const cause of still
      ? ['optimizer-unbound', 'policy-detached', 'learning-rate-too-small']
      : ['kl-estimator-cancels', 'old-logp-recomputed'])
      add(
        cause,
        `KL stays at ${figure(mean(kl))}${still ? ' and entropy does not move' : ' although entropy moves'}.`,
        mean(kl),
      );
  }
  if (kl && kl.length >= 3 && kl.filter((value) => value > 0.3).length >= 0.5 * kl.length)
    add('learning-rate-too-large', `KL exceeds 0.3 in half of the log (mean ${figure(mean(kl))}).`, mean(kl));
  return findings;
}
