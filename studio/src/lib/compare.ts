/** Differences between settings, seed against the same seed, so that what the seed brings is the same on both sides. */
import { bandOf, difference, type Line } from './bands.ts';
import { type Axis, type ChartRun, placed, settingsLabel } from './charts.ts';
import type { Drawn } from './export.ts';
import { colour } from './theme.svelte.ts';

/** The mean of all agents' returns in a run. */
function meanReturn(run: ChartRun, axis: Axis): Line | undefined {
  const own = run.curves.filter(({ kind }) => kind === 'return').map((curve) => placed(curve, axis));
  if (own.length === 0) return undefined;
  const { x, mean } = bandOf(own);
  return { x, y: mean };
}

/**
 * The first run's setting against each other one: a line for each seed that both have, and their mean with its band where there are several.
 * Two runs with one setting are compared as they are.
 */
export function pairedDifference(runs: readonly ChartRun[], axis: Axis): Drawn[] {
  const groups = new Map<string, ChartRun[]>();
  for (const run of runs) {
    const label = settingsLabel(run, runs);
    groups.set(label, [...(groups.get(label) ?? []), run]);
  }
  const named = [...groups.entries()];
  if (named.length < 2) return [];
  const [[baseName, base], ...others] = named;
  const lines: Drawn[] = [];
  others.forEach(([name, members], g) => {
    const pairs: Line[] = [];
    for (const run of members) {
      const partner = base.find(({ manifest }) => manifest?.seed === run.manifest?.seed);
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
