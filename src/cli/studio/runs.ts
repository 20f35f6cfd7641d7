/** What runs there are below a folder, and their files. Names come from disk and are data: whoever shows them must never take them for markup. */
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { z } from 'zod';
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
  manifest: Pick<Manifest, 'name' | 'seed' | 'algorithm' | 'agents' | 'policies' | 'settings' | 'environment'>;
  files: RunFile[];
  modified: number;
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
}

const deepest = 5;
const mostRuns = 2000;
/** A diary that was not touched for so many milliseconds belongs to a program that is gone. */
const believed = 15_000;

/** The runs and investigations below a folder in order of their paths; a folder whose manifest cannot be read is no run. */
export async function listFolder(folder: string): Promise<Found> {
  const found: Found = { runs: [], investigations: [] };
  const visit = async (below: string, depth: number): Promise<void> => {
    if (found.runs.length >= mostRuns) return;
    const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => []);
    const holds = (name: string) => entries.some((entry) => entry.isFile() && entry.name === name);
    if (holds('manifest.json')) {
      const run = await readRun(folder, below);
      if (run) found.runs.push(run);
      return;
    }
    if (holds(investigationFile)) {
      const investigation = await readInvestigation(folder, below);
      if (investigation) found.investigations.push(investigation);
    }
    if (depth === deepest) return;
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
        await visit(below ? `${below}/${entry.name}` : entry.name, depth + 1);
    }
  };
  await visit('', 0);
  return found;
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

async function readRun(folder: string, below: string): Promise<RunEntry | null> {
  try {
    const files = await runFiles(join(folder, below));
    const parsed = manifestSchema.parse(JSON.parse(await readFile(join(folder, below, 'manifest.json'), 'utf8')));
    const { name, seed, algorithm, agents, policies, settings, environment } = parsed;
    return {
      id: below || '.',
      manifest: { name, seed, algorithm, agents, policies, settings, environment },
      files,
      modified: Math.max(0, ...files.map((file) => file.modified)),
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
