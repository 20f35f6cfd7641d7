/** Tables with a header: commas, tabs, semicolons, bars or blanks; quotes, CRLF, comments, a byte order mark, rows that are too short or too long; one column a figure or one row a figure. An empty cell is a number that was not logged, never zero or NaN. */
import { told } from '../../../language/language.ts';
import { BadInput } from '../../bad-input.ts';
import { blocksOfLines } from '../../files/text-lines.ts';
import type { Budget, ByteSource } from '../../source.ts';
import { type Log, SeveralRuns, toNumber } from '../log.ts';
import { nameColumn, ownerColumn, runColumn, stepColumn, timeColumn } from '../steps.ts';

/** More columns than any log has, and as many as can be looked at in no time. */
const mostColumns = 100_000;
/** A quoted cell that goes on for longer was never closed. */
const longestCell = 1 << 20;

/** Cells of one logical line; a quoted cell may hold delimiters, doubled quotes and line ends. Undefined where a quote is still open. */
export function splitCells(line: string, delimiter: string): string[] | undefined {
  if (delimiter === ' ') return line.trim().split(/\s+/);
  if (!line.includes('"')) return line.split(delimiter);
  const cells: string[] = [];
  let at = 0;
  for (;;) {
    if (line[at] !== '"') {
      const end = line.indexOf(delimiter, at);
      cells.push(end < 0 ? line.slice(at) : line.slice(at, end));
      if (end < 0) return cells;
      at = end + 1;
      continue;
    }
    let cell = '';
    for (at++; ; at++) {
      const end = line.indexOf('"', at);
      if (end < 0) return undefined;
      cell += line.slice(at, end);
      at = end + 1;
      if (line[at] !== '"') break;
      cell += '"';
    }
    const end = line.indexOf(delimiter, at);
    cells.push(cell + (end < 0 ? line.slice(at) : line.slice(at, end)).trimEnd());
    if (end < 0) return cells;
    at = end + 1;
  }
}

/** Puts lines together to rows: a quoted cell may go over several of them. */
class Rows {
  delimiter = '';
  /** The line at which the last row began, from 1. */
  began = 0;
  private line = 0;
  // Pieces of a cell that goes over several lines; joined once, when its quote closes.
  private open: string[] = [];
  private length = 0;

  constructor(private readonly file: string) {}

  /** The cells of a row that ends with this line; undefined where none does. */
  next(raw: string): string[] | undefined {
    this.line++;
    const text = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    const inside = this.open.length > 0;
    if (!inside) {
      this.began = this.line;
      // Programs put remarks before the header (Monitor's first line) and between rows; blank lines mean nothing.
      if (text.trim() === '' || text.startsWith('#')) return undefined;
      this.delimiter ||= sniff(text);
    }
    const cells =
      inside && !closes(text) ? undefined : splitCells(inside ? [...this.open, text].join('\n') : text, this.delimiter);
    if (cells) {
      this.open = [];
      this.length = 0;
      return cells;
    }
    this.open.push(text);
    this.length += text.length;
    if (this.length > longestCell) this.end();
    return undefined;
  }

  end(): void {
    if (this.open.length > 0)
      throw new BadInput(
        told(`a quote that opens in line ${this.began} is never closed`, `第 ${this.began} 行打开的引号没有闭合`),
        { file: this.file },
      );
  }
}

/** Whether a line holds an odd number of quotes, and so closes a cell that is open. */
function closes(text: string): boolean {
  let quotes = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) quotes++;
  return quotes % 2 === 1;
}

function sniff(header: string): string {
  const count = (delimiter: string) => splitCells(header, delimiter)?.length ?? 0;
  const best = [',', '\t', ';', '|'].reduce((a, b) => (count(b) > count(a) ? b : a));
  return count(best) < 2 && count(' ') > 1 ? ' ' : best;
}

/** `run` chooses among the runs of a table that holds several. */
export async function readCsv(source: ByteSource, log: Log, budget: Budget, run?: string): Promise<void> {
  const rows = new Rows(source.name);
  let table: Table | undefined;
  for await (const block of blocksOfLines(source, budget)) {
    for (const line of block) {
      const cells = rows.next(line);
      if (!cells) continue;
      if (table) table.add(cells);
      else table = new Table(checkedHeader(cells, rows.began, source.name), rows.delimiter, source.name, log, run);
    }
  }
  rows.end();
  if (!table)
    throw new BadInput(told('is empty; a line of column names was expected', '是空的；应有一行列名'), {
      file: source.name,
    });
  table.end();
}

