/** What runs there are below a folder, and their files. Names come from disk and are data: whoever shows them must never take them for markup. */
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { type Manifest, manifestSchema } from '../../recording/manifest.ts';
import { folderStore } from '../../recording/node.ts';

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

const deepest = 5;
const mostRuns = 2000;

/** The runs below a folder in order of their paths; a folder without a manifest that can be read is none. */
export async function listRuns(folder: string): Promise<RunEntry[]> {
  const found: RunEntry[] = [];
  const visit = async (below: string, depth: number): Promise<void> => {
    if (found.length >= mostRuns) return;
    const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => []);
    if (entries.some((entry) => entry.isFile() && entry.name === 'manifest.json')) {
      const run = await readRun(folder, below);
      if (run) found.push(run);
      return;
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

async function readRun(folder: string, below: string): Promise<RunEntry | null> {
  const files = await runFiles(join(folder, below));
  try {
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
