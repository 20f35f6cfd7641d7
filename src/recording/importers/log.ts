/** Numbers read from a log, in the order of the log: what every importer fills. Names are kept as the log gives them; what they mean is decided later. */
import { BadInput } from '../bad-input.ts';

/** More than this would not fit in memory beside everything else. */
const most = 50_000_000;
/** More names than any log has; beyond it the file is none. */
const mostNames = 200_000;

/** A file that holds several runs, and nobody has said which is meant. */
export class SeveralRuns extends BadInput {
  constructor(
    readonly runs: readonly string[],
    file: string,
  ) {
    const shown = `${runs.slice(0, 6).join(', ')}${runs.length > 6 ? ' ...' : ''}`;
    super(`holds ${runs.length} runs (${shown}); choose one with --run`, { file });
  }
}

interface Grouped {
  rows: number;
  /** Where the values of each name begin. */
  starts: Uint32Array;
  values: Float64Array;
}

export class Log {
  readonly names: string[] = [];
  /** What the reader had to leave out or repair, one sentence each. */
  readonly notices: string[] = [];
  /** Settings that the log itself declares, by the names the log uses. */
  readonly declared = new Map<string, unknown>();
  rows = 0;
  private readonly index = new Map<string, number>();
  private nameColumn = new Uint32Array(1024);
  private valueColumn = new Float64Array(1024);
  private stepColumn = new Float64Array(1024);
  private timeColumn = new Float64Array(1024);
  private grouped: Grouped | undefined;

  get name(): Uint32Array {
    return this.nameColumn.subarray(0, this.rows);
  }

  get value(): Float64Array {
    return this.valueColumn.subarray(0, this.rows);
  }

  get step(): Float64Array {
    return this.stepColumn.subarray(0, this.rows);
  }

  get time(): Float64Array {
    return this.timeColumn.subarray(0, this.rows);
  }

  add(name: string, value: number, step = Number.NaN, time = Number.NaN): void {
    let at = this.index.get(name);
    if (at === undefined) {
      at = this.names.length;
      if (at >= mostNames)
        throw new BadInput(`holds more than ${mostNames.toLocaleString('en-US')} different names; it is no log`);
      this.names.push(name);
      this.index.set(name, at);
    }
    if (this.rows === this.valueColumn.length) this.grow();
    this.nameColumn[this.rows] = at;
    this.valueColumn[this.rows] = value;
    this.stepColumn[this.rows] = step;
    this.timeColumn[this.rows] = time;
    this.rows++;
  }

  /** The values of one name, in order. */
  valuesOf(name: string): number[] {
    const at = this.index.get(name);
    if (at === undefined) return [];
    if (this.grouped?.rows !== this.rows) this.grouped = this.group();
    const { starts, values } = this.grouped;
    return Array.from(values.subarray(starts[at], starts[at + 1]));
  }

  /** All values, those of one name after the other: sought one by one, a hundred thousand names would take as many passes. */
  private group(): Grouped {
    const starts = new Uint32Array(this.names.length + 1);
    for (let i = 0; i < this.rows; i++) starts[this.nameColumn[i] + 1]++;
    for (let at = 0; at < this.names.length; at++) starts[at + 1] += starts[at];
    const next = starts.slice();
    const values = new Float64Array(this.rows);
    for (let i = 0; i < this.rows; i++) values[next[this.nameColumn[i]]++] = this.valueColumn[i];
    return { rows: this.rows, starts, values };
  }

  private grow(): void {
    if (this.rows >= most)
      throw new BadInput(`holds more than ${most.toLocaleString('en-US')} numbers; log less often, or import a part`);
    const size = Math.min(most, 2 * this.rows);
    const larger = <T extends Uint32Array | Float64Array>(from: T, to: T): T => {
      to.set(from);
      return to;
    };
    this.nameColumn = larger(this.nameColumn, new Uint32Array(size));
    this.valueColumn = larger(this.valueColumn, new Float64Array(size));
    this.stepColumn = larger(this.stepColumn, new Float64Array(size));
    this.timeColumn = larger(this.timeColumn, new Float64Array(size));
  }
}

/** What a reader makes of one cell or JSON value: a number, or undefined where there is none. Blank is not NaN. */
export function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  if (value.length > 128) return undefined;
  const text = value.trim();
  if (text === '') return undefined;
  if (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text)) return Number(text);
  if (/^nan$/i.test(text)) return Number.NaN;
  const infinite = /^([-+]?)inf(inity)?$/i.exec(text);
  if (infinite) return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  // Printed tensors: tensor(0.0123) and tensor(0.0123, device='cuda:0').
  const tensor = /^tensor\(\s*([^,)]+)/.exec(text);
  return tensor ? toNumber(tensor[1]) : undefined;
}
