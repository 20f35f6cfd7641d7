import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createRecording } from '../src/recording/node.ts';
import { root, run, temporaryFolder, trueline, truelineProcess } from './support/run.ts';

const folder = temporaryFolder();
const recording = join(folder, 'run');

beforeAll(async () => {
  const writer = await createRecording(recording, {
    format: 'trueline/1',
    algorithm: 'mappo',
    seed: 3,
    agents: [
      { name: 'IND', policy: 0 },
      { name: 'EDU', policy: 1 },
    ],
    policies: [{ name: 'IND' }, { name: 'EDU' }],
  });
  await writer.append('samples', {
    iteration: Int32Array.of(0, 0, 1),
    episode: Int32Array.of(0, 0, 1),
    t: Int32Array.of(0, 0, 0),
    agent: Int32Array.of(0, 1, 0),
    old_logp: Float32Array.of(-1, Number.NaN, Number.NEGATIVE_INFINITY),
    subset: { values: Int32Array.of(4, 2, 9), offsets: Int32Array.of(0, 2, 2, 3) },
    mood: Float32Array.of(1, 2, 3),
  });
  await writer.close();
});

describe('trueline inspect', () => {
  it('shows tables, rows, columns, ranges, agents, iterations, and what is missing for which check', () => {
    const { status, stdout } = trueline('inspect', recording);
    expect(status).toBe(0);
    expect(stdout).toContain('agents      IND, EDU');
    expect(stdout).toContain('iterations  0 to 1');
    expect(stdout).toMatch(/samples {2}3 rows in 1 file/);
    expect(stdout).toMatch(/old_logp +float +-1 +-1 +-1 +1 not known \(NaN\); 1 infinite/);
    expect(stdout).toMatch(/subset +int list of 0 to 2 +2 +5 +9/);
    expect(stdout).toMatch(/mood .*unknown column/);
    expect(stdout).toMatch(
      /Does the update replay the distribution that was sampled from\?\n +needs replays\.new_logp/,
    );
    expect(stdout).not.toContain('\u001b[');
  });

  it('prints the same as JSON', () => {
    const shown = JSON.parse(trueline('inspect', recording, '--json').stdout);
    expect(shown).toMatchObject({ format: 'trueline/inspection/1', iterations: { first: 0, last: 1 } });
    expect(shown.tables[0].columns.find((column: { name: string }) => column.name === 'old_logp')).toMatchObject({
      min: -1,
      unknown: 1,
      infinite: 1,
    });
  });

  it('is coloured where colours are forced, never where NO_COLOR is set', () => {
    const coloured = run(process.execPath, [join(root, 'bin/trueline'), 'inspect', recording], {
      env: { NO_COLOR: '', FORCE_COLOR: '1' },
    });
    expect(coloured.stdout).toContain('\u001b[1m');
  });
});

describe('trueline convert', () => {
  it.each(['parquet', 'npz', 'jsonl', 'jsonl.gz', 'zip'])(
    'to %s gives a valid recording with the same contents',
    (encoding) => {
      const out = join(folder, encoding === 'zip' ? 'run.zip' : `run-${encoding}`);
      expect(trueline('convert', recording, out, '--to', encoding)).toMatchObject({
        status: 0,
        stdout: `Wrote ${out}\n`,
      });
      const { status, stdout } = trueline('validate', out);
      expect(stdout).toBe(
        `note  not part of the format, kept and not judged: samples.mood\nvalid ${out}: samples 3 rows\n`,
      );
      expect(status).toBe(0);
      const tables = (path: string) =>
        JSON.parse(trueline('inspect', path, '--json').stdout).tables.map(
          ({ files: _, ...rest }: { files: number }) => rest,
        );
      const plainKinds = (text: string) => text.replaceAll('"mood","kind":"int"', '"mood","kind":"float"');
      expect(plainKinds(JSON.stringify(tables(out)))).toBe(JSON.stringify(tables(recording)));
      expect(trueline('convert', recording, out, '--to', encoding)).toMatchObject({ status: 2 });
      expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    },
  );
});

