/** Whether rows that can be read belong together: what they point to is declared and there, lists of one row agree, no file is there twice. Samples of an iteration must be shown before its replays. */
import { told } from '../../language/language.ts';
import { BadInput, type Place } from '../bad-input.ts';
import type { Chunk, NumberColumn } from '../column.ts';
import { codec } from '../files/codec.ts';
import type { Manifest } from '../manifest.ts';
import type { Recording } from '../recording.ts';

/** Columns that index a list of the manifest. */
const indices: { table: string; column: string; list: 'agents' | 'policies' | 'tensors' }[] = [
  { table: 'samples', column: 'agent', list: 'agents' },
  { table: 'episodes', column: 'agent', list: 'agents' },
  { table: 'counters', column: 'agent', list: 'agents' },
  { table: 'scalars', column: 'agent', list: 'agents' },
  { table: 'replays', column: 'policy', list: 'policies' },
  { table: 'steps', column: 'policy', list: 'policies' },
  { table: 'scalars', column: 'policy', list: 'policies' },
  { table: 'tensors', column: 'tensor', list: 'tensors' },
];

/** No run has so many cycles; what says so was damaged, or counts something else. */
const mostIterations = 1e9;

/** So many problems are told; whoever has more has one cause for them. */
const most = 20;

export class RowJudge {
  readonly problems: string[] = [];
  /** Tables whose rows the judge has seen; and those of which every column of every file was read. */
  readonly shown = new Set<string>();
  readonly whole = new Set<string>();
  private readonly samples = new Map<number, number>();
  private copies = 0;
  /** Per table, what a file holds by its fingerprint. */
  private readonly files = new Map<string, Map<string, { rows: number; prints: string[] }>>();

  constructor(private readonly recording: Pick<Recording, 'manifest' | 'tables'>) {}

  private get manifest(): Manifest {
    return this.recording.manifest;
  }

  /** Rows of one table; `place` says where they lie. */
  see(table: string, chunk: Chunk, place: Place): void {
    this.shown.add(table);
    const problem = (what: string, column: string, row: number) =>
      this.tell(new BadInput(what, { ...place, table, column, row }));
    for (const { table: own, column, list } of indices) {
      const declared = this.manifest[list];
      const values = own === table && declared ? numbers(chunk, column) : undefined;
      const row = values ? firstFrom(values, declared?.length ?? 0) : -1;
      if (values && row >= 0)
        problem(
          told(
            `holds ${values[row]}, but manifest.${list} has ${declared?.length} entries`,
            `含 ${values[row]}，但 manifest.${list} 只有 ${declared?.length} 项`,
          ),
          column,
          row,
        );
    }
    for (const column of ['iteration', 'source_iteration']) {
      const values = numbers(chunk, column);
      const row = values ? firstFrom(values, mostIterations) : -1;
      if (values && row >= 0)
        problem(
          told(
            `holds ${values[row]}, more cycles than a run can have; iterations are counted from 0`,
            `含 ${values[row]}，超过一次训练可能有的轮数；迭代从 0 数起`,
          ),
          column,
          row,
        );
    }
    const several = (this.manifest.policies?.length ?? 1) > 1;
    if ((table === 'replays' || table === 'steps') && several && !chunk.columns.has('policy'))
      problem(told('is missing, and there is more than one policy', '缺失，而策略不止一个'), 'policy', 0);
    if (table === 'samples') {
      this.count(chunk);
      judgeLists(chunk, problem);
    }
    if (table === 'replays') {
      judgeLists(chunk, problem);
      this.judgePointers(chunk, problem);
    }
  }

  /** Samples and replays of one iteration: a row is replayed with the candidates that it was sampled from. */
  seeTogether(iteration: number, samples: Chunk, replays: Chunk, place: Place): void {
    const sample = numbers(replays, 'sample');
    const source = numbers(replays, 'source_iteration');
    const [sampled, replayed] = [ragged(samples, 'subset'), ragged(replays, 'subset')];
    if (!sample || !sampled || !replayed) return;
    for (let row = 0; row < replays.rows; row++) {
      const from = Number(sample[row]);
      const elsewhere = source !== undefined && source[row] >= 0 && Number(source[row]) !== iteration;
      if (elsewhere || from >= samples.rows || sameCandidates(replayed, row, sampled, from)) continue;
      const what = `lists other candidates than sample ${from}, of which it is the replay`;
      this.tell(new BadInput(what, { ...place, table: 'replays', column: 'subset', row }));
      return;
    }
  }

  /** A file's rows, all of its chunks in turn; of all columns, or of those that tell its rows apart. */
  seeFile(table: string, file: string, chunk: Chunk, columns?: readonly string[]): void {
    if (chunk.rows === 0) return;
    const files = this.files.get(table) ?? new Map<string, { rows: number; prints: string[] }>();
    this.files.set(table, files);
    const own = files.get(file) ?? { rows: 0, prints: [] };
    files.set(file, own);
    own.rows += chunk.rows;
    for (const [name, column] of chunk.columns) {
      if (columns && !columns.includes(name)) continue;
      if (column.kind === 'text') {
        own.prints.push(`${name}:${codec().crc32(new TextEncoder().encode(column.values.join('\n')))}`);
        continue;
      }
      const { buffer, byteOffset, byteLength } = column.values;
      own.prints.push(`${name}:${codec().crc32(new Uint8Array(buffer, byteOffset, byteLength))}`);
    }
  }

