/** What a recording holds: tables, rows, columns with their ranges, iterations, and the questions it cannot answer yet. */
import type { Column } from '../column.ts';
import { columnSpec, tableSpec } from '../columns.ts';
import type { Manifest } from '../manifest.ts';
import type { FileChunk, Recording } from '../recording.ts';
import { type Need, questionsOf, snapshots } from './needs.ts';

export interface ColumnSummary {
  name: string;
  kind: Column['kind'];
  ragged: boolean;
  /** Part of the format; an unknown column is kept and not judged. */
  known: boolean;
  /** Over finite values; absent where there are none, and for text. */
  min?: number;
  max?: number;
  mean?: number;
  /** NaN, and rows of chunks that lack the column. */
  unknown: number;
  infinite: number;
  /** Lengths of the lists of a ragged column. */
  shortest?: number;
  longest?: number;
  /** The first few different texts. */
  texts?: string[];
}

export interface TableSummary {
  name: string;
  known: boolean;
  files: number;
  rows: number;
  columns: ColumnSummary[];
}

export interface Inspection {
  format: 'trueline/inspection/1';
  name: string;
  manifest: Manifest;
  tables: TableSummary[];
  iterations: { first: number; last: number } | null;
  snapshots: string[];
  unanswered: { question: string; chinese: string; missing: string[] }[];
}

export async function inspect(
  recording: Recording,
  progress?: (done: number, all: number) => void,
): Promise<Inspection> {
  const parts = [recording, ...recording.ranks];
  const names = [...new Set(parts.flatMap((part) => part.tables))];
  const filesOf = (table: string) => parts.reduce((sum, part) => sum + part.chunkFiles(table).length, 0);
  const all = names.reduce((sum, table) => sum + filesOf(table), 0);
  const tables: TableSummary[] = [];
  let done = 0;
  for (const name of names) {
    const gathered = new Map<string, Gathered>();
    let rows = 0;
    let file = '';
    for await (const chunk of everyChunk(parts, name)) {
      if (chunk.file !== file) progress?.(++done, all);
      file = chunk.file;
      for (const [column, values] of chunk.columns) {
        const known = gathered.get(column) ?? new Gathered(column, values, columnSpec(name, column) !== undefined);
        gathered.set(column, known);
        known.add(values);
      }
      rows += chunk.rows;
    }
    const columns = [...gathered.values()].map((column) => column.summary(rows));
    const order = tableSpec(name)?.columns.map((column) => column.name) ?? [];
    const rank = (column: string) => (order.includes(column) ? order.indexOf(column) : order.length);
    columns.sort((a, b) => rank(a.name) - rank(b.name));
    tables.push({
      name,
      known: tableSpec(name) !== undefined,
      files: filesOf(name),
      rows,
      columns,
    });
  }
  const iterations = tables
    .flatMap((table) => table.columns)
    .filter((column) => column.name === 'iteration' && column.min !== undefined);
  const inspection: Inspection = {
    format: 'trueline/inspection/1',
    name: recording.name,
    manifest: recording.manifest,
    tables,
    iterations:
      iterations.length === 0
        ? null
        : {
            first: Math.min(...iterations.map((column) => column.min as number)),
            last: Math.max(...iterations.map((column) => column.max as number)),
          },
    snapshots: [...recording.snapshots],
    unanswered: [],
  };
  inspection.unanswered = questionsOf(tables.some(ofTokens)).flatMap((need) => unanswered(need, inspection));
  return inspection;
}

async function* everyChunk(parts: readonly Recording[], table: string): AsyncGenerator<FileChunk> {
  for (const part of parts) yield* part.chunks(table);
}

/** Language models have questions of their own, and most of the others are not asked of them. */
const ofTokens = ({ name, columns }: TableSummary) =>
  name === 'responses' || (name === 'samples' && columns.some((column) => column.name === 'token'));

function unanswered(need: Need, inspection: Inspection): { question: string; chinese: string; missing: string[] }[] {
  const has = (name: string): boolean => {
    if (name === snapshots) return inspection.snapshots.length > 0 && has('samples.obs');
    const [table, column] = name.split('.');
    const found = inspection.tables.find((item) => item.name === table);
    return (
      (found?.rows ?? 0) > 0 &&
      found?.columns.some((item) => item.name === column && item.unknown < (found?.rows ?? 0)) === true
    );
  };
  const missing = need.needs.filter((group) => !group.some(has)).map((group) => group.join(' or '));
  return missing.length > 0 ? [{ question: need.question, chinese: need.chinese, missing }] : [];
}

/** Running figures of one column, chunk by chunk. */
class Gathered {
  private rows = 0;
  private min = Number.POSITIVE_INFINITY;
  private max = Number.NEGATIVE_INFINITY;
  private sum = 0;
  private finite = 0;
  private unknown = 0;
  private infinite = 0;
  private shortest = Number.POSITIVE_INFINITY;
  private longest = 0;
  private readonly texts = new Set<string>();
  private readonly kind: Column['kind'];
  private readonly ragged: boolean;

  constructor(
    private readonly name: string,
    model: Column,
    private readonly known: boolean,
  ) {
    this.kind = model.kind;
    this.ragged = model.kind !== 'text' && model.offsets !== undefined;
  }

  add(column: Column): void {
    this.rows += column.rows;
    if (column.kind === 'text') {
      for (const text of column.values) if (this.texts.size < 50) this.texts.add(text);
      return;
    }
    for (let i = 0; i < column.values.length; i++) {
      const value = Number(column.values[i]);
      if (Number.isNaN(value) || (column.kind === 'bool' && value > 1)) this.unknown++;
      else if (Number.isFinite(value)) {
        if (value < this.min) this.min = value;
        if (value > this.max) this.max = value;
        this.sum += value;
        this.finite++;
      } else this.infinite++;
    }
    if (!column.offsets) return;
    for (let i = 0; i < column.rows; i++) {
      const length = column.offsets[i + 1] - column.offsets[i];
      if (length < this.shortest) this.shortest = length;
      if (length > this.longest) this.longest = length;
    }
  }

  summary(rows: number): ColumnSummary {
    const { name, kind, ragged, known, infinite } = this;
    const unknown = this.unknown + (rows - this.rows);
    const summary: ColumnSummary = { name, kind, ragged, known, unknown, infinite };
    if (this.finite > 0) Object.assign(summary, { min: this.min, max: this.max, mean: this.sum / this.finite });
    if (ragged && this.rows > 0) Object.assign(summary, { shortest: this.shortest, longest: this.longest });
    if (kind === 'text') summary.texts = [...this.texts].slice(0, 8);
    return summary;
  }
}
