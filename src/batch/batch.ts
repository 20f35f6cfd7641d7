/** The rows of one iteration. A batch owns all its columns: it is re-ordered, sliced and copied only whole, so no column can follow an order of its own. */
import type { Actions } from '../distributions/distribution.ts';
import { type ColumnKind, plainRoom, type Room } from '../net/types.ts';
import { type ColumnArray, copyFloatSpan, copyRows, Runs } from './gather.ts';
import type { BatchShape } from './shape.ts';

export { type BatchShape, batchShape } from './shape.ts';

/** Bytes that one row takes, with as many candidates as it may have. */
export function rowBytes(shape: BatchShape): number {
  const { rows, slots, items } = layout(shape);
  const bytes = (columns: ColumnKinds) =>
    Object.values(columns).reduce((sum, [kind, width]) => sum + kind.BYTES_PER_ELEMENT * width, 0);
  return bytes(rows) + bytes(slots) + shape.candidates * bytes(items);
}

/**
 * One place for every column: its type and how many values it has. Those of `rows` move with the row. What is wide stays where it was written, and a
 * row says where: what it saw in a slot, its candidates one after the other among the items.
 */
function layout(shape: BatchShape) {
  const { observation, criticState, features, action } = shape;
  return {
    rows: {
      iteration: [Int32Array, 1],
      sample: [Int32Array, 1],
      episode: [Int32Array, 1],
      t: [Int32Array, 1],
      agent: [Int32Array, 1],
      seat: [Int32Array, 1],
      env: [Int32Array, 1],
      group: [Int32Array, 1],
      action: [action.array, action.width],
      slot: [Int32Array, 1],
      first: [Int32Array, 1],
      numActions: [Int32Array, 1],
      oldLogp: [Float32Array, 1],
      temperature: [Float32Array, 1],
      value: [Float32Array, 1],
      nextValue: [Float32Array, 1],
      reward: [Float32Array, 1],
      envReward: [Float32Array, 1],
      terminated: [Uint8Array, 1],
      truncated: [Uint8Array, 1],
      imagined: [Uint8Array, 1],
      advantage: [Float32Array, 1],
      return: [Float32Array, 1],
      valid: [Uint8Array, 1],
    },
    slots: { obs: [Float32Array, observation], state: [Float32Array, criticState] },
    items: {
      subset: [Int32Array, 1],
      legal: [Uint8Array, 1],
      logits: [Float32Array, 1],
      candidateFeatures: [Float32Array, features],
    },
  } as const;
}

type Layout = ReturnType<typeof layout>;
type ColumnName = keyof Layout['rows'] | keyof Layout['slots'] | keyof Layout['items'];
type ColumnKinds = Readonly<Record<string, readonly [ColumnKind<ColumnArray>, number]>>;

/** A column that can be read and not written. */
export interface ReadonlyColumn {
  readonly length: number;
  readonly [at: number]: number;
}

/** A batch as everybody sees it outside the stages: no column of it can be written, and no row moved. */
export type ReadonlyBatch = { readonly [name in ColumnName]: ReadonlyColumn } & Readonly<
  Pick<Batch, 'rows' | 'capacity' | 'shape' | 'firstUnsorted'>
>;

const minimumCapacity = 256;

export class Batch {
  rows = 0;
  capacity = 0;

  /** The iteration that collected the row, and its place in that iteration's storage order. */
  iteration: Int32Array = new Int32Array(0);
  sample: Int32Array = new Int32Array(0);
  /** The key: rows are sorted by (episode, t, agent) before credit is assigned. */
  episode: Int32Array = new Int32Array(0);
  t: Int32Array = new Int32Array(0);
  agent: Int32Array = new Int32Array(0);
  seat: Int32Array = new Int32Array(0);
  env: Int32Array = new Int32Array(0);
  /** A label where rows are treated by kind; -1 where there is none. */
  group: Int32Array = new Int32Array(0);
  /** Index into this row's own candidates. */
  action: Actions = new Int32Array(0);
  /** Where the row's `obs`, `state` and `extras` lie: value k of a column of that width is at slot * width + k. */
  slot: Int32Array = new Int32Array(0);
  /** Where the row's candidates begin in `subset`, `legal`, `logits` and (times features) `candidateFeatures`, and how many there are. */
  first: Int32Array = new Int32Array(0);
  numActions: Int32Array = new Int32Array(0);
  subset: Int32Array = new Int32Array(0);
  legal: Uint8Array = new Uint8Array(0);
  /** The logits that the action was sampled from, before temperature and mask. */
  logits: Float32Array = new Float32Array(0);
  candidateFeatures: Float32Array = new Float32Array(0);
  obs: Float32Array = new Float32Array(0);
  /** What a central critic saw; of width 0 where the critic sees the observation. */
  state: Float32Array = new Float32Array(0);
  oldLogp: Float32Array = new Float32Array(0);
  temperature: Float32Array = new Float32Array(0);
  /** Values, rewards, advantages and returns are in the units of the rewards. */
  value: Float32Array = new Float32Array(0);
  nextValue: Float32Array = new Float32Array(0);
  reward: Float32Array = new Float32Array(0);
  envReward: Float32Array = new Float32Array(0);
  terminated: Uint8Array = new Uint8Array(0);
  truncated: Uint8Array = new Uint8Array(0);
  imagined: Uint8Array = new Uint8Array(0);
  advantage: Float32Array = new Float32Array(0);
  return: Float32Array = new Float32Array(0);
  /** 1 where the replay before the first step gave the stored log-probability again. */
  valid: Uint8Array = new Uint8Array(0);
  extras: Float64Array[] = [];
  extraLengths: Int32Array[] = [];

