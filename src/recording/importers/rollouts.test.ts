import { readFileSync } from 'node:fs';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import '../node.ts';
import { diagnose } from '../../doctor/diagnose.ts';
import type { Recording } from '../recording.ts';
import { bytesSource, type Store } from '../source.ts';
import { unpickle } from './formats/pickle.ts';
import { rolloutRecording } from './rollouts.ts';

function storeOf(files: Record<string, string | Uint8Array>): Store {
  const bytes = (content: string | Uint8Array) =>
    typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return {
    name: 'dump',
    list: async () => Object.keys(files),
    open: async (path) => bytesSource(path, bytes(files[path])),
  };
}

const lines = (rows: object[]) => rows.map((row) => JSON.stringify(row)).join('\n');

async function columns(recording: Recording, table: string): Promise<Record<string, unknown[]>> {
  const out: Record<string, unknown[]> = {};
  for await (const chunk of recording.chunks(table))
    for (const [name, column] of chunk.columns)
      if ('values' in column) out[name] = Array.from(column.values as ArrayLike<unknown>);
  return out;
}

/** Six prompts, four answers each; `advantage` over the whole batch, which is the mistake. */
const rewards = Array.from({ length: 24 }, (_, i) => ((i * 7) % 11) / 10);
const centre = rewards.reduce((sum, value) => sum + value, 0) / rewards.length;
const deviation = Math.sqrt(rewards.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (rewards.length - 1));

