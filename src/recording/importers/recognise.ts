/** From the names of a log to the metrics they are. Where two columns are the same metric of the same agent, the better name wins and the other is kept beside it. */
import { BadInput } from '../bad-input.ts';
import { besideReference, housekeeping, type Metric, metrics, settingNames } from './names.ts';

export interface Recognised {
  /** As the log calls it. */
  name: string;
  /** As Trueline calls it; null where it is not known. */
  metric: string | null;
  unit: string;
  /** What the log's figure is multiplied by. */
  sign: 1 | -1;
  /** Whose it is, where the name tells. */
  agent: string | null;
  /** Whether diagnosis reads it; false for a second name of the same figure. */
  used: boolean;
  note: string;
}

/** Lower case, words joined by underscores, levels by slashes. */
export function plainName(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/\s*[/|\\]\s*/g, '/')
    .replace(/[\s-]+/g, '_')
    .replace(/\.(?=[a-z_])/g, '/');
}

interface Source {
  metric: Metric;
  tail: string;
  sign: '+' | '-' | '?';
  rank: number;
}

const sources: readonly Source[] = metrics
  .flatMap((metric) =>
    metric.sources.map((source, rank): Source => {
      const signed = source[0] === '-' || source[0] === '?';
      return { metric, tail: signed ? source.slice(1) : source, sign: signed ? (source[0] as '-' | '?') : '+', rank };
    }),
  )
  .sort((a, b) => b.tail.length - a.tail.length);

const players = 'agent|player|seat|policy|pol|team|unit|robot|predator|prey|adversary';
/** agent_0, player1, policy-b as a level of its own. */
const playerLevel = new RegExp(`^(?:${players})s?_?(\\d+|[a-z])$`);
/** agent_0_return and return_agent_0. */
const playerPart = new RegExp(`(?:^|_)((?:${players})_?\\d+)(?=_|$)`);
/** Levels after which RLlib names an agent or a policy. */
const beforePlayer =
  /^(learner|learners|policy_reward_mean|agent_episode_returns_mean|module_episode_returns_mean|agents|players|policies)$/;
const shared = /^(default_policy|default_agent|shared_policy|__all_modules__|learner_stats)$/;

/** `values` gives a column's numbers, for signs that only they can tell. `mapped` is name in the log -> metric, with a minus to negate. */
export function recognise(
  names: readonly string[],
  values: (name: string) => readonly number[],
  mapped: ReadonlyMap<string, string> = new Map(),
): Recognised[] {
  const plain = names.map(plainName);
  const reference = plain.some((name) => besideReference.test(name));
  const found = names.map((name, i) => one(name, plain[i], reference, values, mapped));
  nameAgents(
    found.map((item) => item.row),
    plain,
  );
  const best = new Map<string, { row: Recognised; rank: number }>();
  for (const { row, rank } of found) {
    if (row.metric === null) continue;
    const key = `${row.metric} ${row.agent ?? ''}`;
    const other = best.get(key);
    const [winner, loser] = !other
      ? [{ row, rank }, null]
      : rank < other.rank
        ? [{ row, rank }, other]
        : [other, { row, rank }];
    best.set(key, winner);
    winner.row.used = true;
    if (loser) {
      loser.row.used = false;
      loser.row.note = `also ${row.metric}; ${winner.row.name} is read`;
    }
  }
  return found.map((item) => item.row);
}

function one(
  name: string,
  plain: string,
  reference: boolean,
  values: (name: string) => readonly number[],
  mapped: ReadonlyMap<string, string>,
): { row: Recognised; rank: number } {
  const { rest, agent } = splitAgent(plain);
  const row: Recognised = { name, metric: null, unit: '', sign: 1, agent, used: false, note: '' };
  const hand = mapped.get(name);
  if (hand !== undefined) {
    const metric = metrics.find((item) => item.name === hand.replace(/^-/, ''))!;
    Object.assign(row, {
      metric: metric.name,
      unit: metric.unit,
      sign: hand[0] === '-' ? -1 : 1,
      note: 'mapped by hand',
    });
    return { row, rank: -1 };
  }
  if (/__(min|max)$/.test(plain)) {
    row.note = 'least or greatest within a step of the export';
    return { row, rank: 0 };
  }
  const source =
    match(rest) ?? (/(_|\/)(mean|avg)$/.test(rest) ? match(rest.replace(/(_|\/)(mean|avg)$/, '')) : undefined);
  if (!source) {
    if (housekeeping.test(plain)) row.note = 'speed, time or counts';
    return { row, rank: 0 };
  }
  const bare = reference && source.metric.name === 'kl' && source.tail === 'kl';
  const metric = bare ? metrics.find((item) => item.name === 'reference_kl')! : source.metric;
  Object.assign(row, { metric: metric.name, unit: metric.unit });
  if (source.sign === '-' || (source.sign === '?' && mostlyNegative(values(name)))) row.sign = -1;
  if (row.sign === -1) row.note = 'negated: the log holds minus the figure';
  return { row, rank: source.rank };
}

