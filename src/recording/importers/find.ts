/** Which logs a folder holds: one run per log, named by its path. Files of one run that say the same twice are one log, and the most exact of them is read. */
import { type Pair, told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import type { Store } from '../source.ts';
import { maskedCrc32c } from './formats/crc32c.ts';
import { isWandb } from './formats/wandb.ts';

export type Kind = 'events' | 'csv' | 'json' | 'console' | 'mlflow' | 'wandb';

export const kindNames: Record<Kind, Pair> = {
  events: ['TensorBoard event files', 'TensorBoard 事件文件'],
  csv: ['a table of text', '文本表格'],
  json: ['a log of JSON objects', 'JSON 对象的日志'],
  console: ['what a program printed', '程序打印的文本'],
  mlflow: ['a run of MLflow', 'MLflow 的训练'],
  wandb: ['a run of Weights & Biases', 'Weights & Biases 的训练'],
};

export interface LogSource {
  /** The path of the run below the folder; empty for the folder, or the file, itself. */
  name: string;
  kind: Kind;
  files: string[];
  /** Per file, what goes before its names. */
  prefixes: string[];
  /** Files of other kinds that may hold the same. */
  left: string[];
  /** A file that holds what its user calls the run. */
  title?: string;
}

/** Names of logs, the most exact of several in one folder first. The last ones may be several runs side by side. */
const wholeRun: readonly (readonly [Kind, RegExp])[] = [
  ['wandb', /\.wandb$/],
  ['json', /(^|\/)(progress|result)\.json$/],
  ['csv', /(^|\/)progress\.(csv|txt)$/],
  ['json', /(^|\/)trainer_state\.json$/],
  // Sacred's; its run.json and config.json lie beside it.
  ['json', /(^|\/)metrics\.json$/],
  ['csv', /(^|\/|\.)monitor\.csv$/],
];
const oneEach: readonly (readonly [Kind, RegExp])[] = [
  ['json', /\.(jsonl|ndjson)(\.gz)?$/],
  ['csv', /\.(csv|tsv)(\.gz)?$/],
  ['console', /\.(log|out)(\.gz)?$/],
  ['json', /\.json$/],
];
/** Files that lie beside logs and are none. */
const notLogs =
  /(^|\/)(\.|node_modules\/|__pycache__\/)|(^|\/)(package(-lock)?|tsconfig|config|params|args|hparams|metadata|wandb-metadata|wandb-summary|run_config|eval_config|requirements|tokenizer(_config)?|special_tokens_map|vocab|generation_config|adapter_config|variant|settings|trueline|investigation|sweep|failure|job|notes|[^/]+\.schema)\.json$|(^|\/)debug(-internal|-core)?\.log$/i;

const folderOf = (path: string) => path.split('/').slice(0, -1).join('/');
const single = (name: string, kind: Kind, files: string[]): LogSource => ({
  name,
  kind,
  files,
  prefixes: files.map(() => ''),
  left: [],
});

export async function findLogs(store: Store): Promise<LogSource[]> {
  const all = await store.list();
  // What lies in a recording is its own.
  const recordings = new Set(all.filter((path) => /\/manifest\.json$/.test(path)).map(folderOf));
  const recorded = (path: string): boolean => path !== '' && (recordings.has(path) || recorded(folderOf(path)));
  const paths = all.filter((path) => !recorded(folderOf(path)));
  if (paths.length === 1 && !paths[0].includes('/')) return [single('', await kindOf(store, paths[0]), paths)];
  const taken = new Set<string>();
  const logs = [...mlflowRuns(paths), ...eventRuns(paths)];
  for (const { files } of logs) for (const file of files) taken.add(file);
  // A run of Weights & Biases keeps what it printed, and its own diary, in folders beside its file.
  const wandb = paths.filter((path) => /\.wandb$/.test(path)).map((path) => folderOf(path));
  const within = (path: string) =>
    wandb.some((folder) =>
      [`files/`, `logs/`].some((part) => path.startsWith(folder === '' ? part : `${folder}/${part}`)),
    );
  const rest = paths.filter(
    (path) => !within(path) && !taken.has(path) && !notLogs.test(path) && !/(^|\/)(params|tags|artifacts)\//.test(path),
  );
  const folders = new Map<string, string[]>();
  for (const path of rest) folders.set(folderOf(path), [...(folders.get(folderOf(path)) ?? []), path]);
  for (const [folder, files] of folders) logs.push(...runsOfFolder(folder, files, logs));
  return logs.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
}

function runsOfFolder(folder: string, files: string[], found: readonly LogSource[]): LogSource[] {
  const named = [...wholeRun, ...oneEach];
  const logs = files.filter((path) => named.some(([, pattern]) => pattern.test(path)));
  const beside = found.find(
    ({ kind, name }) => kind === 'events' && (name === folder || folder.startsWith(`${name}/`) || name === ''),
  );
  if (beside) {
    beside.left.push(...logs);
    return [];
  }
  for (const [kind, pattern] of wholeRun) {
    const own = logs.filter((path) => pattern.test(path));
    if (own.length === 0) continue;
    if (kind === 'wandb') return own.map((path) => single(folder === '' ? path : folder, kind, [path]));
    return [{ ...single(folder, kind, own), left: logs.filter((path) => !own.includes(path)) }];
  }
  // TensorBoard's downloads have a file for each figure of one run.
  const tags = logs.filter((path) => /tag-.+\.csv/.test(path));
  const each = logs.filter((path) => !tags.includes(path));
  const alone = each.length === 1 && tags.length === 0 && found.length === 0;
  return [
    ...(tags.length > 0 ? [single(folder, 'csv', tags)] : []),
    ...each.map((path) => single(alone ? folder : path, oneEach.find(([, pattern]) => pattern.test(path))![0], [path])),
  ];
}

function mlflowRuns(paths: readonly string[]): LogSource[] {
  const runs = new Map<string, LogSource>();
  for (const path of paths) {
    const match = /^(?:(.*)\/)?([0-9a-f]{32})\/(metrics|params|tags)\/(.+)$/.exec(path);
    if (!match || (match[3] === 'tags' && match[4] !== 'mlflow.runName')) continue;
    const name = `${match[1] === undefined ? '' : `${match[1]}/`}${match[2]}`;
    const run = runs.get(name) ?? { name, kind: 'mlflow', files: [], prefixes: [], left: [] };
    runs.set(name, run);
    if (match[3] === 'tags') {
      run.title = path;
      continue;
    }
    run.files.push(path);
    run.prefixes.push(`${match[3]}/${match[4]}`);
  }
  return [...runs.values()].filter(({ prefixes }) => prefixes.some((name) => name.startsWith('metrics/')));
}

/** Several files of one folder are one run, gone on with. Folders below it are parts of that run; folders with agents' names are those agents of the run that holds them. */
function eventRuns(paths: readonly string[]): LogSource[] {
  const events = paths.filter((path) => /tfevents/.test(path));
  const folders = [...new Set(events.map(folderOf))].sort((a, b) => a.length - b.length);
  const roots = new Map<string, string>();
  for (const folder of folders) {
    const holder = folders.find((other) => other !== folder && (other === '' || folder.startsWith(`${other}/`)));
    const agent = /^(agent|player|seat|policy|team)s?[_-]?\w+$/i.test(folder.split('/').pop()!);
    roots.set(folder, holder !== undefined ? (roots.get(holder) ?? holder) : agent ? folderOf(folder) : folder);
  }
  const runs = new Map<string, LogSource>();
  for (const path of events) {
    const root = roots.get(folderOf(path))!;
    const run = runs.get(root) ?? { name: root, kind: 'events', files: [], prefixes: [], left: [] };
    runs.set(root, run);
    run.files.push(path);
    const below = folderOf(path).slice(root === '' ? 0 : root.length + 1);
    run.prefixes.push(below === '' ? '' : `${below}/`);
  }
  return [...runs.values()];
}

/** What a file is, by its first bytes and its name. */
export async function kindOf(store: Store, path: string): Promise<Kind> {
  const source = await store.open(path);
  if (source.size === 0) throw new BadInput(told('the file is empty', '文件是空的'), { file: source.name });
  const head = await source.read(0, Math.min(source.size, 4096));
  const isEvent =
    head.length >= 12 &&
    new DataView(head.buffer, head.byteOffset).getUint32(8, true) === maskedCrc32c(head.subarray(0, 8));
  if (isEvent || /tfevents/.test(path)) return 'events';
  if (isWandb(head) || /\.wandb$/.test(path)) return 'wandb';
  if (/\.(csv|tsv)(\.gz)?$/i.test(path)) return 'csv';
  if (/\.(json|jsonl|ndjson)(\.gz)?$/i.test(path)) return 'json';
  if (head.includes(0))
    throw new BadInput(
      told(
        'is neither a recording nor a log: it holds binary data and is no event file; a folder with manifest.json, event files, CSV or JSON lines were expected',
        '既不是记录也不是日志：它是二进制数据，也不是事件文件；应是带 manifest.json 的文件夹、事件文件、CSV 或 JSON 行',
      ),
      { file: source.name },
    );
  const start = new TextDecoder().decode(head).trimStart();
  // A bracket is also how programs begin what they print: [INFO], [12:03], [update 7].
  if (/^(\{|\[\s*[[{"\]])/.test(start)) return 'json';
  if (/\.(log|out)$/i.test(path) || /^.*step:\d+ - /.test(start) || /^\s*(-{5,}|#{5,}|\|)/m.test(start))
    return 'console';
  return /^[^\n]*[,;\t]/.test(start) && !/^[^\n]*[:=]\s*[-\d.]/.test(start)
    ? 'csv'
    : /[:=]\s*[-+]?[\d.]/.test(start)
      ? 'console'
      : 'csv';
}
