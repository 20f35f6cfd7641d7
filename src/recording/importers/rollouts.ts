/**
 * Dumps of rollouts that people already make, as recordings of a language model: TRL's completions, verl's rollouts, slime's samples and token-level JSON lines.
 * What a dump does not say is left out and never guessed; a group is one prompt of one step where it has no name.
 */

import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import { lines } from '../files/text-lines.ts';
import { Recording } from '../recording.ts';
import { Budget, type ByteSource, memoryStore, type Store } from '../source.ts';
import { type finishes, sources } from '../tables/token-columns.ts';
import { type ColumnData, RecordingWriter } from '../writer.ts';
import { readTorch, unpickle } from './formats/pickle.ts';
import { isRow, type Row } from './record.ts';

type Kind = 'TRL completions' | 'verl rollouts' | 'slime samples' | 'token-level JSON lines';

interface Dump {
  kind: Kind;
  rows: { row: Row; iteration: number }[];
}

/** The recording that a dump is; null where the store holds none. */
export async function rolloutRecording(store: Store, options: { maxSize?: number } = {}): Promise<Recording | null> {
  const dump = await readDump(store, options);
  if (!dump) return null;
  const memory = memoryStore(store.name);
  const writer = await RecordingWriter.create(memory, {
    format: 'trueline/1',
    name: store.name.split(/[/\\]/).pop() ?? store.name,
    agents: [{ name: 'model' }],
    algorithm: dump.kind,
  });
  for (const [table, data] of tablesOf(dump)) await writer.append(table, data);
  await writer.close();
  return Recording.open(memory);
}

const numberIn = (path: string) => Number(/(\d+)\.\w+$/.exec(path)?.[1] ?? Number.NaN);

async function readDump(store: Store, { maxSize }: { maxSize?: number }): Promise<Dump | null> {
  const paths = (await store.list()).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const budget = store.budget ?? new Budget(maxSize);
  const dump: { kind: Kind | null; rows: Dump['rows'] } = { kind: null, rows: [] };
  for (const path of dumps(paths)) {
    const source = await store.open(path);
    if (source.size === 0) continue;
    const rows = path.endsWith('.parquet')
      ? await parquetRows(source, path, budget)
      : path.endsWith('.jsonl')
        ? await jsonRows(source, path, budget, dump.kind !== null)
        : await torchRows(source, path, budget);
    if (!rows) return null;
    // slime numbers parts of one rollout by it, too: only what all rows share is an iteration.
    const shared = new Set(rows.map((row) => row.rollout_id)).size === 1;
    for (const row of rows) {
      const kind = kindOf(row);
      if (!kind || (dump.kind && kind !== dump.kind)) return null;
      dump.kind = kind;
      const own = [row.iteration, row.step, shared ? row.rollout_id : null, numberIn(path)].find((value) =>
        isWhole(value),
      );
      dump.rows.push({ row, iteration: Number(own ?? 0) });
    }
  }
  return dump.kind ? { kind: dump.kind, rows: dump.rows } : null;
}

/** Of several kinds of files the one that says most; evaluations are no training. */
function dumps(paths: readonly string[]): string[] {
  const kinds = [/completions[^/]*\.parquet$/, /\.jsonl$/, /(^|\/)(?!eval_)[^/]*\.pt$/, /^[^/]*\/data\.pkl$/];
  return kinds.map((kind) => paths.filter((path) => kind.test(path))).find((found) => found.length > 0) ?? [];
}

/** slime's saved rollouts; a checkpoint has no samples. */
async function torchRows(source: ByteSource, path: string, budget: Budget): Promise<Row[] | null> {
  const found = path.endsWith('.pkl')
    ? unpickle(await source.read(0, source.size), path)
    : await readTorch(source, path, budget);
  if (!isRow(found) || !Array.isArray(found.samples)) return null;
  const { rollout_id, samples } = found;
  return samples.filter(isRow).map((row) => ({ ...row, iteration: row.iteration ?? rollout_id }));
}

const isWhole = (value: unknown): boolean =>
  (typeof value === 'number' || typeof value === 'bigint') && Number.isSafeInteger(Number(value)) && Number(value) >= 0;

