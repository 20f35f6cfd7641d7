/** The logs of `accept -- logs` as they are stored in one archive, so that tests read what those programs wrote without having them. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { unzipSync, zipSync } from 'fflate';

const archive = (root: string) => join(root, 'bench', 'logs', 'logs.zip');

export function unpackStored(root: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  for (const [path, bytes] of Object.entries(unzipSync(readFileSync(archive(root))))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
}

/** Databases and notes that lie beside the logs, which nobody reads. */
const beside =
  /(^|\/)(figures|\.aim|_sources|artifacts|tags|latest-run)(\/|$)|\/(requirements\.txt|debug(-internal|-core)?\.log|meta\.yaml|run\.json|config\.json|cout\.txt)$/;

export function store(root: string, folder: string): void {
  const files: Record<string, [Uint8Array, { mtime: Date }]> = {};
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(folder, file);
    if (statSync(path).isFile() && !beside.test(`/${relative(folder, path)}`))
      files[file] = [readFileSync(path), { mtime: new Date('2026-01-01') }];
  }
  writeFileSync(archive(root), zipSync(files, { level: 9 }));
}
