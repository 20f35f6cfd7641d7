/** Numbers read from a log, in the order of the log: what every importer fills. Names are kept as the log gives them; what they mean is decided later. Of a log that is larger than memory every second, fourth ... number of each name is kept, so `rows` is not how many there were: that is `read`. */
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';

/** Numbers that are kept before a log is thinned: 14 MiB, and of thirty columns seventeen thousand numbers each. */
const plenty = 2 ** 19;
/** Columns with no more numbers than these are never thinned: every figure of theirs may be the one that counts. */
const few = 512;
/** More than this would not fit in memory beside everything else, thinned or not. */
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
    super(
      told(
        `holds ${runs.length} runs (${shown}); choose one with --run`,
        `有 ${runs.length} 次训练（${shown}）；请用 --run 选择其一`,
      ),
      { file },
    );
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
  /** Names whose zeros are written with a fixed number of decimals, and what such a zero may stand for at most. */
  readonly rounding = new Map<string, number>();
  /** How many are kept, and how many there were. */
  rows = 0;
  read = 0;
  private readonly index = new Map<string, number>();
  private nameColumn = new Uint32Array(1024);
  private valueColumn = new Float64Array(1024);
  private stepColumn = new Float64Array(1024);
  private timeColumn = new Float64Array(1024);
  private grouped: Grouped | undefined;
  /** Per name: how many numbers are kept, one in how many, how many are still to be passed over, and whether the last one kept was finite. */
  private readonly kept: number[] = [];
  private readonly stride: number[] = [];
  private readonly wait: number[] = [];
  private readonly finite: boolean[] = [];
  private thinAt: number;

  /** `whole` keeps every number; its user empties it as it fills. */
  constructor(whole = false, enough = plenty) {
    this.thinAt = whole ? Number.POSITIVE_INFINITY : enough;
  }

  /** Whether numbers were passed over. */
  get thinned(): boolean {
    return this.rows < this.read;
  }

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
    this.put(this.at(name), value, step, time);
  }

  /** The number of a name, for readers that come back to it. */
  at(name: string): number {
    let at = this.index.get(name);
    if (at === undefined) {
      at = this.names.length;
      if (at >= mostNames)
        throw new BadInput(
          told(
            `holds more than ${mostNames.toLocaleString('en-US')} different names; it is no log`,
            `有超过 ${mostNames.toLocaleString('en-US')} 个不同的名称；这不是日志`,
          ),
        );
      this.names.push(name);
      this.index.set(name, at);
      this.kept.push(0);
      this.stride.push(1);
      this.wait.push(0);
      this.finite.push(true);
    }
    return at;
  }

  has(name: string): boolean {
    return this.index.has(name);
  }

  put(at: number, value: number, step: number, time: number): void {
    this.read++;
    if (this.rows >= this.thinAt) this.thin();
    const finite = Number.isFinite(value);
    if (this.wait[at] > 0) {
      this.wait[at]--;
      // The first number of a stretch that is not finite is never passed over.
      if (finite || !this.finite[at]) return;
    } else this.wait[at] = this.stride[at] - 1;
    this.finite[at] = finite;
    if (this.rows === this.valueColumn.length) this.grow();
    this.nameColumn[this.rows] = at;
    this.valueColumn[this.rows] = value;
    this.stepColumn[this.rows] = step;
    this.timeColumn[this.rows] = time;
    this.kept[at]++;
    this.rows++;
  }

  /** Notes how a number was written: 0.000 is anything below 0.0005, while 0 and 0.0 are how programs write a zero. */
  written(at: number, value: number, text: string): void {
    if (value !== 0 || text.length < 4) return;
    const decimals = /^\s*[-+]?0?\.(00+)\s*$/.exec(text)?.[1].length;
    if (decimals === undefined) return;
    const name = this.names[at];
    this.rounding.set(name, Math.max(this.rounding.get(name) ?? 0, 0.5 * 10 ** -decimals));
  }

  /** Forgets the numbers and keeps the names. */
  empty(): void {
    this.rows = 0;
    this.kept.fill(0);
  }

  /** Passes over every second number of the names that have many. */
  private thin(): void {
    const many = this.kept.map((count) => count > few);
    const odd = new Uint8Array(many.length);
    const finite = new Uint8Array(many.length).fill(1);
    let to = 0;
    for (let from = 0; from < this.rows; from++) {
      const at = this.nameColumn[from];
      if (many[at]) {
        const known = Number.isFinite(this.valueColumn[from]);
        const keep = odd[at] === 0 || (!known && finite[at] === 1);
        odd[at] ^= 1;
        if (!keep) {
          this.kept[at]--;
          continue;
        }
        finite[at] = known ? 1 : 0;
      }
      this.nameColumn[to] = at;
      this.valueColumn[to] = this.valueColumn[from];
      this.stepColumn[to] = this.stepColumn[from];
      this.timeColumn[to] = this.timeColumn[from];
      to++;
    }
    this.rows = to;
    many.forEach((thinned, at) => {
      if (!thinned) return;
      // The next one kept is as far from the last as all the others are from each other.
      if (odd[at] === 1) this.wait[at] += this.stride[at];
      this.stride[at] *= 2;
    });
    // Very many names with few numbers each: nothing is gained by thinning again at once.
    if (to > 0.75 * this.thinAt) this.thinAt *= 2;
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
      throw new BadInput(
        told(
          `holds more than ${most.toLocaleString('en-US')} numbers; log less often, or import a part`,
          `有超过 ${most.toLocaleString('en-US')} 个数字；请降低记录频率，或只导入一部分`,
        ),
      );
    const size = Math.min(most, this.thinAt > this.rows ? Math.min(this.thinAt, 2 * this.rows) : 2 * this.rows);
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
  const first = value.charCodeAt(0);
  if ((first >= 43 && first <= 57 && first !== 47) || first === 46) {
    const number = Number(value);
    // 0x10, 0b1 and 0o7 are numbers to JavaScript alone.
    if (Number.isFinite(number) && (value.charCodeAt(1) | 32) < 98) return number;
  }
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
