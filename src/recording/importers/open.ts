/** Opens a log as a recording that has only the table `scalars`. Which files are a log is decided in find.ts. */
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import type { Manifest } from '../manifest.ts';
import { Recording } from '../recording.ts';
import { Budget, type ByteSource, memoryStore, type Store, type WritableStore } from '../source.ts';
import { RecordingWriter, type WriterOptions } from '../writer.ts';
import { findLogs, kindNames, type LogSource } from './find.ts';
import { readConsole } from './formats/console.ts';
import { readCsv } from './formats/csv.ts';
import { readJsonLog } from './formats/json-log.ts';
import { readMlflowMetric, readMlflowParam } from './formats/mlflow.ts';
import { readEvents } from './formats/tensorboard.ts';
import { readWandb } from './formats/wandb.ts';
import { Log, SeveralRuns } from './log.ts';
import { type Recognised, recognise } from './recognise.ts';
import { knownSettings, parseMaps } from './said.ts';

export interface LogOptions {
  /** Bytes that packed files may expand to. */
  maxSize?: number;
  /** `metric=column`, or `metric=-column` where the log holds the negated figure. */
  map?: readonly string[];
  /** Which run, where there are several. */
  run?: string;
  /** What the log does not say of its own settings, such as epochs and minibatches. */
  settings?: Record<string, number>;
}

export interface ImportedLog {
  name: string;
  kind: string;
  files: string[];
  rows: number;
  columns: Recognised[];
  notices: string[];
  manifest: Manifest;
  log: Log;
  /** Reads the same again into another log; `pause` is awaited before every piece of a file. */
  reread(log: Log, pause: () => Promise<void>): Promise<void>;
}

/** One file as a store of its own, by its own name and not by where it lies: what is made of it is the same everywhere. */
export function fileStore(source: ByteSource, path = lastPart(source.name)): Store {
  return { name: source.name, list: async () => [path], open: async () => source };
}

/** The one log of a store; where there are several, `options.run` names it. */
export async function importLog(store: Store, options: LogOptions = {}): Promise<ImportedLog> {
  const logs = await findLogs(store);
  const { run } = options;
  const within = (name: string) =>
    run === undefined || name === run || name.startsWith(`${run}/`) || run.startsWith(`${name}/`);
  const chosen = logs.length > 1 ? logs.filter(({ name }) => within(name)) : logs;
  if (logs.length === 0)
    throw new BadInput(
      told(
        'holds neither a recording (manifest.json) nor a log: event files, progress.csv, progress.json, trainer_state.json, *.csv, *.json, *.jsonl, *.log, *.wandb or mlruns were looked for',
        '里既没有记录（manifest.json），也没有日志：找过事件文件、progress.csv、progress.json、trainer_state.json、*.csv、*.json、*.jsonl、*.log、*.wandb 和 mlruns',
      ),
      { file: store.name },
    );
  const shown = (some: readonly LogSource[]) =>
    `${some
      .slice(0, 6)
      .map(({ name }) => name)
      .join(', ')}${some.length > 6 ? ' ...' : ''}`;
  if (chosen.length === 0)
    throw new BadInput(
      told(
        `there is no run ${JSON.stringify(run)}; it holds ${shown(logs)}`,
        `没有训练 ${JSON.stringify(run)}；其中有 ${shown(logs)}`,
      ),
      { file: store.name },
    );
  if (chosen.length > 1)
    throw new SeveralRuns(
      chosen.map(({ name }) => name),
      store.name,
    );
  return readLog(store, chosen[0], options);
}

