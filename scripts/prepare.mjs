/** What tests need from outside of npm: Debian's packages, the virtual environments, other versions of Node. `npm test` runs it beside the installation and the build, because it waits for servers most of the time. */
import { ensureDebian } from './debian.mjs';
import { ensureNodes } from './nodes.mjs';
import { ensureVenv } from './python.mjs';

ensureDebian([
  'python3-numpy',
  'python3-torch',
  'python3-pip',
  'python3-venv',
  'python3-setuptools',
  'python3-wheel',
  'chromium-headless-shell',
  'redis-server',
  'openssl',
]);
ensureVenv('lint', 'python/requirements/lint.txt');
ensureVenv('sb3', 'python/requirements/sb3.txt');
ensureNodes();
