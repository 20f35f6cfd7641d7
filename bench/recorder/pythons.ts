/** The recorder's wheel on every Python that it is said to run on: installed from the package index into an empty environment, with the numpy that belongs there, and what it records compared array by array. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Figure, figure, output, python } from '../support.ts';

const versions = ['3.9', '3.10', '3.11', '3.12', '3.13'];

const program = `import hashlib, os, sys
import numpy as np
from trueline_recorder import Recorder
import trueline_recorder.pytest
with Recorder(sys.argv[1], gamma=0.9, lam=0.9) as recorder:
    recorder.samples(old_logp=np.log(np.full((8, 2), 0.5)), terminated=np.zeros((8, 2), bool), reward=np.ones((8, 2)))
    recorder.replays(new_logp=np.log(np.full(16, 0.5)), again=lambda: np.log(np.full(16, 0.5)))
    recorder.step(loss=1.0, entropy=0.5)
    recorder.count("buffer.real", 16)
    recorder.scalar("held-out error", 0.25, step=16)
total = hashlib.sha256()
for folder, _, names in sorted(os.walk(sys.argv[1])):
    for name in sorted(name for name in names if name.endswith(".npz")):
        arrays = np.load(os.path.join(folder, name))
        for key in sorted(arrays.files):
            total.update(key.encode() + arrays[key].tobytes())
print(total.hexdigest())`;

/** On the path, or where pyenv keeps them. */
function interpreter(version: string): string | undefined {
  const kept = join(homedir(), '.pyenv', 'versions');
  const own = (existsSync(kept) ? readdirSync(kept) : []).filter((name) => name.startsWith(`${version}.`));
  const candidates = [...own.map((name) => join(kept, name, 'bin', 'python')), `python${version}`];
  return candidates.find((path) => spawnSync(path, ['-c', 'import venv, ensurepip']).status === 0);
}

export function pythons(say: (line: string) => void): Figure {
  const folder = mkdtempSync(join(tmpdir(), 'trueline-pythons-'));
  try {
    const source = join(folder, 'source');
    output('cp', ['-r', 'python', source]);
    const wheel = ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', folder, source];
    output(python('numpy'), wheel);
    const built = readdirSync(folder).find((name) => name.endsWith('.whl'))!;
    const recorded = new Map<string, string>();
    for (const version of versions) {
      const base = interpreter(version);
      if (!base) continue;
      say(`the wheel on Python ${version} ...`);
      const environment = join(folder, version);
      output(base, ['-m', 'venv', environment]);
      const own = join(environment, 'bin', 'python');
      output(own, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', join(folder, built), 'pytest']);
      recorded.set(version, output(own, ['-c', program, join(folder, `run-${version}`)]).trim());
    }
    const alike = [...recorded].filter(([, sum]) => sum === [...recorded.values()][0]);
    const note = [...recorded.keys()].join(', ');
    return figure(
      'Pythons on which the wheel installs and records the same',
      alike.length,
      `of ${versions.length}`,
      { least: versions.length },
      note,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
