/** Logs that are JSON: one object per line (or a Python dictionary as TRL prints it, or verl's console lines), or one value of any nesting: lists of records, records of lists, runs of updates of epochs. */
import { told } from '../../../language/language.ts';
import { BadInput } from '../../bad-input.ts';
import { parsePythonJson } from '../../files/json.ts';
import { blocksOfLines } from '../../files/text-lines.ts';
import type { Budget, ByteSource } from '../../source.ts';
import { type Log, toNumber } from '../log.ts';
import { addRow, declare, isRow, type Row } from '../record.ts';
import { stepColumn } from '../steps.ts';

/** A whole JSON file that is one object or a list is read at once; this is the most it may hold. */
const largestWhole = 1 << 26;
/** Deeper than anybody nests a log. */
const deepest = 64;

export async function readJsonLog(source: ByteSource, log: Log, budget: Budget): Promise<void> {
  const say = (what: string) => log.notices.push(`${source.name}: ${what}`);
  let others = 0;
  let rows = 0;
  let last = false;
  let first: Row | undefined;
  for await (const block of blocksOfLines(source, budget)) {
    for (const line of block) {
      const text = line.trim();
      if (text === '') continue;
      const row = parseLogLine(text);
      last = row === undefined;
      // One object alone may be a whole log; that is known when the second line comes, or none.
      if (row && rows === 0) first = row;
      if (row) {
        if (rows === 1) addRow(first!, log, 1);
        if (++rows > 1) addRow(row, log, rows);
      } else others++;
      // An object that is spread over many lines is no log of lines.
      if (rows === 0 && others === 1 && /^[[{]/.test(text)) {
        readValue(await readWhole(source), log, source.name, false);
        return;
      }
    }
  }
  if (rows === 0)
    throw new BadInput(
      told(
        'holds no line that is a JSON object; one object per line was expected',
        '没有一行是 JSON 对象；应每行一个对象',
      ),
      { file: source.name },
    );
  if (rows === 1) readValue(first, log, source.name, true);
  if (others === 1 && last)
    say(
      told(
        `the last line is cut off and left out; the ${rows} lines before it are kept`,
        `最后一行被截断，略去；之前的 ${rows} 行保留`,
      ),
    );
  else if (others > 0)
    say(
      told(
        `${others} lines are no objects and are left out; ${rows} were read`,
        `有 ${others} 行不是对象，略去；读取了 ${rows} 行`,
      ),
    );
}

export function parseLogLine(text: string): Row | undefined {
  if (text[0] === '{') {
    // Most lines are JSON as they are, so Python's notation is made only where they are not.
    for (const attempt of [() => text, () => fromPython(text)]) {
      try {
        const value = parsePythonJson(attempt());
        if (isRow(value)) return value;
      } catch (error) {
        if (error instanceof BadInput) throw error;
        // Not this notation.
      }
    }
    return undefined;
  }
  const pairs = verlPairs(text)?.map(([name, value]) => [name, toNumber(value)] as const);
  return pairs && Object.fromEntries(pairs.filter(([name, value]) => name !== '' && value !== undefined));
}

/** `step:3 - actor/ppo_kl:0.001 - ...`, as verl prints it: names and numbers as they are written. */
export function verlPairs(text: string): [name: string, value: string][] | undefined {
  if (!text.includes('step:')) return undefined;
  const console = /(?:^|\s)(step:\d+ - .*)$/.exec(text);
  return console?.[1].split(' - ').map((part) => {
    const colon = part.lastIndexOf(':');
    return [part.slice(0, colon).trim(), part.slice(colon + 1)];
  });
}

const pythonWords: Record<string, string> = { nan: 'NaN', inf: 'Infinity', None: 'null', True: 'true', False: 'false' };

/** Words and quotes as JSON has them. One pass from left to right, whatever the text: a quote that never closes must not be sought again from every other. */
function fromPython(text: string): string {
  const out: string[] = [];
  const token = /'|"|\b(?:nan|inf|None|True|False)\b/g;
  const inString = { "'": /['\\]/g, '"': /["\\]/g };
  let from = 0;
  for (let found = token.exec(text); found; found = token.exec(text)) {
    const [word] = found;
    out.push(text.slice(from, found.index));
    from = token.lastIndex;
    if (word !== "'" && word !== '"') {
      out.push(pythonWords[word]);
      continue;
    }
    const mark = inString[word];
    mark.lastIndex = from;
    let end = mark.exec(text);
    while (end && end[0] === '\\') {
      mark.lastIndex++;
      end = mark.exec(text);
    }
    if (!end) return text;
    const inside = text.slice(from, end.index);
    out.push(inside.includes('"') ? text.slice(found.index, mark.lastIndex) : `"${inside}"`);
    from = mark.lastIndex;
    token.lastIndex = from;
  }
  return out.join('') + text.slice(from);
}

async function readWhole(source: ByteSource): Promise<unknown> {
  const bad = (what: string) => new BadInput(what, { file: source.name });
  if (source.size > largestWhole)
    throw bad(
      told(
        'is one JSON value of more than 64 MiB; one object per line was expected',
        '是一个超过 64 MiB 的 JSON 值；应每行一个对象',
      ),
    );
  try {
    return parsePythonJson(new TextDecoder('utf-8', { fatal: true }).decode(await source.read(0, source.size)));
  } catch (error) {
    if (error instanceof BadInput) throw error.within({ file: source.name });
    throw bad(
      told(
        `is not JSON, nor one object per line (${(error as Error).message.slice(0, 120)})`,
        `不是 JSON，也不是每行一个对象（${(error as Error).message.slice(0, 120)}）`,
      ),
    );
  }
}

/** One value that is the whole log. */
function readValue(value: unknown, log: Log, file: string, line: boolean): void {
  const before = log.rows;
  if (Array.isArray(value)) {
    value.forEach((row, i) => {
      if (isRow(row)) addRow(row, log, i + 1);
    });
  } else if (isRow(value)) {
    readObject(value, '', log);
    // A line alone that holds neither lists nor rows by number is one record: the log has just begun.
    if (log.rows === before && line) addRow(value, log, 1);
  }
  if (log.rows === before)
    throw new BadInput(
      told(
        'holds no logged numbers; a list of records (such as log_history of a trainer_state.json), lists of numbers by name, or one object per line was expected',
        '没有记录的数字；应是记录的列表（例如 trainer_state.json 的 log_history）、按名称的数字列表，或每行一个对象',
      ),
      { file },
    );
}

/** Lists of numbers are columns, lists of records and objects with numbers for keys are rows, whatever level they stand at. */
function readObject(object: Row, prefix: string, log: Log, depth = 0): void {
  if (depth > deepest)
    throw new BadInput(
      told(`nests its objects more than ${deepest} deep; that is no log`, `对象嵌套超过 ${deepest} 层；这不是日志`),
    );
  const { steps, values } = object;
  // Sacred's metrics.json: an object for each figure, with its numbers and their steps.
  if (prefix !== '' && isColumn(values) && isColumn(steps)) {
    values.forEach((item, i) => {
      const number = toNumber(item);
      if (number !== undefined) log.add(prefix.slice(0, -1), number, toNumber(steps[i]) ?? i + 1);
    });
    return;
  }
  const entries = Object.entries(object);
  const numbered = entries.length > 1 && entries.every(([key, value]) => /^\d+$/.test(key) && isRow(value));
  if (numbered) {
    for (const [key, row] of entries) addRow(wrapped(row as Row, prefix), log, Number(key));
    return;
  }
  const byEntry = entries.map(([key, value]) => (isColumn(value) ? [[key, value] as const] : tableColumns(key, value)));
  const columns = byEntry.flat();
  const step = stepColumn(columns.map(([key]) => key));
  columns.forEach(([key, values], at) => {
    if (at === step) return;
    values.forEach((item, i) => {
      const number = toNumber(item);
      if (number !== undefined)
        log.add(prefix + key, number, (step < 0 ? undefined : toNumber(columns[step][1][i])) ?? i + 1);
    });
  });
  for (const [at, [key, value]] of entries.entries()) {
    if (byEntry[at].length > 0) continue;
    if (Array.isArray(value)) {
      const own =
        /^(log_history|history|data|logs?|records|updates|iterations|steps|epochs|episodes|metrics|results)$/i.test(
          key,
        );
      value.forEach((row, i) => {
        if (isRow(row)) addRow(wrapped(row, own ? prefix : `${prefix}${key}/`), log, i + 1);
      });
    } else if (isRow(value)) {
      if (/^(config|args|hyperparameters|hparams|settings|params)$/i.test(key)) declare(value, log);
      else readObject(value, `${prefix}${key}/`, log, depth + 1);
    }
  }
}

const isColumn = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.length > 0 && value.some((item) => toNumber(item) !== undefined) && !value.some(isRow);

const mostAgents = 64;

/** A list of lists of one length is a figure of so many agents, whichever of the two counts them: there are more updates than agents. */
function tableColumns(key: string, value: unknown): [name: string, values: unknown[]][] {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isColumn)) return [];
  const lists = value as unknown[][];
  const [{ length }] = lists;
  if (lists.some((list) => list.length !== length)) return [];
  const agents = Math.min(length, lists.length);
  if (agents < 2 || agents > mostAgents) return [];
  return Array.from({ length: agents }, (_, agent) => [
    `${key}_agent_${agent}`,
    lists.length < length ? lists[agent] : lists.map((list) => list[agent]),
  ]);
}

/** A record of a named part: its numbers go below that name, its step stays its own. */
function wrapped(row: Row, prefix: string): Row {
  if (prefix === '') return row;
  const keys = Object.keys(row);
  const step = stepColumn(keys);
  return Object.fromEntries(keys.map((key, i) => [i === step ? key : prefix + key, row[key]]));
}