async function parquetRows(source: ByteSource, path: string, budget: Budget): Promise<Row[]> {
  budget.claim(path, source.size, source);
  const file = (await source.read(0, source.size)).slice().buffer;
  try {
    const metadata = parquetMetadata(file);
    budget.claim(path, Number(metadata.row_groups.reduce((sum, group) => sum + group.total_byte_size, 0n)));
    return (await parquetReadObjects({ file, metadata, compressors })) as Row[];
  } catch (error) {
    if (error instanceof BadInput) throw error;
    throw new BadInput(
      told(
        `cannot be read as Parquet: ${(error as Error).message}`,
        `无法作为 Parquet 读取：${(error as Error).message}`,
      ),
      { file: path },
    );
  }
}

/** Read line by line, because a log of a gigabyte is asked too. Null where the first line shows that this is no dump of rollouts; a later line that is broken is damage. */
async function jsonRows(source: ByteSource, path: string, budget: Budget, known: boolean): Promise<Row[] | null> {
  const rows: Row[] = [];
  let i = -1;
  for await (const line of lines(source, budget)) {
    i++;
    if (line.trim() === '') continue;
    let row: unknown;
    try {
      row = JSON.parse(line);
    } catch {
      row = null;
    }
    if (!isRow(row) || !kindOf(row)) {
      if (rows.length === 0 && !known) return null;
      throw new BadInput(
        told(`line ${i + 1} is not a response as those before it are`, `第 ${i + 1} 行不像前面各行那样是一个回答`),
        { file: path },
      );
    }
    rows.push(row);
  }
  return rows;
}

function kindOf(row: Row): Kind | null {
  if ('response_length' in row && 'tokens' in row) return 'slime samples';
  if (numbers(first(row, names.tokens))?.every((id) => isWhole(id))) return 'token-level JSON lines';
  if ('prompt' in row && 'completion' in row) return 'TRL completions';
  return typeof row.input === 'string' && typeof row.output === 'string' && 'score' in row ? 'verl rollouts' : null;
}

const numeric = (value: unknown): number =>
  typeof value === 'number' || typeof value === 'bigint' ? Number(value) : Number.NaN;
const numbers = (value: unknown): number[] | null => (Array.isArray(value) ? value.map(numeric) : null);

/** TRL has a column for each function of the reward. With one it is the reward; of several the weights are not told. */
function onlyReward(row: Row): unknown {
  const functions = Object.entries(row).filter(
    ([name, value]) => !['step', 'advantage'].includes(name) && typeof value === 'number',
  );
  return 'completion' in row && functions.length === 1 ? functions[0][1] : undefined;
}

/** How programs call an end. */
const ends: Record<string, (typeof finishes)[number]> = {
  stop: 'stop',
  completed: 'stop',
  length: 'length',
  truncated: 'length',
  aborted: 'other',
  other: 'other',
};
/** What programs call a response's tokens and their log-probabilities, our own names first: slime, vLLM, TRL, verl, OpenRLHF, prime-rl. */
const perToken = {
  sampler_logp: [
    'sampler_logp',
    'rollout_log_probs',
    'logprobs',
    'completion_logprobs',
    'rollout_logprobs',
    'sampling_per_token_logps',
  ],
  old_logp: ['old_logp', 'log_probs', 'old_log_probs', 'old_per_token_logps', 'action_log_probs'],
  reference_logp: ['reference_logp', 'ref_log_probs', 'ref_log_prob', 'ref_per_token_logps', 'base_action_log_probs'],
  logp_tempered: ['logp_tempered'],
  control_logp: ['control_logp'],
  control2_logp: ['control2_logp'],
} as const;
const names = {
  tokens: ['tokens', 'completion_ids', 'response_ids', 'output_ids', 'token_ids', 'responses'],
  trained: ['trained', 'loss_mask', 'completion_mask', 'response_mask', 'action_mask'],
  group: ['group', 'group_index', 'uid', 'group_id', 'prompt_id'],
  prompt: ['prompt', 'input', 'prompt_ids', 'prompt_token_ids'],
  reward: ['reward', 'score', 'rewards'],
  advantage: ['advantage', 'advantages'],
} as const;
const first = (row: Row, keys: readonly string[]): unknown =>
  keys.map((key) => row[key]).find((value) => value !== undefined && value !== null);

/** A number of the response; a list that says the same at every token is one. */
function each(value: unknown): number {
  const list = numbers(value)?.filter((item) => !Number.isNaN(item));
  if (!list) return numeric(value);
  return list.length > 0 && list.every((item) => item === list[0]) ? list[0] : Number.NaN;
}