  /** Two files of one table that hold the same rows are one file and its copy. */
  judgeFiles(table: string): void {
    const seen = new Map<string, string>();
    for (const [file, { rows, prints }] of this.files.get(table) ?? []) {
      const print = `${rows} ${prints.join(' ')}`;
      const first = seen.get(print);
      if (first === undefined) seen.set(print, file);
      else
        this.tellFirst(
          new BadInput(
            told(
              `holds the same ${rows} rows as ${first}; remove the copy`,
              `与 ${first} 是同样的 ${rows} 行；请删除副本`,
            ),
            { file, table },
          ),
        );
    }
    this.files.delete(table);
  }

  tell(problem: BadInput, limit = most): void {
    if (this.problems.length < limit) this.problems.push(problem.message);
  }

  /** What makes other problems comes before them, whenever it is found. */
  private tellFirst(problem: BadInput): void {
    if (this.copies < most) this.problems.splice(this.copies++, 0, problem.message);
  }

  private count(chunk: Chunk): void {
    const iteration = numbers(chunk, 'iteration');
    if (!iteration) return;
    // Rows of one iteration mostly follow one another.
    for (let from = 0, to = 1; from < chunk.rows; to++) {
      if (to < chunk.rows && iteration[to] === iteration[from]) continue;
      const key = Number(iteration[from]);
      this.samples.set(key, (this.samples.get(key) ?? 0) + to - from);
      from = to;
    }
  }

  private judgePointers(chunk: Chunk, problem: Tell): void {
    const sample = numbers(chunk, 'sample');
    const iteration = numbers(chunk, 'iteration');
    const source = numbers(chunk, 'source_iteration');
    if (!sample || !iteration || !this.recording.tables.includes('samples')) return;
    let [latest, count] = [Number.NaN, 0];
    for (let row = 0; row < chunk.rows; row++) {
      const from = Number(source && !Number.isNaN(Number(source[row])) ? source[row] : iteration[row]);
      if (from !== latest) [latest, count] = [from, this.samples.get(from) ?? 0];
      if (sample[row] < count) continue;
      problem(
        told(
          `points to sample ${sample[row]} of iteration ${from}, which has ${count} samples`,
          `指向迭代 ${from} 的样本 ${sample[row]}，而该迭代只有 ${count} 个样本`,
        ),
        'sample',
        row,
      );
      return;
    }
  }
}

type Tell = (what: string, column: string, row: number) => void;

function numbers(chunk: Chunk, name: string): NumberColumn['values'] | undefined {
  const column = chunk.columns.get(name);
  return column && column.kind !== 'text' && !column.offsets ? column.values : undefined;
}

function firstFrom(values: NumberColumn['values'], end: number): number {
  for (let i = 0; i < values.length; i++) if (values[i] >= end) return i;
  return -1;
}

/** A list may be missing from a row (length 0), but two lists of one row must agree, and the action must be in them. */
function judgeLists(chunk: Chunk, problem: Tell): void {
  const counts = numbers(chunk, 'num_actions');
  const action = numbers(chunk, 'action');
  const lists: { name: string; offsets: Lists['offsets'] }[] = [];
  for (const name of ['subset', 'legal', 'logits']) {
    const offsets = ragged(chunk, name)?.offsets;
    // Lists that begin and end where others do agree with them.
    if (offsets && !lists.some((other) => same(other.offsets, offsets))) lists.push({ name, offsets });
  }
  for (let row = 0; row < chunk.rows; row++) {
    let length = counts ? Number(counts[row]) : Number.NaN;
    for (const { name, offsets } of lists) {
      const own = offsets[row + 1] - offsets[row];
      if (own === 0) continue;
      if (own !== length && !Number.isNaN(length)) {
        problem(
          told(`has ${own} entries where the row has ${length} candidates`, `有 ${own} 项，而该行有 ${length} 个候选`),
          name,
          row,
        );
        return;
      }
      length = own;
    }
    if (action && action[row] >= length && action[row] > 0) {
      problem(
        told(
          `holds ${action[row]} where the row has ${length} candidates`,
          `含 ${action[row]}，而该行有 ${length} 个候选`,
        ),
        'action',
        row,
      );
      return;
    }
  }
}

interface Lists {
  values: NumberColumn['values'];
  offsets: NonNullable<NumberColumn['offsets']>;
}

function ragged(chunk: Chunk, name: string): Lists | undefined {
  const column = chunk.columns.get(name);
  return column && column.kind !== 'text' && column.offsets ? (column as Lists) : undefined;
}

function same(a: Lists['offsets'], b: Lists['offsets']): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return a.length === b.length;
}

/** Whether two rows list the same candidates, in whatever order. */
function sameCandidates(a: Lists, i: number, b: Lists, k: number): boolean {
  const [from, to] = [a.offsets[i], a.offsets[i + 1]];
  const other = b.offsets[k];
  // A row without a list says nothing of its candidates.
  if (to === from || b.offsets[k + 1] === other) return true;
  if (to - from !== b.offsets[k + 1] - other) return false;
  let at = 0;
  while (at < to - from && a.values[from + at] === b.values[other + at]) at++;
  if (at === to - from) return true;
  const left = Array.from(a.values.subarray(from, to), Number).sort((x, y) => x - y);
  const right = Array.from(b.values.subarray(other, b.offsets[k + 1]), Number).sort((x, y) => x - y);
  return left.every((id, n) => id === right[n]);
}