/** A table whose header is known: adds its rows to a log. */
class Table {
  private readonly columns: Columns;
  /** Per column of figures its number in the log, where the header alone names it; -1 until the first figure comes. */
  private readonly ids: Int32Array;
  private readonly runs = new Set<string>();
  private short = 0;
  private long = 0;
  private words = 0;
  private count = 0;

  constructor(
    private readonly header: readonly string[],
    private readonly delimiter: string,
    private readonly file: string,
    private readonly log: Log,
    private readonly run: string | undefined,
  ) {
    this.columns = chooseColumns(header, file, run);
    this.ids = new Int32Array(this.columns.values.length).fill(-1);
  }

  add(cells: readonly string[]): void {
    const { log, ids, run } = this;
    this.count++;
    if (cells.length < this.header.length) this.short++;
    if (cells.length > this.header.length) this.long++;
    const { owner, name, runs, values } = this.columns;
    if (runs >= 0) {
      const own = (cells[runs] ?? '').trim();
      if (this.runs.size < 1000) this.runs.add(own);
      if (run !== undefined && own !== run) return;
    }
    const step = this.at(cells, this.columns.step);
    const time = this.at(cells, this.columns.time);
    const prefix = owner < 0 ? '' : ownerPrefix((cells[owner] ?? '').trim());
    for (let i = 0; i < values.length; i++) {
      const cell = cells[values[i].at];
      if (cell === undefined || cell === '') continue;
      const found = this.number(cell);
      if (found === undefined) {
        if (cell.trim() !== '') this.words++;
        continue;
      }
      let id = ids[i];
      if (name >= 0 || owner >= 0) id = log.at(prefix + (name < 0 ? values[i].name : (cells[name] ?? '').trim()));
      else if (id < 0) id = ids[i] = log.at(values[i].name);
      log.put(id, found, step, time);
      if (found === 0) log.written(id, found, cell);
    }
  }

  end(): void {
    const { run, runs, short, long, words, count, file } = this;
    if (count === 0)
      throw new BadInput(told('has a line of column names and no rows', '只有一行列名，没有数据行'), { file });
    if (run === undefined && runs.size > 1) throw new SeveralRuns([...runs], file);
    if (run !== undefined && this.columns.runs >= 0 && !runs.has(run)) throw noSuchRun(run, [...runs], file);
    const say = (what: string) => this.log.notices.push(`${file}: ${what}`);
    if (short > 0)
      say(
        told(
          `${short} of ${count} rows are shorter than the header; their missing cells count as not logged`,
          `${count} 行中有 ${short} 行短于表头；缺少的格视为未记录`,
        ),
      );
    if (long > 0)
      say(
        told(
          `${long} of ${count} rows are longer than the header; their extra cells are left out`,
          `${count} 行中有 ${long} 行长于表头；多出的格略去`,
        ),
      );
    if (words > 0)
      say(
        told(`${words} cells hold words instead of numbers and are left out`, `有 ${words} 格是文字而不是数字，略去`),
      );
  }

  private number(cell: string): number | undefined {
    return toNumber(this.delimiter === ';' ? decimalComma(cell) : cell);
  }

  private at(cells: readonly string[], column: number): number {
    return column < 0 ? Number.NaN : (this.number(cells[column] ?? '') ?? Number.NaN);
  }
}

