import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tables } from '../src/recording/columns.ts';
import { findPython, root, run, temporaryFolder, trueline } from './support/run.ts';

const python = findPython('numpy', 'torch');
const folder = temporaryFolder();

describe.skipIf(!python)('the recorder for PyTorch', () => {
  it('passes its own tests', () => {
    const { status, stderr } = run(python as string, ['-m', 'unittest', 'discover', '-s', 'python/tests']);
    expect(status, stderr).toBe(0);
    expect(stderr).toMatch(/Ran \d{2,} tests/);
    expect(stderr).not.toMatch(/skipped/);
  });

  it('knows the same tables and columns as the reader', () => {
    const script = `import json, sys; sys.path.insert(0, 'python')
from trueline_recorder import TABLES
print(json.dumps({table: {name: list(column) for name, column in columns.items()} for table, columns in TABLES.items()}))`;
    const { stdout } = run(python as string, ['-c', script]);
    const wanted = Object.fromEntries(
      tables.map((table) => [
        table.name,
        Object.fromEntries(table.columns.map((column) => [column.name, [column.kind, column.ragged, column.required]])),
      ]),
    );
    expect(JSON.parse(stdout)).toEqual(wanted);
  });

  it('needs nothing but numpy as long as the caller does not use torch', () => {
    const script = `import sys; sys.path.insert(0, 'python'); sys.modules['torch'] = None
import numpy as np
from trueline_recorder import Recorder
with Recorder(sys.argv[1], gamma=0.9, lam=0.9) as recorder:
    recorder.samples(old_logp=np.log(np.full((8, 2), 0.5)), terminated=np.zeros((8, 2), bool), reward=np.ones((8, 2)))
    recorder.replays(new_logp=np.log(np.full(16, 0.5)), again=lambda: np.log(np.full(16, 0.5)))
    recorder.step(loss=1.0, entropy=0.5)
    recorder.count('buffer.real', 16)
    recorder.scalar('held-out error', 0.25, step=16)`;
    const path = join(folder, 'plain');
    const { status, stderr } = run(python as string, ['-c', script, path]);
    expect(status, stderr).toBe(0);
    expect(trueline('validate', path).stdout).toMatch(/samples 16, replays 16, steps 1, counters 1, scalars 1 rows/);
  });

  it.skipIf(!findPython('setuptools', 'wheel', 'pip'))('is installed by pip from its folder, without a network', () => {
    const target = join(folder, 'site');
    const source = join(folder, 'source');
    run('cp', ['-r', join(root, 'python'), source]);
    const { status, stderr } = run(python as string, [
      ...['-m', 'pip', 'install', '--quiet', '--no-index', '--no-deps', '--no-build-isolation'],
      ...['--target', target, source],
    ]);
    expect(status, stderr).toBe(0);
    expect(readdirSync(target)).toContain('trueline_recorder.py');
    expect(readFileSync(join(target, 'trueline_recorder.py'), 'utf8')).toBe(
      readFileSync(join(root, 'python', 'trueline_recorder.py'), 'utf8'),
    );
  });

  it.each([
    ['PPO', [], undefined],
    ['MaskablePPO', [], undefined],
    ['PPO', ['late=True'], 'truncation-treated-as-termination'],
    ['PPO', ['dropout=0.2'], 'stochastic-forward'],
    ['PPO', ['target_kl=1e-6'], 'kl-guard-too-tight'],
  ])('as a callback of Stable-Baselines3 (%s %j) lets the doctor say %s', (kind, options, cause) => {
    const path = join(folder, `sb3-${kind}-${options}`);
    const script = `import sys; sys.path[:0] = ['python', 'python/tests', 'examples/pytorch']
import test_sb3, sb3_double, trueline_recorder
kind = sb3_double.${kind}
model = kind(test_sb3.Poles(masked=kind.masked), 4, sb3_double.Discrete(3), ${options})
model.learn(256 * 12, trueline_recorder.sb3_callback(sys.argv[1], strict=True))`;
    const { status, stderr } = run(python as string, ['-c', script, path]);
    expect(status, stderr).toBe(0);
    expect(trueline('validate', path).status).toBe(0);
    const diagnosis = JSON.parse(trueline('diagnose', path, '--json').stdout);
    expect([diagnosis.verdict, diagnosis.causes[0]?.id]).toEqual([cause ? 'faulty' : 'healthy', cause]);
  });
});