describe('bad input on the command line', () => {
  const cases: [string, string[], RegExp][] = [
    [
      'a path that is not there',
      ['inspect', '/no/such/run'],
      /^trueline: \/no\/such\/run: there is no such file or folder\n$/,
    ],
    ['a folder that is no recording', ['inspect', '<empty>'], /is no recording: it has no manifest\.json/],
    ['a file that is no zip', ['validate', '<text>'], /no zip directory was found at its end/],
    ['a command that does not exist', ['inspct', 'x'], /unknown command 'inspct'/],
    ['a missing argument', ['inspect'], /missing required argument/],
    [
      'an encoding that does not exist',
      ['convert', 'a', 'b', '--to', 'csv'],
      /Allowed choices are parquet, npz, jsonl/,
    ],
    ['a size that is none', ['inspect', 'a', '--max-size', 'lots'], /A size such as 500M or 8GiB is expected/],
  ];
  it.each(cases)('%s: one sentence, status 2, no stack trace', (_, args, sentence) => {
    const empty = join(folder, 'empty');
    const text = join(folder, 'notes.txt');
    mkdirSync(empty, { recursive: true });
    writeFileSync(text, 'not a recording');
    const { status, stdout, stderr } = trueline(
      ...args.map((arg) => arg.replace('<empty>', empty).replace('<text>', text)),
    );
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toMatch(/\n +at /);
    expect(stdout).toBe('');
    expect(status).toBe(2);
  });

  it('trueline validate lists every problem and ends with status 2', async () => {
    const path = join(folder, 'wrong');
    const writer = await createRecording(path, { format: 'trueline/1', agents: [{ name: 'A' }] });
    const one = {
      iteration: Int32Array.of(0),
      episode: Int32Array.of(0),
      t: Int32Array.of(0),
      old_logp: Float32Array.of(-1),
    };
    await writer.append('samples', {
      ...one,
      agent: Int32Array.of(3),
      num_actions: Int32Array.of(4),
      logits: { values: Float32Array.of(1, 2), offsets: Int32Array.of(0, 2) },
    });
    await writer.append('replays', {
      iteration: Int32Array.of(0),
      epoch: Int32Array.of(0),
      minibatch: Int32Array.of(0),
      sample: Int32Array.of(5),
      new_logp: Float32Array.of(-1),
    });
    await writer.close();
    const { status, stdout } = trueline('validate', path);
    expect(status).toBe(2);
    expect(stdout).toContain('samples.agent, row 0: holds 3, but manifest.agents has 1 entries');
    expect(stdout).toContain('samples.logits, row 0: has 2 entries where the row has 4 candidates');
    expect(stdout).toContain('replays.sample, row 0: points to sample 5 of iteration 0, which has 1 samples');
  });
});

describe('a command on the thread that tests share', () => {
  it('says and ends as it does in a process of its own', () => {
    for (const args of [
      ['--help'],
      ['inspect', recording],
      ['diagnose', recording, '--json'],
      ['validate', recording, '--language', 'zh'],
      ['check', '/no/such/run'],
    ])
      expect(trueline(...args), args.join(' ')).toEqual(truelineProcess(...args));
  });
});

describe('help', () => {
  it('lists the commands, and that of a command shows an example', () => {
    const list = trueline('--help').stdout;
    const commands = [...list.matchAll(/^ {2}(\w+)[ |]/gm)].map((match) => match[1]).filter((name) => name !== 'help');
    expect(commands.length).toBeGreaterThanOrEqual(4);
    // All of them without a process each: test/house/language.test.ts.
    for (const command of [commands[0], commands[commands.length - 1]])
      expect(trueline(command, '--help').stdout, command).toMatch(/Examples?:\n {2}\$ trueline /);
  });
});
