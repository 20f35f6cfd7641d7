/** Diagnosis of a long recording of tokens: time and memory of ten million rows, each of them replayed once. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { main } from '../src/cli/main.ts';
import { RandomStream } from '../src/math/random.ts';
import { createRecording } from '../src/recording/node.ts';
import { type Figure, figure, output, peakMemory } from './support.ts';

const groups = 32;
const members = 8;
const length = 400;
const sampler = 1e-6;

export async function bench(say: (line: string) => void, million = 10): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'trueline-tokens-'));
  const run = join(folder, 'run');
  try {
    say(`writing ${million} million tokens ...`);
    const rows = await writeTokens(run, million * 1e6);
    say('diagnosing them in a process of its own ...');
    const self = new URL(import.meta.url).pathname;
    const told = output(process.execPath, [
      '--input-type=module',
      '-e',
      `const m = await import(${JSON.stringify(self)}); await m.diagnoseTokens(${JSON.stringify(run)});`,
    ]);
    const { peak, status, seconds, cpu } = JSON.parse(told.trim().split('\n').at(-1)!) as Record<string, number>;
    const note = `${cpu.toFixed(1)} s of CPU, exit status ${status}`;
    return [
      figure(`diagnosis of ${rows} token rows`, seconds, 's', { most: 60 }, note),
      figure('peak memory', peak / 2 ** 20, 'MiB', { most: 2048 }),
      figure('exit status, 0 for healthy', status, '', { most: 0 }),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A healthy GRPO run whose numbers are drawn and not computed: sampler and trainer agree, and the loss is the declared one. */
export async function writeTokens(folder: string, wanted: number): Promise<number> {
  const writer = await createRecording(folder, {
    format: 'trueline/1',
    agents: [{ name: 'model', policy: 0 }],
    policies: [{ name: 'model' }],
    settings: {
      temperature: 1,
      ratio: 'token',
      clip_low: 0.2,
      clip_high: 0.2,
      aggregation: 'token-mean',
      baseline: 'group-mean',
      scale: 'none',
      old_logp: 'sampler',
      precision: { trainer: 'float32', sampler: 'float32' },
    },
  });
  const random = RandomStream.of(1, 'tokens');
  const responses = groups * members;
  const rows = responses * length;
  let written = 0;
  for (let iteration = 0; written < wanted; iteration++, written += rows) {
    const ints = (count: number, value: (i: number) => number) =>
      Int32Array.from({ length: count }, (_, i) => value(i));
    const reward = Float64Array.from({ length: responses }, () => Math.round(10 * random.uniform()) / 10);
    const advantage = reward.map((own, i) => {
      const first = i - (i % members);
      return own - reward.subarray(first, first + members).reduce((sum, value) => sum + value, 0) / members;
    });
    const logp = Float32Array.from({ length: rows }, () => Math.log(random.uniform() + 1e-6));
    const near = () => logp.map((value) => value + sampler * (random.uniform() - 0.5));
    const said = near();
    const fresh = near();
    await writer.append('responses', {
      iteration: ints(responses, () => iteration),
      episode: ints(responses, (i) => iteration * responses + i),
      group: ints(responses, (i) => iteration * groups + Math.floor(i / members)),
      length: ints(responses, () => length),
      prompt_length: ints(responses, () => 20),
      sampler_version: ints(responses, () => iteration),
      trainer_version: ints(responses, () => iteration),
      reward,
      advantage,
    });
    await writer.append('samples', {
      iteration: ints(rows, () => iteration),
      episode: ints(rows, (i) => iteration * responses + Math.floor(i / length)),
      t: ints(rows, (i) => 20 + (i % length)),
      agent: ints(rows, () => 0),
      token: ints(rows, () => random.below(50_000)),
      trained: new Uint8Array(rows).fill(1),
      sampler_logp: said,
      old_logp: said,
      logp_tempered: near(),
      control_logp: near(),
      control2_logp: near(),
    });
    const coef = Float32Array.from({ length: rows }, (_, i) => {
      return (-advantage[Math.floor(i / length)] * Math.exp(fresh[i] - said[i])) / rows;
    });
    await writer.append('replays', {
      iteration: ints(rows, () => iteration),
      epoch: ints(rows, () => 0),
      minibatch: ints(rows, () => 0),
      sample: ints(rows, (i) => i),
      new_logp: fresh,
      coef,
      micro_batch: ints(rows, (i) => Math.floor((8 * i) / rows)),
    });
    await writer.append('steps', {
      iteration: ints(1, () => iteration),
      epoch: ints(1, () => 0),
      minibatch: ints(1, () => 0),
      tokens: ints(1, () => rows),
      sequences: ints(1, () => responses),
    });
  }
  await writer.close();
  return written;
}

/** Run in a process of its own, so that its memory is its own. */
export async function diagnoseTokens(run: string): Promise<void> {
  const begun = performance.now();
  await main(['diagnose', run]);
  const status = Number(process.exitCode ?? 0);
  process.exitCode = 0;
  const { user, system } = process.cpuUsage();
  const told = { peak: peakMemory(), status, seconds: (performance.now() - begun) / 1000, cpu: (user + system) / 1e6 };
  process.stdout.write(`\n${JSON.stringify(told)}\n`);
}
