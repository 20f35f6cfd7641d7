/** Opens a log as a recording that has only the table `scalars`. A folder must hold one run; which files count as its log is decided here. */
import { BadInput } from '../bad-input.ts';
import type { Manifest } from '../manifest.ts';
import { Recording } from '../recording.ts';
import { Budget, type ByteSource, memoryStore, type Store, type WritableStore } from '../source.ts';
import { RecordingWriter, type WriterOptions } from '../writer.ts';
import { maskedCrc32c } from './crc32c.ts';
import { readCsv } from './csv.ts';
import { readJsonLog } from './json-log.ts';
import { Log } from './log.ts';
import { knownSettings, parseMaps, type Recognised, recognise } from './recognise.ts';
import { readEvents } from './tensorboard.ts';

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
}

type Kind = 'events' | 'csv' | 'json';
const kindNames: Record<Kind, string> = {
  events: 'TensorBoard event files',
  csv: 'a table of text',
  json: 'a log of JSON objects',
};

/** One file as a store of its own. */
export function fileStore(source: ByteSource, path = source.name): Store {
  return { name: source.name, list: async () => [path], open: async () => source };
}

export async function importLog(store: Store, options: LogOptions = {}): Promise<ImportedLog> {
  const { kind, files, prefixes, left } = await chooseFiles(store, options.run);
  const log = new Log();
  const budget = new Budget(options.maxSize);
  if (left.length > 0)
    log.notices.push(`${store.name}: ${left.join(', ')} beside it ${left.length > 1 ? 'are' : 'is'} not read`);
  for (const [i, path] of files.entries()) {
    const source = await store.open(path);
    if (source.size === 0) {
      if (files.length === 1) throw new BadInput('the file is empty', { file: source.name });
      log.notices.push(`${source.name}: the file is empty`);
    } else if (kind === 'events') await readEvents(source, log, prefixes[i]);
    else if (kind === 'csv') await readCsv(source, log, budget, options.run);
    else await readJsonLog(source, log, budget);
  }
  if (log.rows === 0) {
    const why = log.notices.length > 0 ? `: ${log.notices.join('; ')}` : '; was it written by another program?';
    throw new BadInput(`holds no scalars${why}`, { file: store.name });
  }
  const mapped = parseMaps(options.map ?? [], log.names);
  const columns = recognise(log.names, (name) => log.valuesOf(name), mapped);
  const agents = [...new Set(columns.flatMap(({ agent }) => agent ?? []))].sort((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  );
  const settings = { ...knownSettings(log.declared), ...options.settings };
  const manifest: Manifest = {
    format: 'trueline/1',
    name: store.name.split(/[/\\]/).pop() ?? store.name,
    ...(agents.length > 0 ? { agents: agents.map((name) => ({ name })) } : {}),
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
    ...(mapped.size > 0 ? { metrics: Object.fromEntries(mapped) } : {}),
    log: { kind: kindNames[kind], files, notices: log.notices },
  };
  return {
    name: store.name,
    kind: kindNames[kind],
    files,
    rows: log.rows,
    columns,
    notices: log.notices,
    manifest,
    log,
  };
}

export async function writeLog(
  imported: ImportedLog,
  store: WritableStore,
  options: WriterOptions = {},
): Promise<void> {
  const { log, columns, manifest } = imported;
  const writer = await RecordingWriter.create(store, manifest, options);
  const agents = (manifest.agents ?? []).map(({ name }) => name);
  const agentOf = columns.map(({ agent }) => (agent === null ? Number.NaN : agents.indexOf(agent)));
  const rowsPerChunk = 1 << 20;
  for (let from = 0; from < log.rows; from += rowsPerChunk) {
    const to = Math.min(log.rows, from + rowsPerChunk);
    const part = (values: number[]) => Float64Array.from(values.slice(from, to));
    const names = log.name.slice(from, to);
    await writer.append('scalars', {
      name: names.map((at) => log.names[at]),
      value: part(log.value),
      step: part(log.step),
      time: part(log.time),
      ...(agents.length > 0 ? { agent: Float64Array.from(names, (at) => agentOf[at]) } : {}),
    });
  }
  await writer.close();
}

export async function logRecording(imported: ImportedLog): Promise<Recording> {
  const store = memoryStore(imported.name);
  await writeLog(imported, store);
  return Recording.open(store);
}

interface Chosen {
  kind: Kind;
  files: string[];
  /** Per file, what goes before its names. */
  prefixes: string[];
  /** Files of other kinds that may hold the same. */
  left: string[];
}

async function chooseFiles(store: Store, run: string | undefined): Promise<Chosen> {
  const paths = await store.list();
  if (paths.length === 1 && !paths[0].includes('/')) return single(await kindOf(store, paths[0]), paths);
  const events = paths.filter((path) => /tfevents/.test(path));
  if (events.length > 0) return chooseEvents(store, paths, events, run);
  // The same numbers are often there twice; what is more exact comes first.
  for (const [kind, pattern] of logFiles) {
    const found = paths.filter((path) => pattern.test(path) && (run === undefined || path.startsWith(`${run}/`)));
    if (found.length === 0) continue;
    const left = paths.filter((path) => !found.includes(path) && logFiles.some(([, other]) => other.test(path)));
    if (found.length === 1 || found.every((path) => /tag-.+\.csv/.test(path))) return { ...single(kind, found), left };
    throw new BadInput(
      `holds ${found.length} logs (${found.slice(0, 6).join(', ')}${found.length > 6 ? ' ...' : ''}); name one of them`,
      { file: store.name },
    );
  }
  throw new BadInput(
    'holds neither a recording (manifest.json) nor a log: event files, progress.csv, progress.json, trainer_state.json, *.csv or *.jsonl were looked for',
    { file: store.name },
  );
}

const logFiles: readonly (readonly [Kind, RegExp])[] = [
  ['json', /(^|\/)(progress|result)\.json$/],
  ['csv', /(^|\/)progress\.(csv|txt)$/],
  ['json', /(^|\/)trainer_state\.json$/],
  ['json', /\.(jsonl|ndjson)(\.gz)?$/],
  ['csv', /\.(csv|tsv)(\.gz)?$/],
];

function single(kind: Kind, files: string[]): Chosen {
  return { kind, files, prefixes: files.map(() => ''), left: [] };
}

const folderOf = (path: string) => path.split('/').slice(0, -1).join('/');

/** Several files of one folder are one run, gone on with. Folders below it are parts of that run, or agents, or else other runs. */
function chooseEvents(store: Store, paths: string[], events: string[], run: string | undefined): Chosen {
  const left = paths.filter((path) => logFiles.some(([, pattern]) => pattern.test(path)));
  const folders = [...new Set(events.map(folderOf))];
  const inside = (folder: string) => run === undefined || folder === run || folder.startsWith(`${run}/`);
  const chosen = folders.filter(inside);
  if (chosen.length === 0)
    throw new BadInput(`there is no run ${JSON.stringify(run)}; it holds ${folders.join(', ')}`, { file: store.name });
  const base = chosen.reduce((a, b) => (a.length <= b.length ? a : b));
  const parts = chosen.every((folder) => folder === base || base === '' || folder.startsWith(`${base}/`));
  const agents = chosen.every((folder) =>
    /^(agent|player|seat|policy|team)s?[_-]?\w+$/i.test(folder.split('/').pop()!),
  );
  const whole = run ?? (parts ? base : '');
  if (chosen.length > 1 && !parts && !agents && run === undefined)
    throw new BadInput(
      `holds ${chosen.length} runs (${chosen.slice(0, 6).join(', ')}${chosen.length > 6 ? ' ...' : ''}); name one of these folders, or choose with --run`,
      { file: store.name },
    );
  const files = events.filter((path) => chosen.includes(folderOf(path)));
  const prefixes = files.map((path) => {
    const below = folderOf(path).slice(whole === '' ? 0 : whole.length + 1);
    return below === '' ? '' : `${below}/`;
  });
  return { kind: 'events', files, prefixes, left };
}

async function kindOf(store: Store, path: string): Promise<Kind> {
  const source = await store.open(path);
  if (source.size === 0) throw new BadInput('the file is empty', { file: source.name });
  const head = await source.read(0, Math.min(source.size, 4096));
  const isEvent =
    head.length >= 12 &&
    new DataView(head.buffer, head.byteOffset).getUint32(8, true) === maskedCrc32c(head.subarray(0, 8));
  if (isEvent || /tfevents/.test(path)) return 'events';
  if (/\.(csv|tsv)(\.gz)?$/i.test(path)) return 'csv';
  if (/\.(json|jsonl|ndjson)(\.gz)?$/i.test(path)) return 'json';
  if (head.includes(0))
    throw new BadInput(
      'is neither a recording nor a log: it holds binary data and is no event file; a folder with manifest.json, event files, CSV or JSON lines were expected',
      { file: source.name },
    );
  const start = new TextDecoder().decode(head).trimStart();
  return /^[[{]|^\(?.*step:\d+ - /.test(start) ? 'json' : 'csv';
}
