/** From the tables of a recording to curves: one for each named number and each agent or policy. Reads each chunk file once, so a growing run costs what is new. */

import type { Manifest } from '../../recording/manifest.ts';
import type { FileChunk, Recording } from '../../recording/recording.ts';

export interface Curve {
  /** Unique within a run: name and owner. */
  key: string;
  name: string;
  /** The policy or the agent it is about; empty where it is about the whole run. */
  owner: string;
  kind: 'reading' | 'return' | 'step' | 'counter';
  iteration: Float64Array;
  /** Decisions of learning agents so far, and seconds since 1970; NaN where not known. */
  step: Float64Array;
  time: Float64Array;
  value: Float64Array;
}

/** What a trainer tells of one iteration: readings by policy, mean returns by agent. */
export interface ToldIteration {
  iteration: number;
  step: number;
  time: number;
  readings: readonly Readonly<Record<string, number>>[];
  returns: readonly number[];
}

class Growing {
  readonly iteration: number[] = [];
  readonly step: number[] = [];
  readonly time: number[] = [];
  readonly value: number[] = [];

  constructor(
    readonly name: string,
    readonly owner: string,
    readonly kind: Curve['kind'],
  ) {}

  push(iteration: number, step: number, time: number, value: number): void {
    this.iteration.push(iteration);
    this.step.push(step);
    this.time.push(time);
    this.value.push(value);
  }
}

/** A mean over rows of one iteration that may be spread over chunk files. */
interface OpenMean {
  iteration: number;
  sum: number;
  count: number;
}

/** Episodes that make one point where a recording does not say which iteration they belong to. */
const episodesPerPoint = 100;

const stepColumns = [
  'approx_kl',
  'clip_fraction',
  'entropy',
  'policy_loss',
  'value_loss',
  'grad_norm',
  'learning_rate',
];

export class CurveReader {
  private readonly curves = new Map<string, Growing>();
  private readonly open = new Map<string, OpenMean>();
  private readonly clock = new Map<number, { step: number; time: number }>();
  private readonly scalarNames = new Set<string>();
  private episodesSeen = 0;

  constructor(private readonly manifest: Pick<Manifest, 'agents' | 'policies'>) {}

  /** Points of all curves so far. */
  get points(): number {
    let sum = 0;
    for (const { value } of this.curves.values()) sum += value.length;
    return sum;
  }

  /** Takes in every chunk of the recording; hand it only chunks that it has not had. */
  async read(recording: Recording, onFile?: (file: string) => void): Promise<void> {
    for (const [table, take] of [
      ['scalars', (chunk: FileChunk) => this.scalars(chunk)],
      ['episodes', (chunk: FileChunk) => this.episodes(chunk)],
      ['steps', (chunk: FileChunk) => this.steps(chunk)],
      ['counters', (chunk: FileChunk) => this.counters(chunk)],
    ] as const) {
      if (!recording.tables.includes(table)) continue;
      for await (const chunk of recording.chunks(table)) {
        take(chunk);
        onFile?.(chunk.file);
      }
    }
  }

  /** Takes in what a trainer reports of an iteration that has just ended: the same points as its tables will give, before they are written. */
  report(told: ToldIteration): void {
    const { iteration, step, time } = told;
    this.clock.set(iteration, { step, time });
    for (const [policy, readings] of told.readings.entries())
      for (const [name, value] of Object.entries(readings))
        if (Number.isFinite(value))
          this.curve('reading', name, this.policyName(policy)).push(iteration, step, time, value);
    for (const [agent, value] of told.returns.entries())
      if (Number.isFinite(value))
        this.curve('return', 'return', this.agentName(agent)).push(iteration, step, time, value);
  }

