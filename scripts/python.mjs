/** Virtual environments of the project's own, one folder of build/venv each: what tests need from PyPI, pinned. Debian's packages (numpy, torch) show through. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './setup.mjs';

/** Debian's Python comes first, because only it sees Debian's numpy and torch. */
const interpreters = ['/usr/bin/python3', 'python3'];

const folderOf = (name) => join(root, 'build', 'venv', name);
const quiet = (command, args) => spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] }).status === 0;

/** What has to be there before an environment counts as made: this very list, for this very Python. */
function stampOf(text, python) {
  const { stdout } = spawnSync(python, ['-VV'], { encoding: 'utf8' });
  return createHash('sha256').update(`${text}\n${python} ${stdout}`).digest('hex');
}

/**
 * The Python of the environment `name`, made first where it is missing or its requirements have changed. The file of requirements lists everything
 * with its version, dependencies too, because they are not followed: pip would replace Debian's torch. Where the environment cannot be made it says
 * what is left out and returns undefined; in CI it ends the program.
 */
export function ensureVenv(name, requirements) {
  const text = readFileSync(join(root, requirements), 'utf8');
  const folder = folderOf(name);
  const python = join(folder, 'bin', 'python');
  const stamp = join(folder, 'ready');
  const base = interpreters.find((path) => spawnSync(path, ['-c', 'import venv, ensurepip']).status === 0);
  if (base) {
    const wanted = stampOf(text, base);
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return python;
    console.error(`Installing ${requirements} from PyPI ...`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(dirname(folder), { recursive: true });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries', '2', '--no-deps'];
    if (quiet(base, ['-m', 'venv', '--system-site-packages', folder]) && quiet(python, [...pip, '-r', requirements])) {
      writeFileSync(stamp, wanted);
      return python;
    }
    rmSync(folder, { recursive: true, force: true });
  }
  const why = base ? 'pip could not install them' : 'no Python with venv was found (Debian: python3-venv)';
  if (process.env.CI) {
    console.error(`CI needs the packages of ${requirements}: ${why}.`);
    process.exit(1);
  }
  console.error(`Tests that need the packages of ${requirements} are skipped: ${why}.`);
  return undefined;
}
