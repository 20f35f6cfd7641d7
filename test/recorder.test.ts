import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tables } from '../src/recording/columns.ts';
import { version } from '../src/recording/version.ts';
import { findPython, findVenv, type Result, root, run, temporaryFolder, trueline } from './support/run.ts';

const python = findPython('numpy', 'torch');
const folder = temporaryFolder();

/** Tests of a pattern, then trainings, in one process, because torch takes seconds to import. */
function testAndRecord(
  python: string,
  pattern: string,
  prepare: string,
  runs: readonly (readonly [path: string, call: string])[],
): Result {
  const calls = runs.map(([path, call]) => call.replaceAll('OUT', JSON.stringify(path)));
  const script = `import sys, unittest; sys.path[:0] = ['python', 'python/tests']
${prepare}
tested = unittest.TextTestRunner().run(unittest.defaultTestLoader.discover('python/tests', '${pattern}'))
${calls.join('\n')}
sys.exit(not tested.wasSuccessful())`;
  return run(python, ['-c', script]);
}

/** Whoever asks first waits for it. */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function passed({ status, stderr }: Result): void {
  expect(status, stderr).toBe(0);
  expect(stderr).toMatch(/Ran \d{2,} tests/);
  expect(stderr).not.toMatch(/skipped/);
}

describe.skipIf(!python)('the recorder for PyTorch', () => {
  const loops = [
    [join(folder, 'cleanrl'), 'cleanrl.train(OUT, iterations=12)'],
    [join(folder, 'shared'), 'onpolicy.record(False, OUT, 12)'],
    [join(folder, 'separated'), 'onpolicy.record(True, OUT, 12)'],
  ] as const;
  const own = once(() =>
    testAndRecord(
      python as string,
      'test_recorder*.py',
      'import test_recorder_cleanrl as cleanrl, test_recorder_onpolicy as onpolicy',
      loops,
    ),
  );
  it('passes its own tests', () => passed(own()));

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

  it.skipIf(!findPython('setuptools', 'wheel', 'venv', 'ensurepip'))(
    'is a typed wheel of pure Python, which pip installs into an empty environment',
    () => {
      const source = join(folder, 'source');
      run('cp', ['-r', join(root, 'python'), source]);
      const alone = ['--quiet', '--no-index', '--disable-pip-version-check'];
      const build = ['-m', 'pip', 'wheel', ...alone, '--no-deps', '--no-build-isolation', '--wheel-dir', folder];
      const made = run(python as string, [...build, source]);
      expect(made.status, made.stderr).toBe(0);
      const wheel = `trueline_recorder-${version}-py3-none-any.whl`;
      expect(readdirSync(folder)).toContain(wheel);
      // Debian's numpy shows through; nothing else is there, and the pip that installs is the one outside.
      const environment = join(folder, 'environment');
      run(python as string, ['-m', 'venv', '--system-site-packages', '--without-pip', environment]);
      const own = join(environment, 'bin', 'python');
      const installed = run(python as string, ['-m', 'pip', '--python', own, 'install', ...alone, join(folder, wheel)]);
      expect(installed.status, installed.stderr).toBe(0);
      const script = `import os, sys, trueline_recorder as t
from trueline_recorder.adapters import sb3
home = os.path.dirname(t.__file__)
assert home.startswith(${JSON.stringify(environment)}) and os.path.exists(os.path.join(home, "py.typed"))
with t.Recorder(sys.argv[1], gamma=0.9, lam=0.9) as recorder:
    recorder.scalar("loss", 0.5)
print(t.__version__)`;
      const used = run(own, ['-c', script, join(folder, 'by-wheel')], { cwd: folder });
      expect(used, used.stderr).toMatchObject({ status: 0, stdout: `${version}\n` });
      expect(trueline('validate', join(folder, 'by-wheel')).stdout).toMatch(/scalars 1 rows/);
    },
  );

  it('is built into one file to copy, which records the same', () => {
    const built = run(process.execPath, ['scripts/recorder.mjs']);
    expect(built.status, built.stderr).toBe(0);
    // One after the other in one process, because torch takes seconds to import; nothing of the first is left for the second.
    const script = `import hashlib, pathlib, sys
for place, out in zip(['python', 'dist'], sys.argv[1:]):
    sys.path[:0] = [place, 'examples/pytorch']
    import trueline_recorder  # before the example, which would find the package first
    import ppo
    ppo.train(ppo.parser().parse_args(['--out', out, '--iterations', '2', '--steps', '8']), trueline_recorder.Recorder)
    sums = [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(pathlib.Path(out).glob('*/*.npz'))]
    print(trueline_recorder.__file__.endswith('__init__.py'), *sums)
    sys.path = [path for path in sys.path if path not in (place, 'examples/pytorch') and not path.endswith('/python')]
    for name in list(sys.modules):
        if name.split('.')[0] in ('trueline_recorder', 'ppo'):
            del sys.modules[name]`;
    const made = run(python as string, ['-c', script, join(folder, 'one-python'), join(folder, 'one-dist')]);
    expect(made.status, made.stderr).toBe(0);
    const recorded = made.stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' '));
    expect(recorded.map(([isPackage]) => isPackage)).toEqual(['True', 'False']);
    expect(recorded[0].length).toBeGreaterThan(4);
    expect(recorded[1].slice(1)).toEqual(recorded[0].slice(1));
  });

  function diagnosed(path: string) {
    expect(trueline('validate', path).status).toBe(0);
    return JSON.parse(trueline('diagnose', path, '--json').stdout);
  }

  it('records loops of CleanRL’s and on-policy’s kind so that the doctor finds them healthy', () => {
    own();
    for (const [path] of loops) {
      const { verdict, causes, unexplained } = diagnosed(path);
      expect([verdict, causes, unexplained], path).toEqual(['healthy', [], []]);
    }
  });

  const lint = findVenv('lint');
  it.skipIf(!lint).each([
    [
      'formatted',
      [
        'ruff',
        'format',
        '--check',
        'python',
        'examples/pytorch',
        'bench/recorder',
        'bench/tokens',
        'bench/continuous',
        'bench/logs',
      ],
    ],
    [
      'linted',
      [
        'ruff',
        'check',
        'python',
        'examples/pytorch',
        'bench/recorder',
        'bench/tokens',
        'bench/continuous',
        'bench/logs',
      ],
    ],
    ['type-checked', ['mypy', '--config-file', 'python/pyproject.toml', 'python/trueline_recorder']],
  ])('is %s', (_, [tool, ...args]) => {
    const config = tool === 'ruff' ? [args[0], '--config', 'python/pyproject.toml', ...args.slice(1)] : args;
    const { status, stdout, stderr } = run(lint as string, ['-m', tool, ...config]);
    expect(status, stdout + stderr).toBe(0);
  });

  const baselines = findVenv('sb3');
  const kinds = [
    ['PPO', '', undefined],
    ['MaskablePPO', '', undefined],
    ['PPO', 'target_kl=1e-6', 'kl-guard-too-tight'],
  ] as const;
  const at = (kind: string, options: string) => join(folder, `sb3-${kind}-${options}`);
  const real = once(() =>
    testAndRecord(
      baselines as string,
      'test_sb3.py',
      'import test_sb3, trueline_recorder',
      kinds.map(([kind, options]) => {
        const call = `test_sb3.make('${kind}', ${options}).learn(256 * 12, trueline_recorder.sb3_callback(OUT, strict=True))`;
        return [at(kind, options), call] as const;
      }),
    ),
  );
  it.skipIf(!baselines)('passes its tests with the real Stable-Baselines3', () => passed(real()));

  it.skipIf(!baselines)(
    'as a callback of Stable-Baselines3 lets the doctor tell healthy runs from a stopped one',
    () => {
      real();
      for (const [kind, options, cause] of kinds) {
        const { verdict, causes } = diagnosed(at(kind, options));
        expect([verdict, causes[0]?.id], kind).toEqual([cause ? 'faulty' : 'healthy', cause]);
      }
    },
  );
});
