/** Logs of one object per line (JSON, or a Python dictionary as TRL prints it, or verl's console lines), and trainer_state.json. Nested objects become names with slashes. */
import { BadInput } from '../bad-input.ts';
import { parsePythonJson } from '../json.ts';
import type { Budget, ByteSource } from '../source.ts';
import { lines } from '../text-lines.ts';
import { type Log, toNumber } from './log.ts';
import { stepColumn, timeColumn } from './steps.ts';

type Row = Record<string, unknown>;

/** A whole JSON file that is one object or a list is read at once; this is the most it may hold. */
const largestWhole = 1 << 28;

export async function readJsonLog(source: ByteSource, log: Log, budget: Budget): Promise<void> {
  const say = (what: string) => log.notices.push(`${source.name}: ${what}`);
  let others = 0;
  let rows = 0;
  let last = false;
  for await (const line of lines(source, budget)) {
    const text = line.trim();
    if (text === '') continue;
    const row = parseLogLine(text);
    last = row === undefined;
    if (row && Array.isArray(row.log_history)) {
      readHistory(row, log, source.name);
      return;
    }
    if (row) addRow(row, log, ++rows);
    else others++;
    // An object that is spread over many lines is no log of lines.
    if (rows === 0 && others === 1 && /^\[|^\{$/.test(text)) {
      await readWhole(source, log);
      return;
    }
  }
  if (rows === 0)
    throw new BadInput('holds no line that is a JSON object; one object per line was expected', { file: source.name });
  if (others === 1 && last) say(`the last line is cut off and left out; the ${rows} lines before it are kept`);
  else if (others > 0) say(`${others} lines are no objects and are left out; ${rows} were read`);
}

function parseLogLine(text: string): Row | undefined {
  if (text[0] === '{') {
    for (const attempt of [text, fromPython(text)]) {
      try {
        const value = parsePythonJson(attempt);
        if (isRow(value)) return value;
      } catch (error) {
        if (error instanceof BadInput) throw error;
        // Not this notation.
      }
    }
    return undefined;
  }
  const console = /(?:^|\s)(step:\d+ - .*)$/.exec(text);
  if (!console) return undefined;
  const pairs = console[1].split(' - ').map((part) => {
    const colon = part.lastIndexOf(':');
    return [part.slice(0, colon).trim(), toNumber(part.slice(colon + 1))] as const;
  });
  return Object.fromEntries(pairs.filter(([name, value]) => name !== '' && value !== undefined));
}

function fromPython(text: string): string {
  return text
    .replace(/'((?:[^'"\\]|\\.)*)'/g, '"$1"')
    .replace(/\bnan\b/g, 'NaN')
    .replace(/\binf\b/g, 'Infinity')
    .replace(/\bNone\b/g, 'null')
    .replace(/\bTrue\b/g, 'true')
    .replace(/\bFalse\b/g, 'false');
}

async function readWhole(source: ByteSource, log: Log): Promise<void> {
  const bad = (what: string) => new BadInput(what, { file: source.name });
  if (source.size > largestWhole) throw bad('is one JSON value of more than 256 MiB; one object per line was expected');
  let value: unknown;
  try {
    value = parsePythonJson(new TextDecoder('utf-8', { fatal: true }).decode(await source.read(0, source.size)));
  } catch (error) {
    if (error instanceof BadInput) throw error.within({ file: source.name });
    throw bad(`is not JSON, nor one object per line (${(error as Error).message.slice(0, 120)})`);
  }
  readHistory(value, log, source.name);
}

function readHistory(value: unknown, log: Log, file: string): void {
  const bad = (what: string) => new BadInput(what, { file });
  const history = isRow(value) ? (value.log_history ?? value.history ?? value.data) : value;
  if (!Array.isArray(history) || !history.every(isRow))
    throw bad(
      'holds no list of logged objects; log_history of a trainer_state.json, or one object per line, was expected',
    );
  history.forEach((row, i) => {
    addRow(row, log, i + 1);
  });
  if (history.length === 0) throw bad('holds an empty list of logged objects');
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function addRow(row: Row, log: Log, line: number): void {
  const cells: [string, number][] = [];
  flatten(row, '', cells, log, 0);
  const names = cells.map(([name]) => name);
  const step = stepColumn(names);
  const time = timeColumn(names);
  const stepValue = step < 0 ? line : cells[step][1];
  const timeValue = time < 0 ? Number.NaN : cells[time][1];
  cells.forEach(([name, value], i) => {
    if (i !== step && i !== time) log.add(name, value, stepValue, timeValue);
  });
}

function flatten(row: Row, prefix: string, cells: [string, number][], log: Log, depth: number): void {
  for (const [key, value] of Object.entries(row)) {
    const name = prefix + key;
    if (isRow(value)) {
      // RLlib repeats its whole configuration in every line.
      if (depth === 0 && (key === 'config' || key === 'args')) declare(value, log);
      // verl's file logger wraps what it logs.
      else if (depth < 8) flatten(value, depth === 0 && key === 'data' ? '' : `${name}/`, cells, log, depth + 1);
      continue;
    }
    const number = toNumber(value);
    if (number !== undefined) cells.push([name, number]);
  }
}

function declare(config: Row, log: Log): void {
  for (const [key, value] of Object.entries(config))
    if (typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean')
      log.declared.set(key, value);
}
