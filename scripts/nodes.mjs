/** Other versions of Node than the one that runs, from the npm registry into build/nodes: what tests run the package on. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

/** Pinned: a new version is tried on purpose. */
export const nodes = { 22: '22.23.3', 24: '24.21.0' };

const programOf = (major) => join(root, 'build', 'nodes', major, 'node_modules', 'node', 'bin', 'node');

/** Installs those that are missing. Where the registry cannot be reached it says what is left out; in CI it ends the program. */
export function ensureNodes() {
  for (const [major, version] of Object.entries(nodes)) {
    if (versionOf(major) === `v${version}`) continue;
    console.error(`Installing Node ${version} ...`);
    const folder = join(root, 'build', 'nodes', major);
    mkdirSync(folder, { recursive: true });
    const flags = ['--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
    spawnSync('npm', ['install', `node@${version}`, ...flags], { cwd: folder, stdio: ['ignore', 2, 2] });
    if (versionOf(major) === `v${version}`) continue;
    if (process.env.CI) {
      console.error(`CI needs Node ${version}, and npm could not install it.`);
      process.exit(1);
    }
    console.error(`Tests on Node ${major} are skipped: npm could not install it.`);
  }
}

const versionOf = (major) =>
  existsSync(programOf(major)) ? spawnSync(programOf(major), ['--version'], { encoding: 'utf8' }).stdout.trim() : null;

/** The program of a version, where it is installed. */
export const findNode = (major) => (versionOf(major) ? programOf(major) : undefined);
