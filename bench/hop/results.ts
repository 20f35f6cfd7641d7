/** Results of long protocols, kept in the project as one small file each: a later run goes on from there, and pages are written from them. */
import { existsSync, readFileSync } from 'node:fs';
import { writeWhole } from '../../src/recording/node.ts';

/** By what was measured and by seed. */
type Kept<T> = Record<string, Record<string, T>>;

export class Results<T> {
  constructor(private readonly file: string) {}

  private read(): Kept<T> {
    return existsSync(this.file) ? (JSON.parse(readFileSync(this.file, 'utf8')) as Kept<T>) : {};
  }

  has(what: string, seed: number): boolean {
    return this.read()[what]?.[seed] !== undefined;
  }

  /** In the order of the seeds, as far as they are known. */
  of(what: string, seeds: readonly number[]): T[] {
    const kept = this.read()[what] ?? {};
    return seeds.flatMap((seed) => kept[seed] ?? []);
  }

  /** The seeds of which everything that is listed is known. */
  whole(what: readonly string[], seeds: readonly number[]): number[] {
    const kept = this.read();
    return seeds.filter((seed) => what.every((one) => kept[one]?.[seed] !== undefined));
  }

  /** Numbers are kept to four digits after the point; one line for each thing measured. */
  async put(what: string, seed: number, value: T): Promise<void> {
    const kept = this.read();
    kept[what] = { ...kept[what], [seed]: value };
    const rounded = (_: string, one: unknown) => (typeof one === 'number' ? Math.round(one * 1e4) / 1e4 : one);
    const lines = Object.keys(kept)
      .sort()
      .map((key) => `${JSON.stringify(key)}: ${JSON.stringify(kept[key], rounded)}`);
    await writeWhole(this.file, [new TextEncoder().encode(`{\n${lines.join(',\n')}\n}\n`)]);
  }
}
