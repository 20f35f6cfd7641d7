import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findVenv, root, run, temporaryFolder } from './support/run.ts';

const folder = temporaryFolder();
const python = findVenv('sb3');

/** Two tests of a training program, one of which has a bug in its batch; pytest is started as a project would start it. */
const program = `import sys
sys.path.insert(0, ${JSON.stringify(join(root, 'examples/pytorch'))})
import ppo


def train(trueline, *more):
    options = ppo.parser().parse_args(["--iterations", "4", "--seed", "3", *more])
    ppo.train(options, lambda path, **declared: trueline.recorder(**declared))


def test_as_it_is(trueline):
    train(trueline)


def test_with_a_bug(trueline):
    train(trueline, "--fault", "shuffled")


def test_that_looks_itself(trueline):
    train(trueline)
    (run,) = trueline.check()
    assert run["verdict"] == "healthy"
`;

function pytest(env: NodeJS.ProcessEnv) {
  writeFileSync(join(folder, 'test_training.py'), program);
  return run(python as string, ['-m', 'pytest', '-q', '-p', 'trueline_recorder.pytest', '-p', 'no:cacheprovider'], {
    cwd: folder,
    env: { PYTHONPATH: join(root, 'python'), ...env },
  });
}

describe.skipIf(!python)('the fixture for pytest', () => {
  it('fails a test whose training has a bug, with the diagnosis, and where the program records', () => {
    const { status, stdout } = pytest({ TRUELINE: join(root, 'bin/trueline') });
    expect([status, stdout]).toEqual([1, expect.stringContaining('1 failed, 2 passed')]);
    expect(stdout).toContain('Faulty: advantage-shuffled  ');
    expect(stdout).toMatch(/proof {5}residual [\d.e-]+ before, [\d.e-]+ once it is undone/);
    expect(stdout).toMatch(/near {6}\S*ppo\.py:\d+ \(replays\)/);
  });

  it('says how to install the command where there is none', () => {
    const { status, stdout } = pytest({ PATH: '/nowhere' });
    expect(status).toBe(1);
    expect(stdout).toContain('the command trueline was not found; install it with `npm install -g trueline`');
  });
});