/** One log that `findLogs` has found. */
export async function readLog(store: Store, source: LogSource, options: LogOptions = {}): Promise<ImportedLog> {
  const { kind, files, left } = source;
  const log = new Log();
  await readFiles(store, source, log, options);
  if (left.length > 0)
    log.notices.push(
      told(
        `${store.name}: ${left.join(', ')} beside it ${left.length > 1 ? 'are' : 'is'} not read`,
        `${store.name}：旁边的 ${left.join('、')} 未读取`,
      ),
    );
  if (log.rows === 0) {
    const why =
      log.notices.length > 0
        ? `: ${log.notices.join('; ')}`
        : told('; was it written by another program?', '；它是别的程序写的吗？');
    throw new BadInput(told(`holds no scalars${why}`, `没有标量${why}`), { file: store.name });
  }
  if (log.thinned)
    log.notices.push(
      told(
        `${store.name}: of ${log.read.toLocaleString('en-US')} numbers ${log.rows.toLocaleString('en-US')} are looked at, evenly along every column, and every column's first that is not finite; \`trueline import\` keeps all`,
        `${store.name}：${log.read.toLocaleString('en-US')} 个数字中查看 ${log.rows.toLocaleString('en-US')} 个，沿每列均匀选取，并包括每列第一个非有限的数；\`trueline import\` 保留全部`,
      ),
    );
  const mapped = parseMaps(options.map ?? [], log.names);
  const columns = recognise(log.names, (name) => log.valuesOf(name), mapped);
  const agents = [...new Set(columns.flatMap(({ agent }) => agent ?? []))].sort((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  );
  const settings = { ...knownSettings(log.declared), ...options.settings };
  const manifest: Manifest = {
    format: 'trueline/1',
    name: (await titleOf(store, source)) || lastPart(source.name || store.name),
    ...(agents.length > 0 ? { agents: agents.map((name) => ({ name })) } : {}),
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
    ...(mapped.size > 0 ? { metrics: Object.fromEntries(mapped) } : {}),
    log: {
      kind: told(...kindNames[kind]),
      files,
      notices: log.notices,
      ...(log.rounding.size > 0 ? { rounding: Object.fromEntries(log.rounding) } : {}),
    },
  };
  return {
    name: source.name === '' ? store.name : `${store.name}/${source.name}`,
    kind: told(...kindNames[kind]),
    files,
    rows: log.read,
    columns,
    notices: log.notices,
    manifest,
    log,
    reread: (other, pause) => readFiles(pausing(store, pause), source, other, options),
  };
}

/** What the user of a program calls the run, where the program keeps it; at most one line of it. */
async function titleOf(store: Store, { title }: LogSource): Promise<string> {
  if (title === undefined) return '';
  const file = await store.open(title);
  const text = new TextDecoder().decode(await file.read(0, Math.min(file.size, 200)));
  return text.split('\n')[0].trim();
}

/** A store whose files wait before every read. */
function pausing(store: Store, pause: () => Promise<void>): Store {
  return {
    ...store,
    list: () => store.list(),
    open: async (path) => {
      const source = await store.open(path);
      return {
        name: source.name,
        size: source.size,
        read: async (start, end) => {
          await pause();
          return source.read(start, end);
        },
      };
    },
  };
}

/** Every number of the log; one that did not fit in memory is read again, piece by piece. */
export async function writeLog(
  imported: ImportedLog,
  store: WritableStore,
  options: WriterOptions = {},
): Promise<void> {
  const writer = await RecordingWriter.create(store, imported.manifest, options);
  if (imported.log.thinned) {
    const piece = new Log(true);
    const write = async () => {
      await append(writer, imported, piece);
      piece.empty();
    };
    await imported.reread(piece, async () => {
      if (piece.rows >= rowsPerChunk) await write();
    });
    await write();
  } else await append(writer, imported, imported.log);
  await writer.close();
}

const rowsPerChunk = 1 << 20;

/** The rows that `log` holds; its names are those of the imported log, in the same order. */
async function append(writer: RecordingWriter, { manifest, columns }: ImportedLog, log: Log): Promise<void> {
  const agents = (manifest.agents ?? []).map(({ name }) => name);
  const agentOf = columns.map(({ agent }) => (agent === null ? Number.NaN : agents.indexOf(agent)));
  for (let from = 0; from < log.rows; from += rowsPerChunk) {
    const to = Math.min(log.rows, from + rowsPerChunk);
    const part = (values: Float64Array) => values.slice(from, to);
    const names = [...log.name.subarray(from, to)];
    await writer.append('scalars', {
      name: names.map((at) => log.names[at]),
      value: part(log.value),
      step: part(log.step),
      time: part(log.time),
      ...(agents.length > 0 ? { agent: Float64Array.from(names, (at) => agentOf[at]) } : {}),
    });
  }
}

/** What is kept in memory of the log, as a recording. */
export async function logRecording(imported: ImportedLog): Promise<Recording> {
  const store = memoryStore(imported.name);
  const writer = await RecordingWriter.create(store, imported.manifest);
  await append(writer, imported, imported.log);
  await writer.close();
  return Recording.open(store);
}

/** How many agents a log has returns of; they can be compared with each other. */
export function agentsWithReturns({ columns }: ImportedLog): number {
  return new Set(columns.flatMap(({ agent, metric, used }) => (used && metric === 'return' ? (agent ?? []) : []))).size;
}

const lastPart = (path: string) => path.split(/[/\\]/).pop() ?? path;

async function readFiles(
  store: Store,
  { kind, files, prefixes }: LogSource,
  log: Log,
  options: LogOptions,
): Promise<void> {
  const budget = store.budget ?? new Budget(options.maxSize);
  for (const [i, path] of files.entries()) {
    const source = await store.open(path);
    if (source.size === 0) {
      if (files.length === 1) throw new BadInput(told('the file is empty', '文件是空的'), { file: source.name });
      log.notices.push(told(`${source.name}: the file is empty`, `${source.name}：文件是空的`));
    } else if (kind === 'events') await readEvents(source, log, prefixes[i]);
    else if (kind === 'csv') await readCsv(source, log, budget, options.run);
    else if (kind === 'json') await readJsonLog(source, log, budget);
    else if (kind === 'console') await readConsole(source, log, budget);
    else if (kind === 'wandb') await readWandb(source, log);
    else if (prefixes[i].startsWith('metrics/'))
      await readMlflowMetric(source, prefixes[i].slice('metrics/'.length), log, budget);
    else await readMlflowParam(source, prefixes[i].slice('params/'.length), log);
  }
}
