/** What runs there are below a folder, and their files. Names come from disk and are data: whoever shows them must never take them for markup. */
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { z } from 'zod';
import { isBeingWritten } from '../../recording/claim/node.ts';
import { type Manifest, manifestSchema } from '../../recording/manifest.ts';
import { folderStore } from '../../recording/node.ts';
import { type InvestigationState, investigationFile } from '../investigation.ts';

export interface RunFile {
  /** Below the run's folder, with forward slashes. */
  path: string;
  size: number;
  /** When it was last written, in milliseconds. */
  modified: number;
}

export interface RunEntry {
  /** Path below the studio's folder, with forward slashes; '.' where the folder itself is a run. */
  id: string;
  manifest: Pick<Manifest, 'name' | 'seed' | 'algorithm' | 'agents' | 'policies' | 'settings' | 'environment'> & {
    run?: unknown;
    /** The bug that it was given on purpose. */
    fault?: string;
  };
  /** How it ended; absent while it is being written. */
  ended?: string;
  /** The folder of the sweep or the investigation that it belongs to. */
  within?: string;
  modified: number;
  /** Whether somebody is writing it. */
  live: boolean;
}

/** An investigation of symmetry, as far as a list shows it. */
export interface InvestigationEntry extends Pick<InvestigationState, 'title' | 'state' | 'now'> {
  /** Path below the studio's folder; '.' where the folder itself holds it. */
  id: string;
  modified: number;
  /** Whether a program is at work on it. */
  live: boolean;
}

export interface Found {
  runs: RunEntry[];
  investigations: InvestigationEntry[];
  /** Folders that hold a matrix of `trueline crossplay`. */
  crossplays: string[];
}

const crossplayFile = 'crossplay.json';
/** Where chunks lie; checkpoints and snapshots are no news to a reader. */
const tableFolder = /^(?!checkpoints$|policies$)[^.]/;
/** A run without an end that was written to within so many milliseconds is under way, whoever writes it; our own trainer's lock says so for longer. */
const lively = 5000;
const deepest = 5;
const mostRuns = 2000;
/** A diary that was not touched for so many milliseconds belongs to a program that is gone. */
const believed = 15_000;

/** The runs and investigations below a folder in order of their paths; a folder whose manifest cannot be read is no run. */
export async function listFolder(folder: string): Promise<Found> {
  const found: Found = { runs: [], investigations: [], crossplays: [] };
  const visit = async (below: string, depth: number, within?: string): Promise<void> => {
    if (found.runs.length >= mostRuns) return;
    const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => []);
    const holds = (name: string) => entries.some((entry) => entry.isFile() && entry.name === name);
    if (holds('manifest.json')) {
      const folders = entries.filter((entry) => entry.isDirectory() && tableFolder.test(entry.name));
      const names = folders.map(({ name }) => name);
      const run = await readRun(folder, below, names);
      if (run) found.runs.push(within === undefined ? run : { ...run, within });
      return;
    }
    const whole = within ?? (holds(investigationFile) || holds('sweep.json') ? below || '.' : undefined);
    if (holds(investigationFile)) {
      const investigation = await readInvestigation(folder, below);
      if (investigation) found.investigations.push(investigation);
    }
    if (holds(crossplayFile)) found.crossplays.push(below || '.');
    if (depth === deepest) return;
    const inner = entries.filter(
      (entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules',
    );
    await Promise.all(inner.map(({ name }) => visit(below ? `${below}/${name}` : name, depth + 1, whole)));
  };
  await visit('', 0);
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
  return {
    runs: found.runs.sort(byId),
    investigations: found.investigations.sort(byId),
    crossplays: found.crossplays.sort(),
  };
}

const told = z.object({
  format: z.literal('trueline/investigation/1'),
  title: z.string(),
  state: z.enum(['running', 'done', 'stopped']),
  now: z.string(),
});

async function readInvestigation(folder: string, below: string): Promise<InvestigationEntry | null> {
  const file = join(folder, below, investigationFile);
  try {
    const { title, state, now } = told.parse(JSON.parse(await readFile(file, 'utf8')));
    const modified = Math.round((await stat(file)).mtimeMs);
    return {
      id: below || '.',
      title,
      state,
      now,
      modified,
      live: state === 'running' && Date.now() - modified < believed,
    };
  } catch {
    return null;
  }
}

/** Manifests as they were read last: a folder of hundreds of runs is looked at every second. */
const manifests = new Map<string, { of: string; entry: ReadManifest | null }>();

type ReadManifest = Omit<RunEntry, 'modified' | 'live'>;

async function readRun(folder: string, below: string, folders: readonly string[]): Promise<RunEntry | null> {
  const place = join(folder, below);
  const file = join(place, 'manifest.json');
  const found = await stat(file).catch(() => undefined);
  if (!found) return null;
  const of = `${found.mtimeMs} ${found.size} ${found.ino}`;
  let known = manifests.get(file);
  if (known?.of !== of) {
    known = { of, entry: await readManifest(below, file) };
    manifests.set(file, known);
  }
  if (!known.entry) return null;
  // A chunk appears by being renamed into its table's folder, which changes the folder's own time: no need to look at every file.
  const times = await Promise.all(
    folders.map(async (name) => (await stat(join(place, name)).catch(() => undefined))?.mtimeMs ?? 0),
  );
  const modified = Math.round(Math.max(found.mtimeMs, ...times));
  const { ended } = known.entry;
  const live = ended === undefined && (Date.now() - modified < lively || (await isBeingWritten(place)));
  return { ...known.entry, modified, live };
}

async function readManifest(below: string, file: string): Promise<ReadManifest | null> {
  try {
    const parsed = manifestSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    const { name, seed, algorithm, agents, policies, settings, environment, run, fault, ended } = parsed;
    return {
      id: below || '.',
      manifest: { name, seed, algorithm, agents, policies, settings, environment, run, fault },
      ...(ended === undefined ? {} : { ended }),
    };
  } catch {
    // Half written, or somebody else's manifest.json: not a run.
    return null;
  }
}

/** Every file of a run that a reader may ask for, with its size and age. */
export async function runFiles(folder: string): Promise<RunFile[]> {
  const files: RunFile[] = [];
  for (const path of await folderStore(folder).list()) {
    const found = await stat(join(folder, path)).catch(() => undefined);
    if (found) files.push({ path, size: found.size, modified: Math.round(found.mtimeMs) });
  }
  return files;
}

/** The real path of a name below a folder, or undefined where it leads out of it, through a link or by dots, or is hidden. */
export async function confine(folder: string, name: string): Promise<string | undefined> {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.some((part) => part.startsWith('.') || part.includes('\\') || part.includes('\0'))) return undefined;
  const root = await realpath(folder);
  const path = await realpath(join(root, ...parts)).catch(() => undefined);
  return path === root || path?.startsWith(root + sep) ? path : undefined;
}