  /** Slots and items in use. */
  private slots = 0;
  private items = 0;
  private slotCapacity = 0;
  private itemCapacity = 0;
  private readonly layout: Layout;
  private readonly spare: Record<string, ColumnArray> = {};
  private order = new Int32Array(0);
  private orderSpare = new Int32Array(0);
  private readonly runs = new Runs();

  constructor(
    readonly shape: BatchShape,
    /** Where columns are made that an engine reads. */
    readonly room: Room = plainRoom,
  ) {
    this.layout = layout(shape);
    this.extras = shape.extras.map(() => new Float64Array(0));
    this.extraLengths = shape.extras.map(() => new Int32Array(0));
  }

  clear(): void {
    this.rows = 0;
    this.slots = 0;
    this.items = 0;
  }

  /** Makes room for so many rows. Room is kept from one iteration to the next. */
  reserve(capacity: number): void {
    const slots = this.slots + capacity - this.rows;
    if (slots > this.slotCapacity) {
      this.slotCapacity = roomFor(slots, this.slotCapacity);
      this.grow(this.layout.slots, this.slotCapacity, this.room);
      this.extras = this.extras.map((old, i) => grown(old, this.slotCapacity * this.shape.extras[i].width));
      this.extraLengths = this.extraLengths.map((old) => grown(old, this.slotCapacity));
    }
    if (capacity > this.capacity) {
      this.capacity = roomFor(capacity, this.capacity);
      this.grow(this.layout.rows, this.capacity);
    }
  }

  /** So many new rows at the end; their columns are the caller's to fill. Returns the first of them. */
  extend(count: number): number {
    const first = this.rows;
    const end = first + count;
    this.reserve(end);
    this.rows = end;
    for (let row = first; row < end; row++) this.slot[row] = this.slots++;
    this.group.fill(-1, first, end);
    this.temperature.fill(1, first, end);
    for (const column of [this.reward, this.envReward, this.nextValue, this.advantage, this.return])
      column.fill(0, first, end);
    for (const column of [this.terminated, this.truncated, this.imagined]) column.fill(0, first, end);
    this.valid.fill(1, first, end);
    return first;
  }

  add(): number {
    return this.extend(1);
  }

  /** Writes what a row sees; zeros follow where its learner sees less than others. */
  see(row: number, from: Float32Array, at: number, width: number): void {
    const start = this.slot[row] * this.shape.observation;
    copyFloatSpan(from, at, this.obs, start, width);
    this.obs.fill(0, start + width, start + this.shape.observation);
  }

  /** The slot of the next row that is added; `reserve` has made room for it. */
  get nextSlot(): number {
    return this.slots;
  }

  /** Room for so many candidates at the end of the lists. Returns the first of them. */
  extendLists(count: number): number {
    const first = this.items;
    this.items += count;
    if (this.items > this.itemCapacity) {
      this.itemCapacity = roomFor(this.items, this.itemCapacity);
      this.grow(this.layout.items, this.itemCapacity, this.room);
    }
    return first;
  }

