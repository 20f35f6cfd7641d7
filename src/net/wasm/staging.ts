/** Rows on their way into the kernels' memory: copied as they lie, gathered by an order, or held there between calls. */
import type { DecisionRows, PolicyShape, Rows } from '../types.ts';
import type { KernelMemory } from './memory.ts';
import { Region } from './memory.ts';

/** Addresses of the columns; 0 where a column is not there. */
export interface Columns {
  obs: number;
  state: number;
  offsets: number;
  subset: number;
  legal: number;
  candidateFeatures: number;
  action: number;
  oldLogp: number;
  advantage: number;
  return: number;
  oldValue: number;
  weight: number;
  /** The most candidates of a row. */
  candidates: number;
}

const up = (bytes: number) => (bytes + 63) & ~63;

/** Checks what the kernels rely on: offsets that rise, and columns as long as they say. Returns the most candidates of a row. */
export function checkRows(rows: DecisionRows, shape: PolicyShape): number {
  const { length, offsets } = rows;
  let most = 0;
  if (offsets.length < length + 1) throw short('offsets', offsets.length, length + 1);
  for (let row = 0; row < length; row++) {
    const count = offsets[row + 1] - offsets[row];
    if (count < 1)
      throw new RangeError(
        `row ${row} has ${count} candidates (offsets ${offsets[row]} to ${offsets[row + 1]}); it needs at least 1.`,
      );
    if (count > most) most = count;
  }
  const items = offsets[length];
  const observation = shape.actor.inputs - shape.features;
  if (rows.obs.length < length * observation) throw short('obs', rows.obs.length, length * observation);
  if (rows.state.length < length * shape.critic.inputs)
    throw short('state', rows.state.length, length * shape.critic.inputs);
  if (rows.legal.length < items) throw short('legal', rows.legal.length, items);
  if (shape.head === 'fixed') {
    const { subset } = rows;
    const { outputs } = shape.actor;
    if (subset.length < items) throw short('subset', subset.length, items);
    for (let i = offsets[0]; i < items; i++) {
      if (subset[i] < 0 || subset[i] >= outputs) {
        throw new RangeError(`subset[${i}] is ${subset[i]}; a global action id must lie in 0 .. ${outputs - 1}.`);
      }
    }
  } else if (rows.candidateFeatures.length < items * shape.features) {
    throw short('candidateFeatures', rows.candidateFeatures.length, items * shape.features);
  }
  return most;
}

function short(column: string, got: number, wanted: number): RangeError {
  return new RangeError(`column ${column} has ${got} entries; these rows need ${wanted}.`);
}

/** The whole columns of some rows in a region of their own. */
export class Stage {
  readonly region: Region;
  private readonly memory: KernelMemory;
  private readonly shape: PolicyShape;

  constructor(memory: KernelMemory, shape: PolicyShape) {
    this.memory = memory;
    this.shape = shape;
    this.region = new Region(memory);
  }

  /** Copies rows as they lie, without what only an update needs. */
  copy(rows: DecisionRows, columns: Columns): void {
    const { shape } = this;
    columns.candidates = checkRows(rows, shape);
    const { length } = rows;
    const items = rows.offsets[length];
    this.place(columns, length, items, rows.state === rows.obs && sameInputs(shape), null);
    const { f32, i32, u8 } = this.memory;
    const observation = shape.actor.inputs - shape.features;
    put(f32, columns.obs, rows.obs, length * observation);
    if (columns.state !== columns.obs) put(f32, columns.state, rows.state, length * shape.critic.inputs);
    put(i32, columns.offsets, rows.offsets, length + 1);
    if (shape.head === 'fixed') put(i32, columns.subset, rows.subset, items);
    else put(f32, columns.candidateFeatures, rows.candidateFeatures, items * shape.features);
    if (rows.legal.length === items) u8.set(rows.legal, columns.legal);
    else u8.set(rows.legal.subarray(0, items), columns.legal);
  }

  /** Gathers rows order[0 .. n). */
  gather(rows: Rows, order: Int32Array, n: number, columns: Columns): void {
    const { shape } = this;
    let items = 0;
    for (let i = 0; i < n; i++) items += rows.offsets[order[i] + 1] - rows.offsets[order[i]];
    this.place(columns, n, items, rows.state === rows.obs && sameInputs(shape), rows);
    const { f32, i32, u8 } = this.memory;
    const observation = shape.actor.inputs - shape.features;
    gatherVectors(f32, columns.obs, rows.obs, observation, order, n);
    if (columns.state !== columns.obs) gatherVectors(f32, columns.state, rows.state, shape.critic.inputs, order, n);
    const { offsets, subset, legal, candidateFeatures } = rows;
    const fixed = shape.head === 'fixed';
    let item = 0;
    let most = 0;
    i32[columns.offsets >> 2] = 0;
    for (let i = 0; i < n; i++) {
      const row = order[i];
      const end = offsets[row + 1];
      for (let at = offsets[row]; at < end; at++) {
        u8[columns.legal + item] = legal[at];
        if (fixed) {
          const id = subset[at];
          if (!(id >= 0 && id < shape.actor.outputs)) {
            throw new RangeError(
              `subset[${at}] is ${id}; a global action id must lie in 0 .. ${shape.actor.outputs - 1}.`,
            );
          }
          i32[(columns.subset >> 2) + item] = id;
        } else {
          const base = (columns.candidateFeatures >> 2) + item * shape.features;
          for (let k = 0; k < shape.features; k++) f32[base + k] = candidateFeatures[at * shape.features + k];
        }
        item++;
      }
      const count = end - offsets[row];
      if (!(count >= 1)) throw new RangeError(`row ${row} has ${count} candidates; it needs at least 1.`);
      if (count > most) most = count;
      i32[(columns.offsets >> 2) + i + 1] = item;
    }
    columns.candidates = most;
    gatherScalars(i32, columns.action, rows.action, order, n);
    gatherScalars(f32, columns.oldLogp, rows.oldLogp, order, n);
    gatherScalars(f32, columns.advantage, rows.advantage, order, n);
    gatherScalars(f32, columns.return, rows.return, order, n);
    gatherScalars(f32, columns.oldValue, rows.oldValue, order, n);
    if (rows.weight) gatherScalars(f32, columns.weight, rows.weight, order, n);
  }

