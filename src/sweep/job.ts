/** A job is one training run as plain data: settings, seed and program version. Equal data give equal ids, on every machine; who runs it and where is not part of it. */
import { createHash } from 'node:crypto';
import type { Job as BenchJob } from '../faults/bench/plan.ts';
import { version } from '../recording/version.ts';
import { readSettings, type Settings, type SettingsInput } from '../training/settings.ts';

/** Whole settings but for the seed, and for what does not touch the numbers of a run. */
export type JobSettings = Omit<Settings, 'seed' | 'name' | 'engine' | 'threads' | 'checkpoint'>;

/** Sampled play with the learnt policies when training has ended. */
export interface JobEvaluation {
  episodes: number;
  /** Deals the agents to seats anew in every episode. */
  deal: boolean;
}

export interface Job {
  format: 'trueline/job/1';
  settings: JobSettings;
  seed: number;
  /** The version of the program that made the job; another one must not run it. */
  version: string;
  /** A fault of the zoo that the run is given, with the seed that draws its strength. */
  fault?: { id: string; seed: number };
  evaluate?: JobEvaluation[];
  /** A run of the zoo's bench: its outcome is the result, and no recording is kept. */
  bench?: BenchJob;
}

export interface JobExtras {
  bench?: BenchJob;
  fault?: Job['fault'];
  evaluate?: readonly JobEvaluation[];
}

export function makeJob(
  input: SettingsInput | Record<string, unknown>,
  seed: number,
  { fault, evaluate, bench }: JobExtras = {},
): Job {
  const {
    seed: _seed,
    name: _name,
    engine: _engine,
    threads: _threads,
    checkpoint: _checkpoint,
    ...settings
  } = readSettings(input);
  return {
    format: 'trueline/job/1',
    settings,
    seed,
    version,
    ...(fault ? { fault } : {}),
    ...(evaluate && evaluate.length > 0 ? { evaluate: [...evaluate] } : {}),
    ...(bench ? { bench } : {}),
  };
}

/** 16 hexadecimal digits of the SHA-256 of the job, whatever the order of its fields. One in 1,850 has no letter, and a queue takes a number for an id of its own: such a one begins with j. */
export function jobId(job: Job): string {
  const id = createHash('sha256').update(canonical(job)).digest('hex').slice(0, 16);
  return /^\d+$/.test(id) ? `j${id.slice(1)}` : id;
}

/** JSON with the fields of every object in alphabetical order. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`).join(',')}}`;
}

/** Where the fields of some objects differ: dotted paths, each with its values in the order of the objects. */
export function differences(objects: readonly object[]): Map<string, unknown[]> {
  const flat = objects.map((object) => flatten(object));
  const paths = new Set(flat.flatMap((fields) => [...fields.keys()]));
  const found = new Map<string, unknown[]>();
  for (const path of paths) {
    const values = flat.map((fields) => fields.get(path));
    if (new Set(values.map(canonical)).size > 1) found.set(path, values);
  }
  return found;
}

function flatten(object: object, prefix = '', into = new Map<string, unknown>()): Map<string, unknown> {
  for (const [key, value] of Object.entries(object)) {
    const nested = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (nested) flatten(value as object, `${prefix}${key}.`, into);
    else into.set(`${prefix}${key}`, value);
  }
  return into;
}