function match(rest: string): Source | undefined {
  return sources.find(({ tail }) => rest === tail || rest.endsWith(`/${tail}`));
}

function mostlyNegative(values: readonly number[]): boolean {
  return values.filter((value) => value < 0).length > values.filter((value) => value > 0).length;
}

function splitAgent(plain: string): { rest: string; agent: string | null } {
  const levels = plain.split('/');
  let agent: string | null = null;
  const kept: string[] = [];
  for (const [i, level] of levels.entries()) {
    const after = i > 0 && beforePlayer.test(levels[i - 1]);
    const part: RegExpExecArray | null = agent === null ? playerPart.exec(level) : null;
    if (shared.test(level)) kept.push(level);
    else if (agent === null && (playerLevel.test(level) || after)) agent = level;
    else if (part) {
      agent = part[1];
      kept.push(level.replace(part[0], '').replace(/^_/, ''));
    } else kept.push(level);
  }
  const rest = kept.filter((level) => level !== '').join('/');
  return agent === null ? { rest: plain, agent } : { rest, agent };
}

const reserved =
  /^(train|training|eval|evaluation|test|rollout|losses?|val|value|policy|critic|actor|charts?|objective|info|ppo|env|env_runners|metrics|mean|min|max|std)$/;

/** Columns that are one metric and differ in one level only (IND/return, EDU/return) belong to agents of those names. */
function nameAgents(rows: readonly Recognised[], plain: readonly string[]): void {
  const groups = new Map<string, number[]>();
  rows.forEach((row, i) => {
    if (row.metric === null || row.agent !== null) return;
    const levels = plain[i].split('/');
    levels.forEach((level, at) => {
      if (levels.length < 2 || reserved.test(level)) return;
      const key = [row.metric, at, ...levels.map((other, k) => (k === at ? '*' : other))].join(' ');
      groups.set(key, [...(groups.get(key) ?? []), i]);
    });
  });
  for (const [key, members] of groups) {
    if (members.length < 2) continue;
    const at = Number(key.split(' ')[1]);
    for (const i of members) rows[i].agent ??= rows[i].name.split(/\s*[/|\\]\s*/)[at] ?? plain[i].split('/')[at];
  }
}

/** `kl=avg_kl_divergence` and `entropy=-ent_loss`: metric = name in the log. */
export function parseMaps(maps: readonly string[], names: readonly string[]): Map<string, string> {
  const out = new Map<string, string>();
  for (const text of maps) {
    const equals = text.indexOf('=');
    const metric = text.slice(0, Math.max(0, equals)).trim();
    if (equals < 1)
      throw new BadInput(`--map ${text}: a metric and a column, such as kl=avg_kl_divergence, were expected`);
    if (!metrics.some(({ name }) => name === metric))
      throw new BadInput(
        `--map ${text}: there is no metric ${JSON.stringify(metric)}; the metrics are ${metrics.map(({ name }) => name).join(', ')}`,
      );
    const column = text.slice(equals + 1).trim();
    const negated = !names.includes(column) && column[0] === '-';
    const name = negated ? column.slice(1).trim() : column;
    if (!names.includes(name))
      throw new BadInput(`--map ${text}: the log has no column ${JSON.stringify(name)}; it has ${some(names)}`);
    out.set(name, negated ? `-${metric}` : metric);
  }
  return out;
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, 12).join(', ');
  return names.length > 12 ? `${shown} and ${names.length - 12} more` : shown;
}

/** Settings that a log declares, under the manifest's names. */
export function knownSettings(declared: ReadonlyMap<string, unknown>): Record<string, number> {
  const out: Record<string, number> = {};
  for (const [name, theirs] of Object.entries(settingNames)) {
    const found = theirs.find((key) => declared.has(key));
    const value = found === undefined ? Number.NaN : Number(declared.get(found));
    if (found !== undefined && declared.get(found) !== '' && Number.isFinite(value)) out[name] = value;
  }
  const size = Number(declared.get('minibatch_size') ?? declared.get('sgd_minibatch_size'));
  const batch = Number(declared.get('batch_size') ?? declared.get('train_batch_size'));
  if (out.minibatches === undefined && size > 0 && batch >= size) out.minibatches = Math.ceil(batch / size);
  return out;
}