  private place(columns: Columns, n: number, items: number, shared: boolean, full: Rows | null): void {
    const { shape } = this;
    let offset = 0;
    const take = (bytes: number) => {
      const at = offset;
      offset += up(bytes + 16);
      return at;
    };
    const obs = take(n * (shape.actor.inputs - shape.features) * 4);
    const state = shared ? obs : take(n * shape.critic.inputs * 4);
    const offsets = take((n + 1) * 4);
    const candidates = shape.head === 'fixed' ? take(items * 4) : take(items * shape.features * 4);
    const legal = take(items);
    const scalars = full ? take(n * 6 * 4) : 0;
    const base = this.region.ensure(offset);
    columns.obs = base + obs;
    columns.state = base + state;
    columns.offsets = base + offsets;
    columns.subset = shape.head === 'fixed' ? base + candidates : 0;
    columns.candidateFeatures = shape.head === 'fixed' ? 0 : base + candidates;
    columns.legal = base + legal;
    const scalar = (index: number) => (full ? base + scalars + index * n * 4 : 0);
    columns.action = scalar(0);
    columns.oldLogp = scalar(1);
    columns.advantage = scalar(2);
    columns.return = scalar(3);
    columns.oldValue = scalar(4);
    columns.weight = full?.weight ? scalar(5) : 0;
  }
}

export function emptyColumns(): Columns {
  return {
    obs: 0,
    state: 0,
    offsets: 0,
    subset: 0,
    legal: 0,
    candidateFeatures: 0,
    action: 0,
    oldLogp: 0,
    advantage: 0,
    return: 0,
    oldValue: 0,
    weight: 0,
    candidates: 0,
  };
}

function sameInputs(shape: PolicyShape): boolean {
  return shape.actor.inputs - shape.features === shape.critic.inputs;
}

/** Copies the first `count` entries of a column to an address. */
export function put<T extends Float32Array | Int32Array>(words: T, at: number, column: T, count: number): void {
  const base = at >> 2;
  // A loop beats the call for a few entries.
  if (count <= 32) for (let i = 0; i < count; i++) words[base + i] = column[i];
  else words.set(column.length === count ? column : column.subarray(0, count), base);
}

export function take<T extends Float32Array | Int32Array>(words: T, at: number, column: T, count: number): void {
  const base = at >> 2;
  if (count <= 32) for (let i = 0; i < count; i++) column[i] = words[base + i];
  else column.set(words.subarray(base, base + count));
}

function gatherVectors(
  f32: Float32Array,
  at: number,
  column: Float32Array,
  width: number,
  order: Int32Array,
  n: number,
): void {
  let out = at >> 2;
  for (let i = 0; i < n; i++) {
    const start = order[i] * width;
    for (let k = 0; k < width; k++) f32[out++] = column[start + k];
  }
}

function gatherScalars<T extends Float32Array | Int32Array>(
  words: T,
  at: number,
  column: T,
  order: Int32Array,
  n: number,
): void {
  let out = at >> 2;
  for (let i = 0; i < n; i++) words[out++] = column[order[i]];
}

/** Rows that stay in the kernels' memory. */
export class HeldRows {
  readonly columns = emptyColumns();
  readonly region: Region;
  /** Policies whose shape these rows were checked against. */
  private readonly checked = new WeakSet<object>();
  private readonly memory: KernelMemory;

  constructor(memory: KernelMemory) {
    this.memory = memory;
    this.region = new Region(memory);
  }

  copy(rows: Rows): void {
    const { columns, memory } = this;
    const names = [
      'obs',
      'state',
      'offsets',
      'subset',
      'candidateFeatures',
      'action',
      'oldLogp',
      'advantage',
      'return',
      'oldValue',
      'weight',
      'legal',
    ] as const;
    let offset = 0;
    for (const name of names) {
      const column = rows[name];
      columns[name] = column ? offset : -1;
      if (name === 'state' && rows.state === rows.obs) columns.state = columns.obs;
      else if (column) offset += up(column.byteLength + 16);
    }
    const base = this.region.ensure(offset);
    for (const name of names) {
      const column = rows[name];
      columns[name] = column ? base + columns[name] : 0;
      if (!column || (name === 'state' && rows.state === rows.obs)) continue;
      if (column instanceof Float32Array) memory.f32.set(column, columns[name] >> 2);
      else if (column instanceof Int32Array) memory.i32.set(column, columns[name] >> 2);
      else memory.u8.set(column, columns[name]);
    }
  }

  check(rows: Rows, policy: { shape: PolicyShape }): void {
    if (this.checked.has(policy)) return;
    this.columns.candidates = checkRows(rows, policy.shape);
    this.checked.add(policy);
  }
}
