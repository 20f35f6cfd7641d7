/** A run's settings by their paths: what tells runs apart. The bug that a run was given on purpose is one of them, the seed is not. */
import type { Manifest } from '../../../../src/recording/manifest.ts';

/** Of the trainer's own settings: what the manifest's settings say already, and what changes no number. */
const untold = new Set([
  'ppo',
  'name',
  'seed',
  'game',
  'algorithm',
  'steps',
  'engine',
  'threads',
  'kernel',
  'checkpoint',
  'recording',
  'guard',
]);

/** Every setting of a run by its path, as JSON; the seed is none of them. */
export function flat(manifest: Manifest | undefined): Record<string, string> {
  const { run, fault } = (manifest ?? {}) as { run?: Record<string, unknown>; fault?: string };
  const own = Object.fromEntries(Object.entries(run ?? {}).filter(([key]) => !untold.has(key)));
  const { algorithm, environment, settings } = manifest ?? {};
  const whole = { fault: fault ?? 'none', algorithm, game: environment?.name, ...settings, ...own };
  return Object.fromEntries(Object.entries(whole).flatMap(([key, value]) => leaves(value, key)));
}

/** A setting as people write it: a text without quotes. */
export const plain = (json = '') => (json.startsWith('"') ? json.slice(1, -1) : json);

type Leaf = [path: string, json: string];

/** Of hundreds of runs most settings are the very same objects, so each is taken apart once. */
const known = new WeakMap<object, { path: string; leaves: Leaf[] }>();

function leaves(value: unknown, path: string): Leaf[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[path, JSON.stringify(value)]];
  const before = known.get(value);
  if (before?.path === path) return before.leaves;
  const made = Object.entries(value).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`));
  known.set(value, { path, leaves: made });
  return made;
}
