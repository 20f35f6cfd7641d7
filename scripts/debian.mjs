/** Debian packages that some tests use: installed when root, named and skipped where not, required in CI. */
import { spawnSync } from 'node:child_process';

const quiet = (command, args, env = {}) =>
  spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, ...env } }).status === 0;
const installed = (name) => {
  const query = spawnSync('dpkg-query', ['-W', '--showformat', `\${Status}`, name], { encoding: 'utf8' });
  return query.status === 0 && query.stdout.includes('ok installed');
};

export function ensureDebian(packages) {
  const missing = packages.filter((name) => !installed(name));
  if (missing.length === 0) return;
  if (process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0) {
    console.error(`Installing Debian packages: ${missing.join(' ')} ...`);
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    quiet('apt-get', ['update', '-qq'], env);
    if (quiet('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], env)) return;
    console.error('apt-get could not install them.');
  }
  if (process.env.CI) {
    console.error(`CI needs the Debian packages ${missing.join(' ')}.`);
    process.exit(1);
  }
  console.error(
    `Tests that need ${missing.join(', ')} are skipped: apt-get install ${missing.join(' ')} as root runs them.`,
  );
}