/** Where semicolons part the cells, a comma may part the digits, and dots or blanks the thousands. */
const decimalComma = (cell: string) =>
  /^\s*[-+]?(\d*|\d{1,3}(?:[. \u00a0\u202f']\d{3})+),\d+(e[-+]?\d+)?\s*$/i.test(cell)
    ? cell
        .trim()
        .replaceAll(/[. \u00a0\u202f']/g, '')
        .replace(',', '.')
    : cell;

const ownerPrefix = (cell: string) => (cell === '' ? '' : /^\d+$/.test(cell) ? `agent_${cell}/` : `${cell}/`);

function noSuchRun(run: string, runs: readonly string[], file: string): BadInput {
  return new BadInput(
    told(
      `there is no run ${JSON.stringify(run)}; it holds ${runs.slice(0, 12).join(', ')}`,
      `没有训练 ${JSON.stringify(run)}；其中有 ${runs.slice(0, 12).join(', ')}`,
    ),
    { file },
  );
}

function checkedHeader(cells: string[], line: number, file: string): string[] {
  if (cells.length > mostColumns)
    throw new BadInput(
      told(
        `line ${line} has ${cells.length} columns; at most ${mostColumns} are read`,
        `第 ${line} 行有 ${cells.length} 列；最多读取 ${mostColumns} 列`,
      ),
      { file },
    );
  const header = cells.map((cell) => cell.trim());
  if (header.some((name) => /[\0\uFFFD]/.test(name)))
    throw new BadInput(told('holds binary data; it is not a table of text', '含二进制数据；不是文本表格'), { file });
  const numbers = header.filter((name) => toNumber(name) !== undefined).length;
  if (numbers > header.length / 2)
    throw new BadInput(
      told(
        `line ${line} holds numbers where column names were expected; put a line of names at the top`,
        `第 ${line} 行是数字，而应是列名；请在最上面加一行列名`,
      ),
      {
        file,
      },
    );
  const seen = new Set<string>();
  for (const name of header) {
    if (name !== '' && seen.has(name))
      throw new BadInput(
        told(
          `two columns are called ${JSON.stringify(name)}; rename one of them`,
          `有两列都叫 ${JSON.stringify(name)}；请改其中一个的名称`,
        ),
        { file },
      );
    seen.add(name);
  }
  if (header.length < 2)
    throw new BadInput(
      told(
        'has one column only; names separated by commas, tabs or semicolons were expected',
        '只有一列；应是用逗号、制表符或分号隔开的名称',
      ),
      { file },
    );
  return header;
}

interface Columns {
  step: number;
  time: number;
  /** Says whose a row is. */
  owner: number;
  /** Of a table with a row for each number: says which figure it is. */
  name: number;
  /** Says which run a row is of. */
  runs: number;
  values: { at: number; name: string }[];
}

/** What Stable-Baselines3's Monitor calls an episode's return, length and time. */
const monitorNames: Record<string, string> = { r: 'episode_return', l: 'episode_length', t: 'time_elapsed' };

/** Weights & Biases' exports call a column "run - metric"; TensorBoard's downloads call theirs Value and put the tag into the file's name. */
function chooseColumns(header: readonly string[], file: string, run: string | undefined): Columns {
  const exportedRuns = new Set(header.flatMap((name) => exported(name)?.run ?? []));
  if (run !== undefined && exportedRuns.size > 0 && !exportedRuns.has(run))
    throw noSuchRun(run, [...exportedRuns], file);
  if (run === undefined && exportedRuns.size > 1) throw new SeveralRuns([...exportedRuns], file);
  const tag = /tag-(.+)\.csv(\.gz)?$/.exec(file)?.[1];
  const valueAt = header.findIndex((name) => /^value$/i.test(name));
  const name = valueAt >= 0 && !tag ? nameColumn(header) : -1;
  const [step, time, owner] = [
    stepColumn(header.map((column) => exported(column)?.metric ?? column)),
    timeColumn(header),
    ownerColumn(header),
  ];
  const runs = exportedRuns.size > 0 ? -1 : runColumn(header);
  const special = [step, time, owner, name, runs];
  const pfrl = ['steps', 'episodes', 'elapsed', 'mean', 'stdev'].every((name) => header.includes(name));
  const monitor = header.includes('r') && header.includes('l') && header.includes('t');
  const values = header.flatMap((column, at) => {
    if (special.includes(at) || column === '' || (name >= 0 && at !== valueAt)) return [];
    const from = exported(column);
    if (from && run !== undefined && from.run !== run) return [];
    if (tag && at === valueAt) return [{ at, name: tag }];
    // What PFRL's scores.txt calls its episodes' returns.
    if (pfrl && column === 'mean') return [{ at, name: 'episode_return' }];
    if (monitor && monitorNames[column]) return [{ at, name: monitorNames[column] }];
    return [{ at, name: from ? from.metric : column }];
  });
  return { step, time, owner, name, runs, values };
}

function exported(name: string): { run: string; metric: string } | undefined {
  // Not a pattern: one that must reach the end starts over at every dash.
  for (let at = name.indexOf(' - ', 1); at > 0; at = name.indexOf(' - ', at + 1))
    if (/\S/.test(name[at + 3] ?? '')) return { run: name.slice(0, at), metric: name.slice(at + 3) };
  return undefined;
}
