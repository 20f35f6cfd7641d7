/** One logged record of any nesting, as names with slashes. A list of records inside a record (epochs within an update) is so many records of the outer one's step. */
import type { Log } from './log.ts';
import { toNumber } from './log.ts';
import { ownerColumn, stepColumn, timeColumn } from './steps.ts';

export type Row = Record<string, unknown>;

export function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a record inherits from the one that holds it. */
interface Within {
  prefix: string;
  step: number;
  /** Whether that step was logged; then an epoch inside does not replace it. */
  stepped: boolean;
  time: number;
  depth: number;
}

const deepest = 12;

export function addRow(row: Row, log: Log, line: number): void {
  addWithin(row, log, { prefix: '', step: line, stepped: false, time: Number.NaN, depth: 0 });
}

/** The same of a record that holds numbers alone, at little cost: printed logs have millions. */
export function addNumbers(names: readonly string[], values: readonly number[], log: Log, line: number): void {
  const { step, time, owner } = columnsOf(names);
  const named = owner >= 0 && Number.isInteger(values[owner]);
  const at = step < 0 ? line : values[step];
  const when = time < 0 ? Number.NaN : values[time];
  for (let i = 0; i < names.length; i++) {
    if (i === time || i === step || (named && i === owner)) continue;
    log.add(named ? `agent_${values[owner]}/${names[i]}` : names[i], values[i], at, when);
  }
}

interface KnownColumns {
  step: number;
  time: number;
  owner: number;
}

/** Records of one log have the same names again and again; what those are is found once. */
const knownColumns = new Map<string, KnownColumns>();
const mostKnown = 256;
/** The latest of them. */
let known: { keys: readonly string[]; columns: KnownColumns } | undefined;

function columnsOf(keys: readonly string[]): KnownColumns {
  if (keys === known?.keys) return known.columns;
  const key = keys.join('\n');
  let found = knownColumns.get(key);
  if (!found) {
    if (knownColumns.size >= mostKnown) knownColumns.clear();
    found = { step: stepColumn(keys), time: timeColumn(keys), owner: ownerColumn(keys) };
    knownColumns.set(key, found);
  }
  known = { keys, columns: found };
  return found;
}

function addWithin(row: Row, log: Log, within: Within): void {
  const keys = Object.keys(row);
  const columns = columnsOf(keys);
  const step = within.stepped || columns.step < 0 ? undefined : keys[columns.step];
  const time = columns.time < 0 ? undefined : keys[columns.time];
  const own = step === undefined ? undefined : toNumber(row[step]);
  const { owner } = columns;
  const who = owner < 0 ? undefined : row[keys[owner]];
  const named = typeof who === 'string' || (typeof who === 'number' && Number.isInteger(who));
  const here: Within = {
    prefix: named ? `${within.prefix}${typeof who === 'number' ? `agent_${who}` : who}/` : within.prefix,
    step: own ?? within.step,
    stepped: within.stepped || own !== undefined,
    time: (time === undefined ? undefined : toNumber(row[time])) ?? within.time,
    depth: within.depth + 1,
  };
  for (const key of keys) {
    if (key === time || (key === step && own !== undefined) || (named && key === keys[owner])) continue;
    addValue(key, row[key], log, here, within.depth === 0);
  }
}

function addValue(key: string, value: unknown, log: Log, within: Within, top: boolean): void {
  const name = within.prefix + key;
  if (isRow(value)) {
    // RLlib repeats its whole configuration in every line.
    if (top && /^(config|args|hyperparameters|hparams|settings|params)$/i.test(key)) declare(value, log);
    // verl's file logger wraps what it logs.
    else if (within.depth < deepest)
      addWithin(value, log, { ...within, prefix: top && key === 'data' ? within.prefix : `${name}/` });
  } else if (Array.isArray(value)) {
    for (const item of value) {
      if (isRow(item) && within.depth < deepest) addWithin(item, log, { ...within, prefix: `${name}/` });
      else if (!isRow(item)) addNumber(name, item, log, within);
    }
  } else addNumber(name, value, log, within);
}

function addNumber(name: string, value: unknown, log: Log, { step, time }: Within): void {
  const number = toNumber(value);
  if (number !== undefined) log.add(name, number, step, time);
}

export function declare(config: Row, log: Log, prefix = ''): void {
  for (const [key, value] of Object.entries(config)) {
    if (typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean')
      log.declared.set(key, value);
    else if (isRow(value) && prefix.length < 64) declare(value, log, `${prefix}${key}/`);
  }
}
