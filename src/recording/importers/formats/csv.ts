/** Tables with a header: commas, tabs, semicolons, bars or blanks; quotes, CRLF, comments, a byte order mark, rows that are too short or too long; one column a figure or one row a figure. An empty cell is a number that was not logged, never zero or NaN. */
import { BadInput } from '../../bad-input.ts';
import { lines } from '../../files/text-lines.ts';
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

interface TableRow {
  line: number;
  cells: string[];
  delimiter: string;
}

async function* rows(source: ByteSource, budget: Budget): AsyncGenerator<TableRow> {
  let delimiter = '';
  // Pieces of a cell that goes over several lines; joined once, when its quote closes.
  let open: string[] = [];
  let length = 0;
  let began = 0;
  let line = 0;
  for await (const raw of lines(source, budget)) {
    line++;
    const text = raw.replace(/\r$/, '');
    if (open.length === 0) {
      began = line;
      // Programs put remarks before the header (Monitor's first line) and between rows; blank lines mean nothing.
      if (text.trim() === '' || text.startsWith('#')) continue;
      delimiter ||= sniff(text);
    }
    if (open.length > 0 ? !closes(text) : splitCells(text, delimiter) === undefined) {
      open.push(text);
      length += text.length;
      if (length > longestCell) break;
      continue;
    }
    const cells = splitCells(open.length > 0 ? [...open, text].join('\n') : text, delimiter);
    if (!cells) {
      open.push(text);
      length += text.length;
      continue;
    }
    open = [];
    length = 0;
    yield { line: began, cells, delimiter };
  }
  if (open.length > 0) throw new BadInput(`a quote that opens in line ${began} is never closed`, { file: source.name });
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
  let header: string[] | undefined;
  let columns: Columns | undefined;
  let [short, long, words, count] = [0, 0, 0, 0];
  const runs = new Set<string>();
  for await (const { line, cells, delimiter } of rows(source, budget)) {
    if (!header) {
      header = checkedHeader(cells, line, source.name);
      columns = chooseColumns(header, source.name, run);
      continue;
    }
    count++;
    if (cells.length < header.length) short++;
    if (cells.length > header.length) long++;
    const { step, time, owner, name, runs: runAt, values } = columns!;
    const number = (cell: string) => toNumber(delimiter === ';' ? decimalComma(cell) : cell);
    const at = (column: number) => (column < 0 ? Number.NaN : (number(cells[column] ?? '') ?? Number.NaN));
    if (runAt >= 0) {
      const own = (cells[runAt] ?? '').trim();
      if (runs.size < 1000) runs.add(own);
      if (run !== undefined && own !== run) continue;
    }
    const prefix = owner < 0 ? '' : ownerPrefix((cells[owner] ?? '').trim());
    for (const value of values) {
      const cell = cells[value.at];
      if (cell === undefined || cell.trim() === '') continue;
      const found = number(cell);
      if (found === undefined) words++;
      else log.add(prefix + (name < 0 ? value.name : (cells[name] ?? '').trim()), found, at(step), at(time));
    }
  }
  if (!header) throw new BadInput('is empty; a line of column names was expected', { file: source.name });
  if (count === 0) throw new BadInput('has a line of column names and no rows', { file: source.name });
  if (run === undefined && runs.size > 1) throw new SeveralRuns([...runs], source.name);
  if (run !== undefined && columns!.runs >= 0 && !runs.has(run)) throw noSuchRun(run, [...runs], source.name);
  const say = (what: string) => log.notices.push(`${source.name}: ${what}`);
  if (short > 0) say(`${short} of ${count} rows are shorter than the header; their missing cells count as not logged`);
  if (long > 0) say(`${long} of ${count} rows are longer than the header; their extra cells are left out`);
  if (words > 0) say(`${words} cells hold words instead of numbers and are left out`);
}

/** Where semicolons part the cells, a comma may part the digits. */
const decimalComma = (cell: string) => (/^\s*[-+]?\d*,\d+(e[-+]?\d+)?\s*$/i.test(cell) ? cell.replace(',', '.') : cell);

const ownerPrefix = (cell: string) => (cell === '' ? '' : /^\d+$/.test(cell) ? `agent_${cell}/` : `${cell}/`);

function noSuchRun(run: string, runs: readonly string[], file: string): BadInput {
  return new BadInput(`there is no run ${JSON.stringify(run)}; it holds ${runs.slice(0, 12).join(', ')}`, { file });
}

function checkedHeader(cells: string[], line: number, file: string): string[] {
  if (cells.length > mostColumns)
    throw new BadInput(`line ${line} has ${cells.length} columns; at most ${mostColumns} are read`, { file });
  const header = cells.map((cell) => cell.trim());
  if (header.some((name) => /[\0\uFFFD]/.test(name)))
    throw new BadInput('holds binary data; it is not a table of text', { file });
  const numbers = header.filter((name) => toNumber(name) !== undefined).length;
  if (numbers > header.length / 2)
    throw new BadInput(`line ${line} holds numbers where column names were expected; put a line of names at the top`, {
      file,
    });
  const seen = new Set<string>();
  for (const name of header) {
    if (name !== '' && seen.has(name))
      throw new BadInput(`two columns are called ${JSON.stringify(name)}; rename one of them`, { file });
    seen.add(name);
  }
  if (header.length < 2)
    throw new BadInput('has one column only; names separated by commas, tabs or semicolons were expected', { file });
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
function chooseColumns(header: string[], file: string, run: string | undefined): Columns {
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
  const monitor = header.includes('r') && header.includes('l') && header.includes('t');
  const values = header.flatMap((column, at) => {
    if (special.includes(at) || column === '' || (name >= 0 && at !== valueAt)) return [];
    const from = exported(column);
    if (from && run !== undefined && from.run !== run) return [];
    if (tag && at === valueAt) return [{ at, name: tag }];
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
