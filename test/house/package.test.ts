/** The package as a user gets it: packed, installed into an empty folder without the optional packages, and used. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { version } from '../../src/recording/version.ts';
import { type Result, root, run, temporaryFolder } from '../support/run.ts';

const folder = temporaryFolder();
const app = join(folder, 'app');
const at = (...parts: string[]) => join(app, 'node_modules', ...parts);
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, { optional: boolean }>;
};
const node = (source: string): Result => {
  writeFileSync(join(app, 'use.mjs'), source);
  return run(process.execPath, ['use.mjs'], { cwd: app });
};
/** Bytes of the files below a folder. */
const size = (path: string): number =>
  statSync(path).isFile()
    ? statSync(path).size
    : readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
const { findNode, nodes } = (await import(join(root, 'scripts/nodes.mjs'))) as {
  findNode(major: string): string | undefined;
  nodes: Record<string, string>;
};
const trueline = (...args: string[]): Result => run(at('.bin', 'trueline'), args, { cwd: app });

describe('the package', () => {
  beforeAll(() => {
    // What is packed is the build that every other test of the program uses.
    const packed = run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder, '--loglevel=error']);
    expect(packed.status, packed.stderr).toBe(0);
    const [tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    mkdirSync(app);
    writeFileSync(join(app, 'package.json'), '{"name":"app","private":true,"type":"module"}');
    const flags = ['--omit=dev', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
    const installed = run('npm', ['install', join(folder, tarball), ...flags], { cwd: app });
    expect(installed.status, installed.stderr).toBe(0);
  });

  it('installs neither a queue nor a web server nor a chart library', () => {
    const optional = Object.keys(manifest.peerDependencies);
    expect(optional).toEqual(
      expect.arrayContaining(['@hono/node-server', 'bullmq', 'echarts', 'hono', 'ioredis', 'onnxruntime-web']),
    );
    for (const name of optional) {
      expect(manifest.peerDependenciesMeta[name], name).toEqual({ optional: true });
      expect(existsSync(at(...name.split('/'))), name).toBe(false);
    }
  });

  it('takes less than 5 MB, apart from what is optional: the page of the studio, the native engine, the recorder in Python', () => {
    const all = size(at());
    const optional = ['dist/studio', 'dist/native', 'src/net/native', 'python', 'dist/trueline_recorder.py'].map(
      (path) => size(at('trueline', path)),
    );
    expect(optional[0]).toBeGreaterThan(1e6);
    expect(all - optional.reduce((a, b) => a + b)).toBeLessThan(5e6);
  });

  it('trains, records and diagnoses from code', () => {
    const used = node(`import { train } from 'trueline';
import { diagnose } from 'trueline/doctor';
import { memoryStore, Recording, RecordingWriter } from 'trueline/recording';
const store = memoryStore('run');
const settings = { game: 'echo', gameSettings: { seats: 2 }, seed: 1, steps: 20000, worlds: 16, rollout: 32, kernel: 'simd', network: { hidden: [16] } };
const result = await train(settings, { recording: (manifest) => RecordingWriter.create(store, manifest) });
result.dispose();
const { verdict, causes } = await diagnose(await Recording.open(store));
console.log(verdict, causes.length);`);
    expect(used, used.stderr).toMatchObject({ status: 0, stdout: 'healthy 0\n' });
  });

  it('reads and writes recordings, from code and with its command', () => {
    const used = node(`import { createRecording, openRecording } from 'trueline/recording/node';
const writer = await createRecording('run', { format: 'trueline/1' });
await writer.append('scalars', { name: ['loss'], value: Float64Array.of(0.5) });
await writer.close();
console.log((await (await openRecording('run')).read('scalars')).rows);`);
    expect(used, used.stderr).toMatchObject({ status: 0, stdout: '1\n' });
    expect(trueline('inspect', 'run').stdout).toMatch(/scalars {2}1 rows/);
    expect(trueline('--help').stdout).toMatch(/^ {2}diagnose [\s\S]*^ {2}explain /m);
    expect(trueline('--version').stdout).toBe(`${manifest.version}\n`);
  });

  it.for(Object.keys(nodes))('trains, diagnoses, checks and sweeps on Node %s', (major, { skip }) => {
    const program = findNode(major);
    if (!program) return skip(`Node ${major} is not installed`);
    const other = (...args: string[]) => run(program, [at('trueline', 'bin', 'trueline'), ...args], { cwd: app });
    const settings = ['--steps', '512', '--seed', '1', '--evaluate', '0', '--set', 'worlds=8', '--set', 'rollout=32'];
    const made = other('train', 'echo', '--out', `on-${major}`, ...settings);
    expect(made, made.stderr).toMatchObject({ status: 0 });
    const zstd = other('convert', `on-${major}`, `zstd-${major}`, '--to', 'parquet', '--compress');
    expect(zstd, zstd.stderr).toMatchObject({ status: 0 });
    const checked = other('check', `zstd-${major}`, '--json');
    expect(JSON.parse(checked.stdout).runs[0].verdict).toMatch(/^(healthy|not-enough-evidence)$/);
    expect(other('explain', 'advantage-shuffled').stdout).toMatch(/advantage/);
    writeFileSync(
      join(app, 'list.yaml'),
      'base: { game: echo, steps: 256, worlds: 8, rollout: 32 }\nvary: { ppo.gamma: [0.9] }\nseeds: 2\n',
    );
    const swept = other('sweep', 'list.yaml', '--out', `sweep-${major}`);
    expect(swept, swept.stderr).toMatchObject({ status: 0 });
  });

  it.each([
    { args: ['inspect', at('trueline', 'examples', 'echo'), '--svg', 'x.svg'], names: 'echarts' },
    { args: ['studio', '.', '--port', '0'], names: 'hono @hono/node-server' },
    { args: ['mcp', '.'], names: '@modelcontextprotocol/sdk' },
    { args: ['worker', '--redis', 'redis://127.0.0.1:1'], names: 'bullmq ioredis' },
    {
      args: ['sweep', at('trueline', 'examples', 'sweep.yaml'), '--status', '--redis', 'redis://127.0.0.1:1'],
      names: 'bullmq ioredis',
    },
  ])('says in a sentence that trueline $args.0 needs $names', ({ args, names }) => {
    const { status, stderr } = trueline(...args);
    const and = names.replace(' ', ' and ');
    expect(stderr).toMatch(
      new RegExp(`^trueline: .* needs ${and}, not installed yet; install with: npm install ${names}\n$`),
    );
    expect(status).toBe(2);
  });

  it('has an entry for tests', () => {
    const used = node("import * as testing from 'trueline/testing'; console.log(Object.keys(testing).join());");
    expect(used, used.stderr).toMatchObject({ status: 0 });
    expect(used.stdout).toMatch(/^\w+/);
  });

  it('has its types', () => {
    writeFileSync(
      join(app, 'use.ts'),
      `import { type Chunk, type Manifest, Recording } from 'trueline/recording';\nconst wrong: number = Recording;\nconst seed: Manifest['seed'] = 'a word';\nexport type { Chunk };\nexport { seed, wrong };\n`,
    );
    const options = ['--noEmit', '--module', 'nodenext', '--target', 'es2023', '--skipLibCheck'];
    const types = run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, 'use.ts'], {
      cwd: app,
    });
    // The types are found, and they are ours: only the deliberate mistakes are told, the one about a schema's type too.
    expect(types.stdout).toMatch(
      /^use\.ts\(2,7\): error TS2322: Type 'typeof Recording' .*\nuse\.ts\(3,7\): error TS2322: Type 'string' .*\n$/,
    );
  });

  it('brings the pages that reports point to', () => {
    expect(existsSync(at('trueline', 'docs', 'causes', 'advantage-time-shifted.md'))).toBe(true);
    expect(existsSync(at('trueline', 'docs', 'diagnosis.md'))).toBe(true);
  });

  it('states its version in package.json, and everything else follows', () => {
    expect(version).toBe(manifest.version);
    const recorder = readFileSync(join(root, 'python/trueline_recorder/core.py'), 'utf8');
    expect(/^__version__ = "(.*)"$/m.exec(recorder)?.[1]).toBe(manifest.version);
    expect(readFileSync(join(root, 'python/pyproject.toml'), 'utf8')).not.toMatch(/^version = "/m);
    expect(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')).toMatch(`## ${manifest.version}\n`);
  });
});