describe('dumps of rollouts', () => {
  it("reads TRL's completions: the one function is the reward, and advantages are judged by what is declared", async () => {
    const step = (number: number) =>
      new Uint8Array(
        parquetWriteBuffer({
          columnData: [
            { name: 'step', data: rewards.map(() => String(number)), type: 'STRING' },
            { name: 'prompt', data: rewards.map((_, i) => `prompt ${Math.floor(i / 4)}`), type: 'STRING' },
            { name: 'completion', data: rewards.map((_, i) => `answer ${i}`), type: 'STRING' },
            { name: 'accuracy_reward', data: rewards, type: 'DOUBLE' },
            { name: 'advantage', data: rewards.map((own) => (own - centre) / (deviation + 1e-4)), type: 'DOUBLE' },
          ],
        }),
      );
    const recording = (await rolloutRecording(
      storeOf({ 'completions/completions_00001.parquet': step(1), 'completions/completions_00002.parquet': step(2) }),
    ))!;
    const { group, iteration } = await columns(recording, 'responses');
    expect(new Set(group).size).toBe(12);
    expect(iteration.slice(22, 26)).toEqual([1, 1, 2, 2]);
    expect((await diagnose(recording)).causes).toEqual([]);
    const meant = recording.declaring({ baseline: 'group-mean', scale: 'group-deviation' });
    expect((await diagnose(meant)).causes[0].id).toBe('advantage-group-mixed');
  });

  it("reads verl's rollouts, whose files are steps; a group is a prompt of one step", async () => {
    const step = (score: (i: number) => number) =>
      lines(rewards.map((_, i) => ({ input: `p${Math.floor(i / 4)}`, output: `o${i}`, gts: '1', score: score(i) })));
    const recording = (await rolloutRecording(storeOf({ '10.jsonl': step(() => 1), '9.jsonl': step((i) => i % 2) })))!;
    const { iteration, reward, group } = await columns(recording, 'responses');
    expect([iteration[0], iteration[47], reward[1], reward[47]]).toEqual([9, 10, 1, 1]);
    expect(new Set(group).size).toBe(12);
    const { remarks, verdict } = await diagnose(recording);
    expect(verdict).toBe('not-enough-evidence');
    expect(remarks.map(({ id }) => id)).toContain('group-degenerate');
  });

  it("reads slime's samples: the answer is the last `response_length` tokens, what is masked inside is not the model's", async () => {
    const sample = {
      group_index: 3,
      index: 12,
      prompt: 'a b',
      tokens: [5, 6, 7, 8, 9],
      response_length: 3,
      reward: 0.5,
      loss_mask: [1, 0, 1],
      rollout_log_probs: [-0.1, 0, -0.3],
      status: 'truncated',
      rollout_id: 4,
    };
    const recording = (await rolloutRecording(storeOf({ 'rollout.jsonl': lines([sample]) })))!;
    const samples = await columns(recording, 'samples');
    expect([samples.t, samples.token, samples.sampler_logp, samples.trained, samples.iteration]).toEqual([
      [2, 3, 4],
      [7, 8, 9],
      [-0.1, 0, -0.3],
      [1, 0, 1],
      [4, 4, 4],
    ]);
    const { prompt_length: before } = await columns(recording, 'responses');
    expect(before).toEqual([2]);
  });

  it("reads slime's saved rollouts as torch writes them, without its evaluations", async () => {
    const saved = readFileSync(new URL('./fixtures/slime-1.pt', import.meta.url));
    const recording = (await rolloutRecording(storeOf({ '1.pt': saved, 'eval_1.pt': saved })))!;
    const samples = await columns(recording, 'samples');
    expect([samples.token.slice(0, 5), samples.sampler_logp.slice(0, 5), samples.trained.slice(0, 5)]).toEqual([
      [6, 300, 70000, 300, 70000],
      [-0.1, -0.2, -0.3, -0.1, -0.2],
      [1, 0, 1, 1, 1],
    ]);
    const responses = await columns(recording, 'responses');
    expect([responses.iteration, responses.group, responses.reward, responses.prompt_length]).toEqual([
      [1, 1, 1, 1],
      [0, 0, 1, 1],
      [0, 1, 0, 1],
      [1, 2, 1, 1],
    ]);
  });

  it('runs nothing that a pickle asks for, and takes no data that holds itself or grows without end', () => {
    const read = (text: string) =>
      unpickle(
        Uint8Array.from(text, (one) => one.charCodeAt(0)),
        'x.pt',
      );
    expect(read('\x80\x02}X\x01\0\0\0acos\nsystem\nX\x02\0\0\0ls\x85Rs.')).toEqual({ a: null });
    const doubled = Array.from(
      { length: 30 },
      (_, i) => `](h${String.fromCharCode(i)}h${String.fromCharCode(i)}eq${String.fromCharCode(i + 1)}`,
    );
    for (const hostile of [
      '\x80\x02]q\x00h\x00a.',
      `\x80\x02]q\x00${doubled.join('')}.`,
      '\x80\x02X\xff\xff\xff\xffa.',
      '\x80\x02',
      'e.',
    ])
      expect(() => read(hostile)).toThrow(/damaged/);
  });

  it('reads token-level lines with columns of our own names', async () => {
    const row = {
      iteration: 0,
      group: 'x',
      tokens: [3, 4],
      prompt_length: 7,
      sampler_logp: [-1, -2],
      old_logp: [-1, -2],
      reward: 1,
    };
    const recording = (await rolloutRecording(storeOf({ 'a.jsonl': lines([row, { ...row, reward: 0 }]) })))!;
    const { old_logp: old, t, episode } = await columns(recording, 'samples');
    expect([old, t, episode]).toEqual([
      [-1, -2, -1, -2],
      [7, 8, 7, 8],
      [0, 0, 1, 1],
    ]);
  });

  it('reads the names that other programs give the same columns; answers without a prompt are no group', async () => {
    const row = {
      step: 2,
      completion_ids: [3, 4],
      prompt_ids: [9, 9, 9],
      logprobs: [-1, -2],
      old_per_token_logps: [-1, -2.5],
      advantages: [0.5, 0.5],
      rewards: 1,
      completion_mask: [1, 1],
    };
    const recording = (await rolloutRecording(storeOf({ 'a.jsonl': lines([row, { ...row, rewards: 0 }]) })))!;
    const samples = await columns(recording, 'samples');
    expect([samples.sampler_logp, samples.old_logp, samples.t]).toEqual([
      [-1, -2, -1, -2],
      [-1, -2.5, -1, -2.5],
      [3, 4, 3, 4],
    ]);
    const responses = await columns(recording, 'responses');
    expect([responses.iteration, responses.group, responses.advantage, responses.reward]).toEqual([
      [2, 2],
      [0, 0],
      [0.5, 0.5],
      [1, 0],
    ]);
    const bare = { tokens: [3, 4], sampler_logp: [-1, -2], reward: 1 };
    const alone = (await rolloutRecording(storeOf({ 'a.jsonl': lines([bare, bare]) })))!;
    expect(Object.keys(await columns(alone, 'responses'))).not.toContain('group');
  });

  it('leaves logs alone, and says what is damaged', async () => {
    expect(await rolloutRecording(storeOf({ 'log.jsonl': lines([{ step: 1, loss: 2 }]) }))).toBeNull();
    expect(await rolloutRecording(storeOf({ 'progress.csv': 'a,b\n1,2' }))).toBeNull();
    const broken = `${lines([{ input: 'a', output: 'b', score: 1 }])}\n{"input": `;
    await expect(rolloutRecording(storeOf({ '1.jsonl': broken }))).rejects.toThrow(/line 2 is not a response/);
    expect(await rolloutRecording(storeOf({ 'model.pt': 'x' }))).toBeNull();
    await expect(rolloutRecording(storeOf({ 'completions_1.parquet': 'x' }))).rejects.toThrow(
      /cannot be read as Parquet/,
    );
  });

  it('asks a long log for its beginning alone', async () => {
    const store = storeOf({ 'log.jsonl': lines(Array.from({ length: 200_000 }, (_, step) => ({ step, loss: 2 }))) });
    let [size, read] = [0, 0];
    const watched: Store = {
      ...store,
      name: store.name,
      list: () => store.list(),
      open: async (path) => {
        const source = await store.open(path);
        size = source.size;
        const counted = (start: number, end: number) => {
          read += end - start;
          return source.read(start, end);
        };
        return { name: source.name, size, read: counted };
      },
    };
    expect(await rolloutRecording(watched)).toBeNull();
    expect(read).toBeLessThan(size / 2);
  });
});
