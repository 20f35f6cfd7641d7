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
  const out: Record<string, string> = {};
  const visit = (value: unknown, path: string) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      for (const [key, inner] of Object.entries(value)) visit(inner, path ? `${path}.${key}` : key);
    else out[path] = JSON.stringify(value);
  };
  const { run, fault } = (manifest ?? {}) as { run?: Record<string, unknown>; fault?: string };
  const own = Object.fromEntries(Object.entries(run ?? {}).filter(([key]) => !untold.has(key)));
  const { algorithm, environment, settings } = manifest ?? {};
  visit({ fault: fault ?? 'none', algorithm, game: environment?.name, ...settings, ...own }, '');
  return out;
}