  list(): Curve[] {
    const all = [...this.curves.values()].map((growing) => this.finished(growing));
    return all.filter((curve) => curve.value.length > 0).sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  private curve(kind: Curve['kind'], name: string, owner: string): Growing {
    const key = `${kind} ${name} ${owner}`;
    let found = this.curves.get(key);
    if (!found) {
      found = new Growing(name, owner, kind);
      this.curves.set(key, found);
    }
    return found;
  }

  private scalars(chunk: FileChunk): void {
    const names = chunk.columns.get('name');
    const value = numbers(chunk, 'value');
    if (names?.kind !== 'text' || !value) return;
    const iteration = numbers(chunk, 'iteration');
    const step = numbers(chunk, 'step');
    const time = numbers(chunk, 'time');
    const policy = numbers(chunk, 'policy');
    const agent = numbers(chunk, 'agent');
    for (let row = 0; row < chunk.rows; row++) {
      const name = names.values[row];
      const at = iteration?.(row) ?? Number.NaN;
      const steps = step?.(row) ?? Number.NaN;
      const seconds = time?.(row) ?? Number.NaN;
      if (at >= 0 && !this.clock.has(at)) this.clock.set(at, { step: steps, time: seconds });
      this.scalarNames.add(name);
      const owner = this.agentName(agent?.(row)) || this.policyName(policy?.(row));
      this.curve('reading', name, owner).push(at, steps, seconds, value(row));
    }
  }

  private episodes(chunk: FileChunk): void {
    const agent = numbers(chunk, 'agent');
    const value = numbers(chunk, 'return');
    const iteration = numbers(chunk, 'iteration');
    if (!agent || !value) return;
    for (let row = 0; row < chunk.rows; row++) {
      const at = iteration ? iteration(row) : Math.floor(this.episodesSeen++ / episodesPerPoint);
      this.mean('return', 'return', this.agentName(agent(row)), at, value(row));
    }
  }

  private steps(chunk: FileChunk): void {
    const iteration = numbers(chunk, 'iteration');
    const policy = numbers(chunk, 'policy');
    if (!iteration) return;
    for (const name of stepColumns) {
      const value = numbers(chunk, name);
      if (!value) continue;
      for (let row = 0; row < chunk.rows; row++)
        this.mean('step', name, this.policyName(policy?.(row) ?? 0), iteration(row), value(row));
    }
  }

  private counters(chunk: FileChunk): void {
    const names = chunk.columns.get('name');
    const iteration = numbers(chunk, 'iteration');
    const agent = numbers(chunk, 'agent');
    const value = numbers(chunk, 'value');
    if (names?.kind !== 'text' || !iteration || !agent || !value) return;
    for (let row = 0; row < chunk.rows; row++)
      this.curve('counter', names.values[row], this.agentName(agent(row))).push(
        iteration(row),
        Number.NaN,
        Number.NaN,
        value(row),
      );
  }

  /** Adds to the mean of an iteration; the one before is closed when another begins. */
  private mean(kind: Curve['kind'], name: string, owner: string, iteration: number, value: number): void {
    const key = `${kind} ${name} ${owner}`;
    const open = this.open.get(key);
    if (open && open.iteration === iteration) {
      open.sum += value;
      open.count++;
      return;
    }
    if (open) this.curve(kind, name, owner).push(open.iteration, Number.NaN, Number.NaN, open.sum / open.count);
    else this.curve(kind, name, owner);
    this.open.set(key, { iteration, sum: value, count: 1 });
  }

  private finished(growing: Growing): Curve {
    const { name, owner, kind } = growing;
    const key = `${kind} ${name} ${owner}`;
    const open = this.open.get(key);
    // The newest iteration may still be growing; it is shown as it stands.
    const tail = open && open.count > 0 ? [open] : [];
    const iteration = Float64Array.from([...growing.iteration, ...tail.map((item) => item.iteration)]);
    const value = Float64Array.from([...growing.value, ...tail.map((item) => item.sum / item.count)]);
    const step = new Float64Array(iteration.length);
    const time = new Float64Array(iteration.length);
    for (let i = 0; i < iteration.length; i++) {
      const clock = this.clock.get(iteration[i]);
      step[i] = Number.isFinite(growing.step[i]) ? growing.step[i] : (clock?.step ?? Number.NaN);
      time[i] = Number.isFinite(growing.time[i]) ? growing.time[i] : (clock?.time ?? Number.NaN);
    }
    return { key, name, owner, kind, iteration, step, time, value };
  }

  private agentName(index: number | undefined): string {
    if (index === undefined || !(index >= 0)) return '';
    return this.manifest.agents?.[index]?.name ?? `agent ${index}`;
  }

  private policyName(index: number | undefined): string {
    if (index === undefined || !(index >= 0)) return '';
    const { policies } = this.manifest;
    if (policies && policies.length === 1) return '';
    return policies?.[index]?.name ?? `policy ${index}`;
  }
}

/** A column as a function of the row, whatever its width. */
export function numbers(chunk: FileChunk, name: string): ((row: number) => number) | undefined {
  const column = chunk.columns.get(name);
  if (!column || column.kind === 'text' || column.offsets) return undefined;
  const { values } = column;
  return (row) => Number(values[row]);
}
