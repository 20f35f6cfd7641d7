/** Rows on their way to the kernels: a column of the engine's room is read where it lies, and of any other the rows that are asked for are copied. */
import type { DecisionRows, PolicyShape, Rows } from '../types.ts';
import type { KernelMemory } from './memory.ts';
import { Region } from './memory.ts';

const decisionColumns = ['obs', 'state', 'offsets', 'subset', 'legal', 'candidateFeatures'] as const;
const updateColumns = ['action', 'oldLogp', 'advantage', 'return', 'oldValue', 'weight'] as const;
type ColumnName = (typeof decisionColumns)[number] | (typeof updateColumns)[number];

/** Addresses of the columns; 0 where a column is not there. */
export interface Columns extends Record<ColumnName, number> {
  /** The most candidates of a row. */
  candidates: number;
}

/** Rows `list[0 .. count)`, or the first `count` where there is no list. */
interface Chosen {
  list: Int32Array | null;
  count: number;
}

/** Checks what the kernels rely on: offsets that rise, ids that are there (where they do not look themselves), and columns as long as they say. Returns the most candidates of a row. */
function checkRows(rows: DecisionRows, shape: PolicyShape, { list, count }: Chosen, ids: boolean): number {
  const { offsets, subset, legal } = rows;
  const length = list ? rows.length : count;
  if (offsets.length < length + 1) throw short('offsets', offsets.length, length + 1);
  const observation = shape.actor.inputs - shape.features;
  if (rows.obs.length < length * observation) throw short('obs', rows.obs.length, length * observation);
  if (rows.state.length < length * shape.critic.inputs)
    throw short('state', rows.state.length, length * shape.critic.inputs);
  const fixed = shape.head === 'fixed';
  const { outputs } = shape.actor;
  let most = 0;
  let items = 0;
  for (let i = 0; i < count; i++) {
    const row = list ? list[i] : i;
    const start = offsets[row];
    const end = offsets[row + 1];
    if (end - start < 1 || start < 0)
      throw new RangeError(
        `row ${row} has ${end - start} candidates (offsets ${start} to ${end}); it needs at least 1.`,
      );
    if (end - start > most) most = end - start;
    if (end > items) items = end;
    if (!fixed) continue;
    if (end > subset.length) throw short('subset', subset.length, end);
    for (let at = start; ids && at < end; at++) {
      if (subset[at] < 0 || subset[at] >= outputs)
        throw new RangeError(`subset[${at}] is ${subset[at]}; a global action id must lie in 0 .. ${outputs - 1}.`);
    }
  }
  if (legal.length < items) throw short('legal', legal.length, items);
  if (!fixed && rows.candidateFeatures.length < items * shape.features)
    throw short('candidateFeatures', rows.candidateFeatures.length, items * shape.features);
  return most;
}

function short(column: string, got: number, wanted: number): RangeError {
  return new RangeError(`column ${column} has ${got} entries; these rows need ${wanted}.`);
}

/** Finds the rows of one policy, or brings them into memory of its own. */
export class Stage {
  private readonly columns: Columns;
  private readonly regions: Record<ColumnName, Region>;

  constructor(
    private readonly memory: KernelMemory,
    private readonly shape: PolicyShape,
    /** Whether the kernels look at ids while they work, and set `wrong`. */
    private readonly looked: boolean,
  ) {
    const names = [...decisionColumns, ...updateColumns];
    const perColumn = <T>(make: () => T) =>
      Object.fromEntries(names.map((name) => [name, make()])) as Record<ColumnName, T>;
    this.columns = { ...perColumn(() => 0), candidates: 0 };
    this.regions = perColumn(() => new Region(memory));
  }

  /** What a decision is made from. */
  decisions(rows: DecisionRows, chosen: Chosen): Columns {
    const { shape, columns } = this;
    columns.candidates = checkRows(rows, shape, chosen, !this.looked);
    const { offsets } = rows;
    const observation = shape.actor.inputs - shape.features;
    const both = rows.state === rows.obs && observation === shape.critic.inputs;
    columns.obs = this.find('obs', rows.obs, observation, chosen);
    columns.state = both ? columns.obs : this.find('state', rows.state, shape.critic.inputs, chosen);
    columns.offsets = this.find('offsets', offsets, 1, {
      list: null,
      count: (chosen.list ? rows.length : chosen.count) + 1,
    });
    columns.legal = this.find('legal', rows.legal, 1, chosen, offsets);
    if (shape.head === 'fixed') columns.subset = this.find('subset', rows.subset, 1, chosen, offsets);
    else
      columns.candidateFeatures = this.find(
        'candidateFeatures',
        rows.candidateFeatures,
        shape.features,
        chosen,
        offsets,
      );
    return columns;
  }

  /** Throws what is wrong with rows whose ids the kernels found wrong. */
  refuse(rows: DecisionRows, chosen: Chosen): void {
    checkRows(rows, this.shape, chosen, true);
  }

  /** The critic's inputs alone. */
  states(state: Float32Array, count: number): Columns {
    this.columns.state = this.find('state', state, this.shape.critic.inputs, { list: null, count });
    return this.columns;
  }

  /** All that an update needs. */
  update(rows: Rows, chosen: Chosen): Columns {
    const { columns } = this;
    this.decisions(rows, chosen);
    for (const name of updateColumns) {
      const column = rows[name];
      if (column && column.length < rows.length) throw short(name, column.length, rows.length);
      columns[name] = column ? this.find(name, column, 1, chosen) : 0;
    }
    return columns;
  }

  /** The address of a column. One that must be copied is copied row by row to the places that the rows have in it; `offsets` say where rows of several entries begin. */
  private find(
    name: ColumnName,
    column: Float32Array | Int32Array | Uint8Array,
    width: number,
    { list, count }: Chosen,
    offsets?: Int32Array,
  ): number {
    const there = this.memory.addressOf(column);
    if (there !== 0) return there;
    const size = column.BYTES_PER_ELEMENT;
    const entries = list ? column.length : (offsets ? offsets[count] : count) * width;
    const address = this.regions[name].ensure(entries * size);
    const { f32, i32, u8 } = this.memory;
    const into = column instanceof Float32Array ? f32 : column instanceof Int32Array ? i32 : u8;
    if (list === null) {
      put(into, address, column, entries);
      return address;
    }
    const base = address / size;
    for (let i = 0; i < count; i++) {
      const row = list[i];
      const end = (offsets ? offsets[row + 1] : row + 1) * width;
      for (let k = (offsets ? offsets[row] : row) * width; k < end; k++) into[base + k] = column[k];
    }
    return address;
  }
}

/** Copies the first `count` entries of a column to an address. */
export function put<T extends Float32Array | Int32Array | Uint8Array>(
  into: T,
  at: number,
  column: T,
  count: number,
): void {
  const base = at / into.BYTES_PER_ELEMENT;
  // A loop beats the call for a few entries.
  if (count <= 32) for (let i = 0; i < count; i++) into[base + i] = column[i];
  else into.set(column.length === count ? column : column.subarray(0, count), base);
}

export function take<T extends Float32Array | Int32Array>(words: T, at: number, column: T, count: number): void {
  const base = at >> 2;
  if (count <= 32) for (let i = 0; i < count; i++) column[i] = words[base + i];
  else column.set(words.subarray(base, base + count));
}
