/** How runs of a list are named, filtered and chosen: by the settings in which they differ, and by what is known of each. */
import type { Manifest } from '../../../../src/recording/manifest.ts';
import type { ShortVerdict } from '../../../../src/report/studio/examined-short.ts';
import type { RunRow } from '../../../../src/report/studio/row.ts';
import { flat, plain } from './settings.ts';

export interface ListedRun {
  id: string;
  /** Settings in which the runs of the list differ, seed last; empty where there is one. */
  name: string;
  settings: Record<string, string>;
  manifest: Manifest | undefined;
  row: RunRow | undefined;
  verdict: ShortVerdict | undefined;
  reading: boolean;
  live: boolean;
  error: string;
  modified: number;
  /** The sweep or investigation that it belongs to. */
  within: string;
  tags: string[];
  note: string;
  dropped: boolean;
}

const made = new WeakMap<Manifest, Record<string, string>>();

/** Settings as people write them: texts without quotes, the seed among them. */
export function plainSettings(manifest: Manifest | undefined): Record<string, string> {
  const known = manifest && made.get(manifest);
  if (known) return known;
  const own: Record<string, string> = {};
  if (manifest) made.set(manifest, own);
  for (const [key, value] of Object.entries(flat(manifest))) if (value !== undefined) own[key] = plain(value);
  if (manifest?.seed !== undefined) own.seed = String(manifest.seed);
  return own;
}

/** Settings that are not the same in all of them; what nearly every list differs in comes last. */
export function differing(all: readonly Record<string, string>[]): string[] {
  const names = new Set<string>();
  for (const one of all) for (const key in one) names.add(key);
  const keys = [...names].filter((key) => all.some((one) => one[key] !== all[0][key]));
  const rank = (key: string) =>
    key === 'fault' ? 0 : key === 'game' ? 1 : key === 'algorithm' ? 2 : key === 'seed' ? 9 : 5;
  keys.sort((a, b) => rank(a) - rank(b) || a.length - b.length || (a < b ? -1 : 1));
  // What has the values of another setting in every run tells nothing more: a rate of its own that follows the common one.
  const seen = new Set<string>();
  return keys.filter((key) => {
    const pattern = JSON.stringify(all.map((one) => one[key] ?? null));
    if (key !== 'seed' && key !== 'fault' && seen.has(pattern)) return false;
    seen.add(pattern);
    return true;
  });
}

const bare = new Set(['fault', 'game', 'algorithm']);
/** A name of more parts would be no name; the table has them all. */
const mostParts = 4;

export function nameOf(settings: Record<string, string>, keys: readonly string[]): string {
  // What is not set is no part of a name.
  const set = (key: string) => settings[key] !== undefined && settings[key] !== 'null';
  const told = keys.filter((key) => set(key) && !(key === 'fault' && settings.fault === 'none'));
  const others = told.filter(
    (key) => key !== 'seed' && !key.startsWith('gameSettings') && !key.startsWith('optimizer'),
  );
  const parts = others.slice(0, mostParts).map((key) => (bare.has(key) ? settings[key] : `${key}=${settings[key]}`));
  if (told.includes('seed')) parts.push(`seed ${settings.seed}`);
  return parts.join(' · ');
}

/** Whether a run is asked for by a filter. */
export function matches(run: ListedRun, filter: string): boolean {
  return holds(
    filter,
    () => textOf(run),
    (key) => columnOf(run, key),
  );
}

/** Words of a filter: `key=value`, `key>number`, `key<number`, or any text of the row. All must hold. */
export function holds(filter: string, text: () => string, column: (key: string) => string | undefined): boolean {
  return filter
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .every((word) => {
      const asked = /^([\w.]+)(=|>|<)(.+)$/.exec(word);
      if (!asked) return text().includes(word);
      const [, key, sign, wanted] = asked;
      const found = column(key);
      if (found === undefined) return false;
      if (sign === '=') return found.toLowerCase() === wanted || (wanted !== '' && Number(found) === Number(wanted));
      return sign === '>' ? Number(found) > Number(wanted) : Number(found) < Number(wanted);
    });
}

function textOf({ id, name, tags, note, manifest }: ListedRun): string {
  const { algorithm, environment, seed } = manifest ?? {};
  return [id, name, ...tags, note, algorithm, environment?.name, `seed ${seed}`].join(' ').toLowerCase();
}

/** A column of a run by its name; the last part of a setting's path will do. */
export function columnOf(run: ListedRun, key: string): string | undefined {
  if (key === 'verdict') return run.verdict?.verdict ?? '';
  if (key === 'cause') return run.verdict?.cause?.id ?? '';
  if (key === 'return') return run.row?.return === null ? undefined : run.row?.return.toString();
  if (key === 'iterations') return run.row?.iterations.toString();
  if (key === 'seconds') return run.row?.seconds?.toString();
  if (key === 'tag') return run.tags.join(' ');
  const lower = key.toLowerCase();
  const path = Object.keys(run.settings).find(
    (name) => name.toLowerCase() === lower || name.toLowerCase().endsWith(`.${lower}`),
  );
  return path === undefined ? undefined : run.settings[path];
}

/** What to show first: the newest run, and beside a run with a bug the same run without it. */
export function landing(runs: readonly ListedRun[]): string[] {
  const [newest] = runs;
  if (!newest) return [];
  const alike = (run: ListedRun) =>
    run.settings.fault !== newest.settings.fault &&
    [run, newest].some(({ settings }) => settings.fault === 'none') &&
    Object.keys(newest.settings).every(
      (key) => key === 'fault' || key === 'guard' || run.settings[key] === newest.settings[key],
    );
  const partner = runs.find(alike);
  if (!partner) return [newest.id];
  return newest.settings.fault === 'none' ? [partner.id, newest.id] : [newest.id, partner.id];
}