function tablesOf({ rows }: Dump): [string, Record<string, ColumnData>][] {
  rows.sort((a, b) => a.iteration - b.iteration);
  const groups = new Map<string, number>();
  const prompts = new Map<string, number>();
  const numbered = (known: Map<string, number>, key: string) => known.get(key) ?? known.set(key, known.size).size - 1;
  const read = rows.map(({ row, iteration }) => {
    const asked = first(row, names.prompt);
    const prompt = JSON.stringify(asked ?? null);
    const named = first(row, names.group);
    const tokens = numbers(first(row, names.tokens)) ?? [];
    const length = 'response_length' in row ? numeric(row.response_length) : tokens.length;
    const said = row.finish ?? row.finish_reason ?? row.status;
    return {
      row,
      iteration,
      asked: asked !== undefined,
      grouped: named !== undefined || asked !== undefined,
      prompt: numbered(prompts, prompt),
      group: numbered(groups, `${iteration} ${named === undefined ? prompt : JSON.stringify(named)}`),
      before:
        'prompt_length' in row
          ? numeric(row.prompt_length)
          : tokens.length - length || (numbers(row.prompt_ids ?? row.prompt_token_ids)?.length ?? 0),
      tokens: length > 0 ? tokens.slice(-length) : [],
      reward: numeric(first(row, names.reward) ?? onlyReward(row)),
      graded: numeric(row.graded),
      advantage: each(first(row, names.advantage)),
      finish: typeof said === 'string' ? (ends[said] ?? 'other') : '',
    };
  });
  const ints = (value: (own: (typeof read)[number], i: number) => number) => Int32Array.from(read, value);
  const floats = (value: (own: (typeof read)[number]) => number) => Float64Array.from(read, value);
  const responses: Record<string, ColumnData> = {
    iteration: ints((own) => own.iteration),
    episode: ints((_, i) => i),
    group: ints((own) => own.group),
    prompt: ints((own) => own.prompt),
    reward: floats(({ reward }) => reward),
    graded: floats(({ graded }) => graded),
    advantage: floats(({ advantage }) => advantage),
    finish: read.map(({ finish }) => finish),
  };
  for (const name of ['reward', 'graded', 'advantage'] as const)
    if ((responses[name] as Float64Array).every(Number.isNaN)) delete responses[name];
  if (read.every(({ finish }) => finish === '')) delete responses.finish;
  // Answers whose prompts are not told are no group.
  if (!read.every(({ grouped }) => grouped)) delete responses.group;
  if (!read.every(({ asked }) => asked)) delete responses.prompt;
  const flat = read.flatMap((own, episode) => own.tokens.map((token, i) => ({ own, episode, token, i })));
  if (flat.length === 0) return [['responses', responses]];
  responses.prompt_length = ints(({ before }) => before);
  const samples: Record<string, ColumnData> = {
    iteration: Int32Array.from(flat, ({ own }) => own.iteration),
    episode: Int32Array.from(flat, ({ episode }) => episode),
    t: Int32Array.from(flat, ({ own, i }) => own.before + i),
    agent: new Int32Array(flat.length),
    token: Int32Array.from(flat, ({ token }) => token),
    old_logp: new Float64Array(flat.length).fill(Number.NaN),
  };
  const masks = read.map(({ row }) => numbers(first(row, names.trained)));
  if (masks.some(Boolean)) {
    samples.trained = Uint8Array.from(flat, ({ episode, i }) => ((masks[episode]?.[i] ?? 1) === 1 ? 1 : 0));
    // What is masked inside an answer is a tool's or a template's; which of them, a dump does not say.
    samples.source = flat.map(({ episode, i }) => sources[masks[episode]?.[i] === 0 ? 1 : 0]);
  }
  for (const [name, keys] of Object.entries(perToken)) {
    const lists = read.map(({ row }) => keys.map((key) => numbers(row[key])).find(Boolean) ?? null);
    if (lists.some(Boolean))
      samples[name] = Float64Array.from(flat, ({ own, episode, i }) => {
        const list = lists[episode];
        return list ? (list[i + list.length - own.tokens.length] ?? Number.NaN) : Number.NaN;
      });
  }
  return [
    ['responses', responses],
    ['samples', samples],
  ];
}
