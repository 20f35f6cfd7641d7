/** Differences between settings, seed against the same seed, so that what the seed brings is the same on both sides. */

import type { Axis } from '../../../src/report/studio/summary.ts';
import { bandOf, difference, type Line } from './charts/bands.ts';
import { type ChartRun, differingSettings, groupLabel, placed } from './charts/charts.ts';
import type { Drawn } from './export.ts';
import { flat } from './runs/settings.ts';
import { colour } from './theme.svelte.ts';

/** The mean of all agents' returns in a run. */
function meanReturn(run: ChartRun, axis: Axis): Line | undefined {
  const own = run.curves.filter(({ kind }) => kind === 'return').map((curve) => placed(curve, axis));
  if (own.length === 0) return undefined;
  const { x, mean } = bandOf(own);
  return { x, y: mean };
}

/** Settings that differ within a group, and so must agree between partners; what goes along with the chosen setting need not. */
function free(groups: readonly (readonly ChartRun[])[]): string[] {
  return [...new Set(groups.flatMap(differingSettings))];
}

/** The first run's group against each other one: the mean over the seeds that both have, with its band where there are several. */
export function pairedDifference(runs: readonly ChartRun[], axis: Axis, group = 'settings'): Drawn[] {
  const groups = new Map<string, ChartRun[]>();
  for (const run of runs) {
    const label = groupLabel(run, runs, group);
    groups.set(label, [...(groups.get(label) ?? []), run]);
  }
  const named = [...groups.entries()];
  if (named.length < 2) return [];
  const keys = free([...groups.values()]);
  const paired = (a: ChartRun, b: ChartRun) => {
    const [mine, theirs] = [flat(a.manifest), flat(b.manifest)];
    return a.manifest?.seed === b.manifest?.seed && keys.every((key) => mine[key] === theirs[key]);
  };
  const [[baseName, base], ...others] = named;
  const lines: Drawn[] = [];
  others.forEach(([name, members], g) => {
    const pairs: Line[] = [];
    for (const run of members) {
      const partner = base.find((other) => paired(run, other));
      const mine = meanReturn(run, axis);
      const theirs = partner && meanReturn(partner, axis);
      if (mine && theirs) pairs.push(difference(mine, theirs));
    }
    if (pairs.length === 0) return;
    const band = bandOf(pairs);
    const label = `${name} - ${baseName} (n = ${pairs.length})`;
    const at = lines.length;
    const look = { label, colour: colour(g), x: band.x };
    lines.push(
      { ...look, y: band.greatest, hidden: true },
      { ...look, y: band.least, hidden: true, upper: at },
      { ...look, y: band.mean },
    );
  });
  return lines;
}
