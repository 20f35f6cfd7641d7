import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import * as ort from 'onnxruntime-web';
import { describe, expect, it } from 'vitest';
import type { NumberColumn } from '../../src/recording/column.ts';
import { openRecording } from '../../src/recording/node.ts';
import { plain } from '../support/arbitraries.ts';
import { root, temporaryFolder, trueline } from '../support/run.ts';

const folder = temporaryFolder();
/** Without the live guard, which takes longer than the training and has tests of its own. */
const quick = [
  ...['--steps', '12000', '--set', 'worlds=16', '--set', 'rollout=32', '--set', 'network.hidden=[16]'],
  ...['--evaluate', '0', '--kernel', 'simd', '--guard', 'off'],
];

/** Starts a training run and lets it be interrupted. */
function start(args: string[]) {
  const child = spawn(process.execPath, [join(root, 'bin/trueline'), 'train', ...args], {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  return { child, output: () => output };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** A sum over every number of a run's recording, column by column. */
async function contents(path: string): Promise<Record<string, string>> {
  const recording = await openRecording(path);
  const sums: Record<string, string> = {};
  for (const table of recording.tables)
    for (const [column, values] of Object.entries(plain(await recording.read(table))))
      sums[`${table}.${column}`] = createHash('sha256').update(serialize(values)).digest('hex');
  return sums;
}

function checkpoint(path: string): Buffer {
  const names = readdirSync(join(path, 'checkpoints')).sort();
  return readFileSync(join(path, 'checkpoints', names[names.length - 1]));
}

describe('trueline train', () => {
  it('trains into a folder that is a valid recording, and says what was learnt', () => {
    const out = join(folder, 'first');
    const { status, stdout } = trueline('train', 'probe-observation-action', '--seed', '2', '--out', out);
    expect(status).toBe(0);
    expect(stdout).toMatch(/policy +KL k3/);
    const fresh = Number(
      /player_1 +(\d\.\d+) +\+-/.exec(stdout)?.[1] ??
        /player_1 +(\d(?:\.\d+)?) /.exec(stdout.split('fresh episodes')[1])?.[1],
    );
    expect(fresh).toBeGreaterThan(0.95);
    expect(trueline('validate', out).status).toBe(0);
    // A run is never overwritten.
    const again = trueline('train', 'probe-action', '--out', out);
    expect(again).toMatchObject({ status: 2, stdout: '' });
    expect(again.stderr).toContain('already holds a run');
  });

  it('killed at any moment and resumed gives the same bits as a run never interrupted', async () => {
    const whole = join(folder, 'whole');
    const args = ['echo', '--seed', '5', ...quick, '--set', 'checkpoint=3', '--set', 'gameSettings.seats=2'];
    expect(trueline('train', ...args, '--out', whole).status).toBe(0);
    const wanted = await contents(whole);
    expect(Object.keys(wanted).length).toBeGreaterThan(40);
    for (const wait of [0, 1, 2]) {
      const killed = join(folder, `killed-${wait}`);
      const { child } = start([...args, '--out', killed]);
      const checkpoints = () =>
        existsSync(join(killed, 'checkpoints')) ? readdirSync(join(killed, 'checkpoints')) : [];
      await until(
        () => child.exitCode !== null || checkpoints().filter((name) => name.endsWith('.checkpoint')).length > 0,
      );
      await new Promise((resolve) => setTimeout(resolve, wait * 60));
      child.kill('SIGKILL');
      await once(child, 'close');
      expect(trueline('train', '--resume', killed, '--evaluate', '0').status).toBe(0);
      expect(checkpoint(killed).equals(checkpoint(whole))).toBe(true);
      expect(await contents(killed)).toEqual(wanted);
    }
  });

  it('goes on with the fault that it was begun with', async () => {
    const args = ['echo', '--seed', '5', ...quick, '--fault', 'advantage-late', '--guard', 'warn'];
    args.push('--set', 'gameSettings.seats=2');
    const [whole, cut] = [join(folder, 'faulty'), join(folder, 'faulty-cut')];
    expect(trueline('train', ...args, '--out', whole).status).toBe(0);
    expect(trueline('train', ...args, '--steps', '4096', '--out', cut).status).toBe(0);
    const resumed = trueline('train', '--resume', cut, '--steps', '12000', '--evaluate', '0');
    expect([resumed.status, resumed.stderr]).toEqual([0, expect.stringContaining('the fault advantage-late')]);
    expect(await contents(cut)).toEqual(await contents(whole));
  });

  it('gives the same bits on one thread and on two', async () => {
    const paths = ['1', '2'].map((threads) => {
      const out = join(folder, `threads-${threads}`);
      const { status } = trueline(
        'train',
        'echo',
        '--seed',
        '7',
        ...quick,
        '--threads',
        threads,
        '--out',
        out,
        '--set',
        'gameSettings.seats=2',
      );
      expect(status).toBe(0);
      return out;
    });
    expect(await contents(paths[1])).toEqual(await contents(paths[0]));
  });

  it('on Ctrl-C finishes the iteration, saves, and says how to resume', async () => {
    const out = join(folder, 'stopped');
    const { child, output } = start([
      'echo',
      '--seed',
      '6',
      '--steps',
      '100000000',
      '--set',
      'worlds=16',
      '--out',
      out,
    ]);
    await until(() => existsSync(join(out, 'checkpoints')));
    child.kill('SIGINT');
    const [status] = await once(child, 'close');
    expect(status).toBe(0);
    expect(output()).toContain(`Go on with: trueline train --resume ${out}`);
    expect(trueline('validate', out).status).toBe(0);
    const resumed = trueline('train', '--resume', out, '--steps', '1', '--evaluate', '0');
    expect(resumed.status).toBe(0);
  });

  it('takes settings from a file, from --set and from flags, the last one winning', async () => {
    const config = join(folder, 'run.yaml');
    writeFileSync(config, 'game: probe-action\nseed: 9\nsteps: 2000\nworlds: 8\nppo:\n  clip: 0.3\n  epochs: 2\n');
    const out = join(folder, 'configured');
    expect(
      trueline('train', '--config', config, '--set', 'ppo.clip=0.1', '--seed', '4', '--out', out, '--evaluate', '0')
        .status,
    ).toBe(0);
    const { manifest } = await openRecording(out);
    expect(manifest.seed).toBe(4);
    expect(manifest.settings).toMatchObject({ clip: 0.1, epochs: 2 });
  });

  it('describes every setting, and gives a JSON Schema', () => {
    const { stdout } = trueline('train', '--describe');
    expect(stdout).toMatch(/ppo\.clip +0\.2 +How far the probability ratio may leave 1/);
    const settings = JSON.parse(trueline('train', '--describe', '--json').stdout) as { description: string }[];
    expect(settings.length).toBeGreaterThan(40);
    expect(settings.filter((setting) => setting.description === '')).toEqual([]);
    expect(JSON.parse(trueline('train', '--schema').stdout)).toMatchObject({
      type: 'object',
      properties: { ppo: { type: 'object' } },
    });
  });

  it.each([
    [['echo', '--set', 'ppo.clop=1'], /clop/],
    [['echo', '--set', 'ppo.clip=-1'], /ppo\.clip: got -1/],
    [['ecko'], /There is no game "ecko"; the games are probe-value/],
    [['echo', '--config', '/no/such.json'], /\/no\/such\.json: there is no such file/],
    [['echo', '--set', 'clip'], /a name, an equals sign and a value are expected/],
    [['--resume', '/no/such/run'], /holds no checkpoint to resume from/],
    [['stag-hunt', '--players', 'ppo,nobody,random,random'], /has no player "nobody"/],
    [['stag-hunt', '--players', 'ppo,random'], /players lists 2 but stag-hunt has 4 seats/],
    [[], /no game is named/],
    [
      ['echo', '--set', 'worlds=65536', '--set', 'rollout=1000000'],
      /65536 x rollout 1000000 are \d+ rows of \d+ bytes, [\d.]+ TiB for one iteration; at most 4 GiB fit/,
    ],
  ])('refuses wrong settings with one sentence: %j', (args, sentence) => {
    const { status, stderr } = trueline(
      'train',
      ...args,
      ...(args.includes('--resume') ? [] : ['--out', join(folder, 'never')]),
    );
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toMatch(/\n +at /);
    expect(status).toBe(2);
    expect(existsSync(join(folder, 'never'))).toBe(false);
  });
});

describe('a training that nobody listens to any more', () => {
  it('goes on to its end when the pipes are closed that it writes to', async () => {
    const out = join(folder, 'unheard');
    const { child } = start(['echo', '--seed', '6', ...quick, '--set', 'rollout=64', '--out', out]);
    await until(() => child.exitCode !== null || existsSync(join(out, 'manifest.json')));
    child.stdout.destroy();
    child.stderr.destroy();
    await once(child, 'exit');
    const { manifest } = await openRecording(out);
    expect(manifest.ended).toBe('finished');
  });

  it.each(['/proc/nope', '/dev/null/run', '/proc/self/run'])('cannot be begun in %s, and says so at once', (out) => {
    const { status, stderr } = trueline('train', 'echo', '--out', out, ...quick);
    expect([status, stderr.trim().split('\n').length]).toEqual([2, 1]);
    expect(stderr).toContain(out.replace('/run', ''));
  });
});

describe('trueline export', () => {
  it('writes policies that onnxruntime-web runs with the logits that were recorded', async () => {
    const out = join(folder, 'exported');
    // One iteration: the policy that sampled it is gone after the update, so the replay of its last step is compared.
    expect(
      trueline(
        'train',
        'echo',
        '--seed',
        '3',
        '--steps',
        '3000',
        '--set',
        'worlds=16',
        '--set',
        'ppo.epochs=1',
        '--set',
        'ppo.minibatches=1',
        '--set',
        'ppo.learningRate=1e-12',
        '--set',
        'network.head=fixed',
        '--evaluate',
        '0',
        '--out',
        out,
      ).status,
    ).toBe(0);
    const exported = trueline('export', out, '--onnx');
    expect(exported.status).toBe(0);
    const path = /Wrote (.*\.onnx)/.exec(exported.stdout)?.[1] as string;
    expect(path).toMatch(/policies\/player_1-\d+\.onnx$/);
    ort.env.wasm.numThreads = 1;
    const session = await ort.InferenceSession.create(readFileSync(path));
    const { columns } = await (await openRecording(out)).read('samples', ['obs', 'subset', 'logits']);
    const [obs, subset, logits] = ['obs', 'subset', 'logits'].map((name) => columns.get(name) as NumberColumn);
    const width = obs.offsets?.[1] as number;
    const rows = 50;
    const input = new ort.Tensor('float32', Float32Array.from((obs.values as Float32Array).subarray(0, rows * width)), [
      rows,
      width,
    ]);
    const result = (await session.run({ obs: input })).logits;
    const [, actions] = result.dims;
    for (let row = 0; row < rows; row++) {
      for (let i = subset.offsets?.[row] as number; i < (subset.offsets?.[row + 1] as number); i++) {
        const global = (result.data as Float32Array)[row * actions + Number(subset.values[i])];
        expect(Math.abs(global - Number(logits.values[i]))).toBeLessThan(1e-5);
      }
    }
  });
});

describe('trueline play', () => {
  it('gives mean returns per seat with intervals, for scripted players and learnt ones', () => {
    const shown = JSON.parse(trueline('play', 'stag-hunt', '--episodes', '4000', '--json').stdout);
    for (const { mean, halfWidth } of shown.seats) {
      // 0.647 is what independent random players get under these rules.
      expect(Math.abs(mean - 0.647)).toBeLessThan(3 * halfWidth);
    }
    const trained = join(folder, 'first');
    expect(trueline('play', 'probe-observation-action', '--policy', trained).stdout).toMatch(/seat 1 +ppo +\d/);
  });

  it.each(['stag-hunt', 'snowdrift', 'city'])(
    'draws an episode of %s, in the terminal, as SVG and as a page',
    (game) => {
      const [svg, html] = [join(folder, `${game}.svg`), join(folder, `${game}.html`)];
      const { status, stdout } = trueline('play', game, '--episodes', '1', '--watch', '--svg', svg, '--html', html);
      expect(status).toBe(0);
      expect(stdout.split('\n').length).toBeGreaterThan(20);
      expect(readFileSync(svg, 'utf8')).toMatch(/^<svg [\s\S]*<\/svg>$/);
      expect(readFileSync(html, 'utf8')).toContain('id="slider"');
    },
  );

  it.each([
    [['tag'], /There is no game "tag"/],
    [['echo', '--svg', 'x.svg'], /echo has no pictures/],
    [['stag-hunt', '--players', 'ppo'], /needs a learnt policy: --policy RUN/],
    [['stag-hunt', '--set', 'widht=3'], /there is no setting "widht"/],
    [['stag-hunt', '--episodes', '0'], /at least 1/],
  ])('refuses what it cannot do with one sentence: %j', (args, sentence) => {
    const { status, stderr } = trueline('play', ...args);
    expect(stderr).toMatch(sentence);
    expect(status).toBe(2);
  });
});
