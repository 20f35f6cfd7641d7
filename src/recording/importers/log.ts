/** Numbers read from a log, in the order of the log: what every importer fills. Names are kept as the log gives them; what they mean is decided later. */
import { BadInput } from '../bad-input.ts';

/** More than this would not fit in memory beside everything else. */
const most = 50_000_000;

export class Log {
  readonly names: string[] = [];
  readonly name: number[] = [];
  readonly value: number[] = [];
  readonly step: number[] = [];
  readonly time: number[] = [];
  /** What the reader had to leave out or repair, one sentence each. */
  readonly notices: string[] = [];
  /** Settings that the log itself declares, by the names the log uses. */
  readonly declared = new Map<string, unknown>();
  private readonly index = new Map<string, number>();

  get rows(): number {
    return this.name.length;
  }

  add(name: string, value: number, step = Number.NaN, time = Number.NaN): void {
    let at = this.index.get(name);
    if (at === undefined) {
      at = this.names.length;
      this.names.push(name);
      this.index.set(name, at);
    }
    if (this.name.length >= most)
      throw new BadInput(`holds more than ${most.toLocaleString('en-US')} numbers; log less often, or import a part`);
    this.name.push(at);
    this.value.push(value);
    this.step.push(step);
    this.time.push(time);
  }

  /** The values of one name, in order. */
  valuesOf(name: string): number[] {
    const at = this.index.get(name);
    return this.value.filter((_, i) => this.name[i] === at);
  }
}

/** What a reader makes of one cell or JSON value: a number, or undefined where there is none. Blank is not NaN. */
export function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (text === '' || text.length > 64) return undefined;
  if (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text)) return Number(text);
  if (/^nan$/i.test(text)) return Number.NaN;
  const infinite = /^([-+]?)inf(inity)?$/i.exec(text);
  if (infinite) return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  // Printed tensors: tensor(0.0123) and tensor(0.0123, device='cuda:0').
  const tensor = /^tensor\(\s*([^,)]+)/.exec(text);
  return tensor ? toNumber(tensor[1]) : undefined;
}
