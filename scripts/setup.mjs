/** What every script does first: install what package-lock.json names and build what has changed. Uses Node alone. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const installStamp = join(root, 'node_modules', '.trueline-install');
const buildStamp = join(root, 'build', 'stamp');
const studioStamp = join(root, 'build', 'studio-stamp');
/** Set by `npm test`, which has installed and built everything: the programs that tests start need not look again. */
const ready = Boolean(process.env.TRUELINE_BUILT);

/** Runs a command in the project's folder and ends the program with its status if it fails. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (result.error) throw result.error;
  if (result.status !== 0) process.exit(result.status ?? 1);
}

/** Runs a program of node_modules with this very Node. */
export function runTool(path, args) {
  run(process.execPath, [join(root, 'node_modules', path), ...args]);
}

/** Runs commands of this Node side by side and prints what each says when it ends. Gives the first status that is not 0. */
export async function runTogether(...commands) {
  const statuses = commands.map(async (args) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => said.push(data));
    const [status] = await once(child, 'close');
    process.stderr.write(Buffer.concat(said));
    return status ?? 1;
  });
  return (await Promise.all(statuses)).find((status) => status !== 0) ?? 0;
}

/** A program of node_modules with its arguments, for `runTogether`. */
export const tool = (path, ...args) => [join(root, 'node_modules', path), ...args];

function stampIs(file, text) {
  return existsSync(file) && readFileSync(file, 'utf8') === text;
}

export function ensureInstalled() {
  if (ready) return;
  const lock = readFileSync(join(root, 'package-lock.json'));
  const wanted = `${createHash('sha256').update(lock).digest('hex')} node ${process.versions.modules} ${process.platform} ${process.arch}`;
  if (stampIs(installStamp, wanted)) return;
  console.error('Installing dependencies ...');
  const npm = process.env.npm_execpath;
  // The output goes to standard error, so that a command's --json stays alone on standard output.
  const stdio = ['ignore', 2, 2];
  // Not `npm ci`: it refuses a lock file that lacks the optional packages of other platforms, which not every registry mirror has.
  const args = ['install', '--no-save', '--no-fund', '--no-audit', '--loglevel=error'];
  if (npm?.endsWith('.js')) run(process.execPath, [npm, ...args], { stdio });
  else run('npm', args, { stdio, shell: process.platform === 'win32' });
  writeFileSync(installStamp, wanted);
}

/** Names, sizes and times of all files below the given folders: cheap, and changed by any edit. */
function fingerprint(paths) {
  const hash = createHash('sha256');
  const visit = (path) => {
    const stat = statSync(path);
    if (stat.isDirectory()) {
      for (const name of readdirSync(path).sort())
        if (!name.endsWith('.generated.ts') && name !== '__pycache__') visit(join(path, name));
    } else if (!path.endsWith('.test.ts')) hash.update(`${path} ${stat.size} ${stat.mtimeMs}\n`);
  };
  for (const path of paths) visit(join(root, path));
  return hash.digest('hex');
}

const sources = [
  'src',
  'scripts/build.mjs',
  'scripts/kernels.mjs',
  'scripts/native.mjs',
  'scripts/program.mjs',
  'scripts/recorder.mjs',
  'python/trueline_recorder',
  'tsconfig.json',
  'tsconfig.build.json',
  'package-lock.json',
];

/** Builds what has changed: the program alone (`core`), or with the studio's page. */
export function ensureBuilt(what = 'core') {
  if (ready) return;
  const wanted = fingerprint(what === 'core' ? sources : [...sources, 'studio']);
  const stamp = what === 'core' ? buildStamp : studioStamp;
  const made = join(root, 'dist', ...(what === 'core' ? ['program', 'main.js'] : ['studio', 'index.html']));
  const isBuilt = () => stampIs(stamp, wanted) && existsSync(made);
  if (isBuilt()) return;
  const release = lockBuild();
  // Another program may have built it while this one waited.
  if (!isBuilt()) {
    rmSync(stamp, { force: true });
    console.error(what === 'core' ? 'Building ...' : 'Building the studio ...');
    run(process.execPath, [join(root, 'scripts', 'build.mjs'), what], { stdio: ['ignore', 2, 2] });
    writeFileSync(stamp, wanted);
  }
  release();
}

/** One program builds at a time: two would write dist/ over each other. Waits for the other to end; gives back how to let the next one in. */
function lockBuild() {
  const lock = join(root, 'build', 'building');
  const own = `${lock}.${process.pid}`;
  const release = () => {
    process.off('exit', release);
    rmSync(lock, { force: true });
  };
  mkdirSync(dirname(lock), { recursive: true });
  // Written first and linked then: a lock always tells whose it is, also where its holder was killed at once.
  writeFileSync(own, String(process.pid));
  try {
    for (;;) {
      try {
        linkSync(own, lock);
        process.once('exit', release);
        return release;
      } catch (error) {
        if (error.code !== 'EEXIST') throw error;
        if (isLeft(lock)) rmSync(lock, { force: true });
        else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      }
    }
  } finally {
    rmSync(own, { force: true });
  }
}

/** Whether whoever took the lock is gone. */
function isLeft(lock) {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}