  /** Appends whole rows of another batch of the same shape, in the order given. */
  append(from: Batch, rows: ArrayLike<number>, count = rows.length): void {
    this.reserve(this.rows + count);
    const runs = this.runs.find(rows, count);
    this.copy(this.layout.rows, this.rows, from, runs);
    for (let i = 0; i < count; i++) {
      const row = this.rows + i;
      const slot = this.slots++;
      this.copy(this.layout.slots, slot, from, runs.one(from.slot[rows[i]], 1));
      this.extras.forEach((column, k) => {
        copyRows(column, slot, from.extras[k], runs, this.shape.extras[k].width);
        copyRows(this.extraLengths[k], slot, from.extraLengths[k], runs, 1);
      });
      const first = this.extendLists(from.numActions[rows[i]]);
      this.copy(this.layout.items, first, from, runs.one(from.first[rows[i]], from.numActions[rows[i]]));
      this.slot[row] = slot;
      this.first[row] = first;
    }
    this.rows += count;
  }

  /** Numbers the rows in their present order, which is from now on the order of storage. */
  number(): void {
    for (let row = 0; row < this.rows; row++) this.sample[row] = row;
  }

  /** Puts the whole batch into another order: row i becomes what row order[i] was. What is wide stays where it is. */
  reorder(order: Int32Array, count = this.rows): void {
    const { spare, runs } = this;
    const mine = this.columns();
    runs.find(order, count);
    for (const [name, [kind, width]] of Object.entries(this.layout.rows)) {
      const room = this.capacity * width;
      const into = spare[name]?.length === room ? spare[name] : new kind(room);
      copyRows(into, 0, mine[name], runs, width);
      [mine[name], spare[name]] = [into, mine[name]];
    }
    this.rows = count;
  }

  /** Sorts the whole batch by (episode, t, agent), keeping the order of equal rows. */
  sort(): void {
    const rows = this.rows;
    if (this.order.length < rows) {
      this.order = new Int32Array(this.capacity);
      this.orderSpare = new Int32Array(this.capacity);
    }
    for (let i = 0; i < rows; i++) this.order[i] = i;
    for (const key of [this.agent, this.t, this.episode]) this.sortOrderBy(key);
    let sorted = true;
    for (let i = 0; i < rows && sorted; i++) sorted = this.order[i] === i;
    if (!sorted) this.reorder(this.order, rows);
  }

  /** The first row that breaks the lexicographic order of (episode, t, agent), or -1. Neither t nor agent alone need rise. */
  firstUnsorted(): number {
    const { episode, t, agent } = this;
    for (let i = 1; i < this.rows; i++) {
      if (episode[i] > episode[i - 1]) continue;
      if (episode[i] < episode[i - 1]) return i;
      if (t[i] > t[i - 1]) continue;
      if (t[i] < t[i - 1] || agent[i] <= agent[i - 1]) return i;
    }
    return -1;
  }

  /** One stable counting pass per 16 bits that differ; linear in the rows. */
  private sortOrderBy(key: Int32Array): void {
    const rows = this.rows;
    let low = 2 ** 31;
    let high = -(2 ** 31);
    for (let i = 0; i < rows; i++) {
      if (key[i] < low) low = key[i];
      if (key[i] > high) high = key[i];
    }
    for (let shift = 0; shift < 32 && rows > 0 && (high - low) / 2 ** shift >= 1; shift += 16) {
      const buckets = Math.min(counts.length, Math.floor((high - low) / 2 ** shift) + 1);
      counts.fill(0, 0, buckets);
      for (let i = 0; i < rows; i++) counts[((key[i] - low) >>> shift) & 0xffff]++;
      let sum = 0;
      for (let d = 0; d < buckets; d++) {
        const here = counts[d];
        counts[d] = sum;
        sum += here;
      }
      for (let i = 0; i < rows; i++) {
        const row = this.order[i];
        this.orderSpare[counts[((key[row] - low) >>> shift) & 0xffff]++] = row;
      }
      [this.order, this.orderSpare] = [this.orderSpare, this.order];
    }
  }

  private columns(): Record<string, ColumnArray> {
    return this as unknown as Record<string, ColumnArray>;
  }

  private grow(kinds: ColumnKinds, room: number, where?: Room): void {
    const columns = this.columns();
    for (const [name, [, width]] of Object.entries(kinds)) columns[name] = grown(columns[name], room * width, where);
  }

  private copy(kinds: ColumnKinds, at: number, from: Batch, runs: Runs): void {
    const mine = this.columns();
    const theirs = from.columns();
    for (const [name, [, width]] of Object.entries(kinds)) copyRows(mine[name], at, theirs[name], runs, width);
  }
}

function roomFor(wanted: number, have: number): number {
  return Math.max(minimumCapacity, wanted, have * 2);
}

function grown<T extends ColumnArray>(column: T, length: number, room: Room = plainRoom): T {
  const longer = room.column(column.constructor as ColumnKind<T>, length);
  longer.set(column);
  return longer;
}

const counts = new Int32Array(65_536);
