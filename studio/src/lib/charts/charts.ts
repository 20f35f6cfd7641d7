/** Which pictures runs give: one for each named number, a line for each run and agent, or a band for each setting where seeds are put together. */
import { moduleReadings } from '../../../../src/algorithms/hop/readings.ts';
import type { Manifest } from '../../../../src/recording/manifest.ts';
import type { Curve } from '../../../../src/report/studio/curves.ts';
import type { Axis } from '../../../../src/report/studio/summary.ts';
import { readings } from '../../../../src/training/record/readings.ts';
import { words } from '../../texts/index.svelte.ts';
import { describeReading } from '../../texts/readings.ts';
import type { Drawn } from '../export.ts';
import { flat, plain } from '../runs/settings.ts';
import { colour, dash } from '../theme.svelte.ts';
import { bandOf } from './bands.ts';
import { smooth } from './smooth.ts';

export interface ChartRun {
  label: string;
  manifest: Manifest | undefined;
  curves: readonly Curve[];
}

export const sections = ['learning', 'readings', 'gradients', 'counters'] as const;
export type Section = (typeof sections)[number];

export interface Chart {
  key: string;
  section: Section;
  title: string;
  unit: string;
  /** What the figure tells, in a sentence; empty where it is not one of ours. */
  sentence: string;
  band?: readonly [number | null, number | null];
  lines: Drawn[];
}

export interface ChartOptions {
  axis: Axis;
  smoothing: number;
  /** `none`, `settings` for everything but the seed, or the path of one setting. */
  group: string;
  /** Only pictures whose name holds this text. */
  filter: string;
}

/** What comes first; the rest follows by name. */
const first = [
  'return',
  'k3',
  'k1',
  'k2',
  'approx_kl',
  'clip_fraction',
  'entropy_ratio',
  'entropy',
  'explained_variance',
  'value_loss',
  'grad_norm',
];

/** `layer 2` before `layer 10`. */
const inOrder = new Intl.Collator('en', { numeric: true });

export function charts(runs: readonly ChartRun[], options: ChartOptions): Chart[] {
  const names = new Map<string, { kind: Curve['kind']; name: string }>();
  for (const run of runs) for (const { kind, name } of run.curves) names.set(`${kind} ${name}`, { kind, name });
  const read = new Set([...names.values()].filter(({ kind }) => kind === 'reading').map(({ name }) => name));
  const wanted = options.filter.toLowerCase();
  return (
    [...names.entries()]
      // A step's own figure is of use where no reading of that name is recorded.
      .filter(([, { kind, name }]) => kind !== 'step' || !read.has(name))
      .filter(([, { name }]) => name.toLowerCase().includes(wanted))
      .sort(([, a], [, b]) => rank(a.name) - rank(b.name) || inOrder.compare(a.name, b.name))
      .map(([key, { kind, name }]) => {
        const known = readings.find((entry) => entry.name === name);
        const told = describeReading(name, words.language) ?? known ?? moduleReading(name);
        const lines = options.group === 'none' ? apart(runs, kind, name, options) : grouped(runs, kind, name, options);
        return {
          key,
          section: sectionOf(kind, name),
          title: told?.label ?? name,
          unit: told?.unit ?? '',
          sentence: told?.explanation ?? '',
          ...(known?.band ? { band: known.band } : {}),
          lines,
        };
      })
      .filter(({ lines }) => lines.length > 0)
  );
}

/** What a module of HOP+ says of itself. */
function moduleReading(name: string): { label: string; unit: string; explanation: string } | undefined {
  const found = moduleReadings.find((entry) => entry.name === name);
  if (!found) return undefined;
  const whole = `${found.meaning[0].toUpperCase()}${found.meaning.slice(1)}.`;
  return { label: `${name.split('.')[0].replaceAll('_', ' ')}: ${found.label}`, unit: '', explanation: whole };
}

/** Where a figure is looked for. */
function sectionOf(kind: Curve['kind'], name: string): Section {
  if (kind === 'counter') return 'counters';
  if (kind === 'return' || /return|reward|loss|explained|^learning_rate$|episode/i.test(name)) return 'learning';
  return /grad|change\.|delta|norm|spread/i.test(name) ? 'gradients' : 'readings';
}

function rank(name: string): number {
  const at = first.indexOf(name);
  return at < 0 ? first.length : at;
}

