/** Tables with a header: CSV, TSV and semicolons; quotes, CRLF, a byte order mark, rows that are too short or too long. An empty cell is a number that was not logged, never zero or NaN. */
import { BadInput } from '../bad-input.ts';
import type { Budget, ByteSource } from '../source.ts';
import { lines } from '../text-lines.ts';
import { type Log, toNumber } from './log.ts';
import { stepColumn, timeColumn } from './steps.ts';

/** Cells of one logical line; a quoted cell may hold delimiters, doubled quotes and line ends. Undefined where a quote is still open. */
export function splitCells(line: string, delimiter: string): string[] | undefined {
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

async function* rows(source: ByteSource, budget: Budget): AsyncGenerator<{ line: number; cells: string[] }> {
  let delimiter = '';
  let open = '';
  let began = 0;
  let line = 0;
  for await (const raw of lines(source, budget)) {
    line++;
    const text = open + raw.replace(/\r$/, '');
    if (open === '') began = line;
    // Programs put remarks before the header (Monitor's first line); blank lines mean nothing.
    if (text.trim() === '' || (delimiter === '' && text.startsWith('#'))) continue;
    delimiter ||= sniff(text);
    const cells = splitCells(text, delimiter);
    if (!cells) {
      open = `${text}\n`;
      if (open.length > 1 << 20) break;
      continue;
    }
    open = '';
    yield { line: began, cells };
  }
  if (open !== '') throw new BadInput(`a quote that opens in line ${began} is never closed`, { file: source.name });
}

function sniff(header: string): string {
  const count = (delimiter: string) => splitCells(header, delimiter)?.length ?? 0;
  return [',', '\t', ';'].reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best));
}

/** `run` chooses among the runs of an export that holds several. */
export async function readCsv(source: ByteSource, log: Log, budget: Budget, run?: string): Promise<void> {
  let header: string[] | undefined;
  let columns: Columns | undefined;
  let [short, long, words, count] = [0, 0, 0, 0];
  for await (const { line, cells } of rows(source, budget)) {
    if (!header) {
      header = checkedHeader(cells, line, source.name);
      columns = chooseColumns(header, source.name, run);
      continue;
    }
    count++;
    if (cells.length < header.length) short++;
    if (cells.length > header.length) long++;
    const { step, time, values } = columns!;
    const stepValue = step < 0 ? Number.NaN : (toNumber(cells[step] ?? '') ?? Number.NaN);
    const timeValue = time < 0 ? Number.NaN : (toNumber(cells[time] ?? '') ?? Number.NaN);
    for (const { at, name } of values) {
      const cell = cells[at];
      if (cell === undefined || cell === '') continue;
      const value = toNumber(cell);
      if (value === undefined) words++;
      else log.add(name, value, stepValue, timeValue);
    }
  }
  if (!header) throw new BadInput('is empty; a line of column names was expected', { file: source.name });
  if (count === 0) throw new BadInput('has a line of column names and no rows', { file: source.name });
  const say = (what: string) => log.notices.push(`${source.name}: ${what}`);
  if (short > 0) say(`${short} of ${count} rows are shorter than the header; their missing cells count as not logged`);
  if (long > 0) say(`${long} of ${count} rows are longer than the header; their extra cells are left out`);
  if (words > 0) say(`${words} cells hold words instead of numbers and are left out`);
}

function checkedHeader(cells: string[], line: number, file: string): string[] {
  const header = cells.map((cell) => cell.trim());
  if (header.some((name) => /[\0\uFFFD]/.test(name)))
    throw new BadInput('holds binary data; it is not a table of text', { file });
  const numbers = header.filter((name) => toNumber(name) !== undefined).length;
  if (numbers > header.length / 2)
    throw new BadInput(`line ${line} holds numbers where column names were expected; put a line of names at the top`, {
      file,
    });
  const names = header.filter((name) => name !== '');
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    throw new BadInput(`two columns are called ${JSON.stringify(twice)}; rename one of them`, { file });
  if (header.length < 2)
    throw new BadInput('has one column only; names separated by commas, tabs or semicolons were expected', { file });
  return header;
}

interface Columns {
  step: number;
  time: number;
  values: { at: number; name: string }[];
}

/** Weights & Biases' exports call a column "run - metric"; TensorBoard's downloads call theirs Value and put the tag into the file's name. */
function chooseColumns(header: string[], file: string, run: string | undefined): Columns {
  const runs = new Set(header.flatMap((name) => exported(name)?.run ?? []));
  if (run !== undefined && runs.size > 0 && !runs.has(run))
    throw new BadInput(`there is no run ${JSON.stringify(run)}; it holds ${[...runs].join(', ')}`, { file });
  if (run === undefined && runs.size > 1)
    throw new BadInput(`holds ${runs.size} runs (${[...runs].join(', ')}); choose one with --run`, { file });
  const step = stepColumn(header.map((name) => exported(name)?.metric ?? name));
  const time = timeColumn(header);
  const tag = /tag-(.+)\.csv(\.gz)?$/.exec(file)?.[1];
  const values = header.flatMap((name, at) => {
    if (at === step || at === time || name === '') return [];
    const from = exported(name);
    if (from && run !== undefined && from.run !== run) return [];
    if (name.toLowerCase() === 'value' && tag) return [{ at, name: tag }];
    return [{ at, name: from ? from.metric : name }];
  });
  return { step, time, values };
}

function exported(name: string): { run: string; metric: string } | undefined {
  const match = /^(.+?) - (\S.*)$/.exec(name);
  return match ? { run: match[1], metric: match[2] } : undefined;
}