interface Placed {
  x: Float64Array;
  y: Float64Array;
}

/** Of curves that are drawn again with others: where their points lie does not change. */
const found = new WeakMap<Curve, Partial<Record<Axis, Placed>>>();

/** Places of a curve on an axis; rows whose place is not known are left out. */
export function placed(curve: Curve, axis: Axis): Placed {
  const known = found.get(curve) ?? {};
  found.set(curve, known);
  known[axis] ??= place(curve, axis);
  return known[axis];
}

function place(curve: Curve, axis: Axis): Placed {
  const source = axis === 'iteration' ? curve.iteration : axis === 'step' ? curve.step : curve.time;
  const known = source.some(Number.isFinite) ? source : Float64Array.from(curve.value.keys());
  if (axis !== 'elapsed' && rising(known)) return { x: known, y: curve.value };
  const keep = [...known.keys()].filter((i) => Number.isFinite(known[i])).sort((a, b) => known[a] - known[b]);
  const start = axis === 'elapsed' && keep.length > 0 ? known[keep[0]] : 0;
  return { x: Float64Array.from(keep, (i) => known[i] - start), y: Float64Array.from(keep, (i) => curve.value[i]) };
}

/** Whether every place is known and none lies before the one that precedes it. */
function rising(places: Float64Array): boolean {
  return places.every((place, i) => Number.isFinite(place) && (i === 0 || place >= places[i - 1]));
}

function apart(runs: readonly ChartRun[], kind: string, name: string, options: ChartOptions): Drawn[] {
  const lines: Drawn[] = [];
  const several = runs.length > 1;
  runs.forEach((run, r) => {
    const own = run.curves.filter((curve) => curve.kind === kind && curve.name === name);
    own.forEach((curve, c) => {
      const { x, y } = placed(curve, options.axis);
      const label = [several ? run.label : '', curve.owner].filter(Boolean).join(' · ') || name;
      // A run has one colour; its agents are told apart by strokes, and where it is alone by colours too.
      const line = { label, colour: colour(several ? r : c), dash: dash(c), x };
      if (options.smoothing > 0) lines.push({ ...line, y, faint: true });
      lines.push({ ...line, y: smooth(y, options.smoothing) });
    });
  });
  return lines;
}

/** Runs that differ in nothing but their seed are one setting; what differs is its name. */
export function settingsLabel(run: ChartRun, runs: readonly ChartRun[]): string {
  const mine = flat(run.manifest);
  const all = runs.map((other) => flat(other.manifest));
  const differing = Object.keys(mine).filter((key) => all.some((other) => other[key] !== mine[key]));
  return differing.map((key) => `${key}=${plain(mine[key])}`).join(', ') || 'all';
}

/** Settings in which the runs differ: what they can be grouped by. */
export function differingSettings(runs: readonly ChartRun[]): string[] {
  const all = runs.map((run) => flat(run.manifest));
  const keys = [...new Set(all.flatMap((one) => Object.keys(one)))];
  return keys.filter((key) => all.some((one) => one[key] !== all[0][key]));
}

/** What a run's group is called. */
export function groupLabel(run: ChartRun, runs: readonly ChartRun[], group: string): string {
  return group === 'settings' ? settingsLabel(run, runs) : `${group}=${plain(flat(run.manifest)[group])}`;
}

function grouped(runs: readonly ChartRun[], kind: string, name: string, options: ChartOptions): Drawn[] {
  const groups = new Map<string, { x: Float64Array; y: Float64Array }[]>();
  for (const run of runs) {
    for (const curve of run.curves) {
      if (curve.kind !== kind || curve.name !== name) continue;
      const label =
        [groupLabel(run, runs, options.group), curve.owner].filter((part) => part && part !== 'all').join(' · ') ||
        name;
      const { x, y } = placed(curve, options.axis);
      groups.set(label, [...(groups.get(label) ?? []), { x, y: smooth(y, options.smoothing) }]);
    }
  }
  const lines: Drawn[] = [];
  [...groups.entries()].forEach(([label, members], g) => {
    const band = bandOf(members);
    const named = { label: `${label} (n = ${members.length})`, colour: colour(g), dash: [], x: band.x };
    const at = lines.length;
    lines.push(
      { ...named, y: band.greatest, hidden: true },
      { ...named, y: band.least, hidden: true, upper: at },
      { ...named, y: band.mean },
    );
  });
  return lines;
}
