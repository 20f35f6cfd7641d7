/** From the names of a log to the metrics they are, by their words, whatever surrounds them. Where two columns are the same metric of the same agent, the better name wins and the other is kept beside it. */
import {
  besideReference,
  decorations,
  housekeeping,
  type Metric,
  metrics,
  playerWords,
  settings,
  statistics,
} from './names.ts';
import { joined, levelsOf, likeness, type Word, wordsOf } from './words.ts';

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
  /** Of a name that was not understood: what it may be, the likeliest first. */
  guesses: string[];
}

interface Source {
  metric: Metric;
  joined: string;
  sign: '+' | '-' | '?';
  rank: number;
}

/** Chinese words that are looked for, because nothing stands between them. */
const vocabulary: ReadonlySet<string> = new Set(
  [
    ...metrics.flatMap(({ sources }) => sources),
    ...decorations,
    ...statistics,
    ...settings,
    ...housekeeping,
    ...playerWords,
  ]
    .filter((word) => /^[\u3400-\u9fff]+$/.test(word))
    .concat('散度'),
);

export const joinedName = (name: string) => joined(wordsOf(name, vocabulary));

const sources: ReadonlyMap<string, Source> = new Map(
  metrics.flatMap((metric) =>
    metric.sources.map((source, rank): [string, Source] => {
      const signed = source[0] === '-' || source[0] === '?';
      const key = joinedName(signed ? source.slice(1) : source);
      return [key, { metric, joined: key, sign: signed ? (source[0] as '-' | '?') : '+', rank }];
    }),
  ),
);
const longest = Math.max(...[...sources.keys()].map((key) => key.length));

/** Levels after which RLlib names an agent or a policy. */
const beforePlayer = new Set(
  'learner learners policy_reward_mean agent_episode_returns_mean module_episode_returns_mean agents players policies'.split(
    ' ',
  ),
);
const shared = new Set('default_policy default_agent shared_policy __all_modules__ learner_stats'.split(' '));

/** One name taken apart. */
interface Parsed {
  words: Word[];
  /** Whose, where the name says so by itself. */
  agent: string | null;
  source: Source | undefined;
  /** The words that are the metric's name. */
  own: readonly Word[];
  /** Words beside the metric's that mean nothing we know; an agent's name, perhaps. */
  strange: Word[];
  rest: Word[];
}

/** Whose a column is, and the word of its name that says so where only the other columns give it away. */
interface Whose {
  agent: string | null;
  word?: Word;
}

/** `values` gives a column's numbers, for signs that only they can tell. `mapped` is name in the log -> metric, with a minus to negate. */
export function recognise(
  names: readonly string[],
  values: (name: string) => readonly number[],
  mapped: ReadonlyMap<string, string> = new Map(),
): Recognised[] {
  const reference = names.some((name) => besideReference.test(name.trim()));
  const parsed = names.map(parse);
  const agents = namedAgents(names, parsed);
  const best = new Map<string, { row: Recognised; rank: number }>();
  let guessed = 0;
  const rows = names.map((name, i) => {
    const { row, rank } = one(name, parsed[i], agents[i], reference, values, mapped);
    if (row.metric === null) {
      if (row.note === '' && guessed++ < mostGuesses) row.guesses = guess(parsed[i]);
      return row;
    }
    const key = `${row.metric} ${row.agent ?? ''}`;
    const other = best.get(key);
    const [winner, loser] = other && other.rank <= rank ? [other, { row, rank }] : [{ row, rank }, other];
    best.set(key, winner);
    winner.row.used = true;
    if (loser) {
      loser.row.used = false;
      loser.row.note = `also ${row.metric}; ${winner.row.name} is read`;
    }
    return row;
  });
  return rows;
}

function parse(name: string): Parsed {
  const words = wordsOf(name, vocabulary);
  const { agent, taken } = ownAgent(name, words);
  const rest = words.filter((word) => !taken.has(word));
  const found = longestSource(rest);
  if (!found) return { words, agent, source: undefined, own: [], strange: [], rest };
  const { source, from, to } = found;
  const level = rest[from].level;
  // What stands in levels before the figure's own is the program's way to sort its names.
  const beside = rest.filter((word, i) => (i < from || i >= to) && word.level >= level && !decorations.has(word.text));
  return { words, agent, source, own: rest.slice(from, to), strange: beside, rest };
}

/** The metric whose name takes the most letters; of two, the one that stands last. */
function longestSource(words: readonly Word[]): { source: Source; from: number; to: number } | undefined {
  let best: { source: Source; from: number; to: number } | undefined;
  for (let from = 0; from < words.length; from++) {
    let key = '';
    for (let to = from + 1; to <= words.length; to++) {
      const { text } = words[to - 1];
      key += text === 'losses' ? 'loss' : text;
      if (key.length > longest) break;
      const source = sources.get(key);
      if (source && key.length >= (best?.source.joined.length ?? 0)) best = { source, from, to };
    }
  }
  return best;
}

/** agent_0, player1 and policy-b within a level; whatever RLlib puts after `learners`. */
function ownAgent(name: string, words: readonly Word[]): { agent: string | null; taken: Set<Word> } {
  const levels = levelsOf(name);
  for (const { text, level } of levels) {
    const before = level > 0 && beforePlayer.has(levels[level - 1].text.trim().toLowerCase());
    if (before && !shared.has(text.trim().toLowerCase()))
      return { agent: text.trim(), taken: new Set(words.filter((word) => word.level === level)) };
  }
  for (const [i, word] of words.entries()) {
    const next = words[i + 1];
    if (!playerWords.has(word.text) || next?.level !== word.level || !/^(\d+|[a-z])$/.test(next.text)) continue;
    return { agent: name.slice(word.from, next.to).trim(), taken: new Set([word, next]) };
  }
  return { agent: null, taken: new Set() };
}

const meaningful = (word: Word) =>
  decorations.has(word.text) || statistics.has(word.text) || settings.has(word.text) || reserved.has(word.text);

/** Levels and words that sort figures by what they are of, never by whom. */
const reserved: ReadonlySet<string> = new Set(
  (
    'eval evaluation test val valid validation losses loss value values critic charts chart objective info env runners metrics metric ' +
    'stats old new before after extrinsic intrinsic first early late clipped raw normalized normalised total world model aux auxiliary'
  ).split(' '),
);

/**
 * Columns that are one metric and differ in one word only (IND/return and EDU/return, ind_avg_loss and edu_avg_loss, reward1 and reward2) belong to
 * agents of those names; a name found so holds for the log's other columns too. A log of one agent puts its name to every figure (loss_Red, kl_Red, return_Red).
 */
function namedAgents(names: readonly string[], parsed: readonly Parsed[]): Whose[] {
  const groups = new Map<string, { column: number; word: Word }[]>();
  const candidates = parsed.map(({ source, own, rest, agent }) =>
    source && agent === null ? rest.filter((word) => !meaningful(word) && !own.includes(word)) : [],
  );
  parsed.forEach(({ source, rest }, column) => {
    for (const word of candidates[column]) {
      const key = [source!.metric.name, ...rest.map((other) => (other === word ? '*' : other.text))].join(' ');
      const members = groups.get(key) ?? [];
      groups.set(key, members);
      members.push({ column, word });
    }
  });
  const known = new Map<string, string>();
  for (const members of groups.values())
    if (new Set(members.map(({ word }) => word.text)).size > 1)
      for (const { column, word } of members) known.set(word.text, wholeName(names[column], word));
  if (known.size === 0) for (const [text, name] of onlyAgent(names, parsed, candidates)) known.set(text, name);
  return parsed.map(({ agent }, column) => {
    const word = candidates[column].find(({ text }) => known.has(text));
    return word ? { agent: known.get(word.text)!, word } : { agent };
  });
}

/** A word that means nothing we know and stands in the name of every figure, of several different ones at least. */
function onlyAgent(
  names: readonly string[],
  parsed: readonly Parsed[],
  candidates: readonly (readonly Word[])[],
): [string, string][] {
  const figures = parsed.flatMap(({ source, strange }, column) =>
    source && !strange.some(meaningful) ? [column] : [],
  );
  const different = new Set(figures.map((column) => parsed[column].source!.metric.name)).size;
  if (different < fewestFigures) return [];
  const [first, ...others] = figures;
  const word = candidates[first].find(
    ({ text }) =>
      !/^\d+$/.test(text) && others.every((column) => candidates[column].some((other) => other.text === text)),
  );
  return word ? [[word.text, wholeName(names[first], word)]] : [];
}

const fewestFigures = 3;

/** A level that is an agent's name keeps its spelling whole: "Agent Smith/return". */
function wholeName(name: string, word: Word): string {
  const level = levelsOf(name)[word.level];
  const alone = !/[\s_-]/.test(level.text.trim()) || level.text.trim().length === word.to - word.from;
  return (alone ? level.text : name.slice(word.from, word.to)).trim();
}

function one(
  name: string,
  { words, source, strange }: Parsed,
  owner: Whose,
  reference: boolean,
  values: (name: string) => readonly number[],
  mapped: ReadonlyMap<string, string>,
): { row: Recognised; rank: number } {
  const row: Recognised = {
    name,
    metric: null,
    unit: '',
    sign: 1,
    agent: owner.agent,
    used: false,
    note: '',
    guesses: [],
  };
  const none = (note: string) => ({ row: { ...row, note }, rank: 0 });
  const hand = mapped.get(name);
  if (hand !== undefined) {
    const metric = metricOf(hand.replace(/^-/, ''));
    Object.assign(row, {
      metric: metric.name,
      unit: metric.unit,
      sign: hand[0] === '-' ? -1 : 1,
      note: 'mapped by hand',
    });
    return { row, rank: -1 };
  }
  const unowned = strange.filter((word) => word !== owner.word);
  if (!source || unowned.length > 0) {
    if (/__(min|max)$/i.test(name)) return none('least or greatest within a step of the export');
    if (unowned.some(({ text }) => statistics.has(text)))
      return none(`least, greatest or spread of ${source!.metric.name}`);
    if (words.some(({ text }) => settings.has(text))) return none('a setting, or a part of the network');
    if (counts(words)) return none('speed, time or counts');
    return none('');
  }
  const evaluated = words.some(({ text }) => /^(eval|evaluation|test|validation|测试|评估)$/.test(text));
  const metric =
    reference && source.joined === 'kl'
      ? metricOf('reference_kl')
      : evaluated && source.metric.name === 'return'
        ? metricOf('evaluation_return')
        : source.metric;
  Object.assign(row, { metric: metric.name, unit: metric.unit });
  if (source.sign === '-' || (source.sign === '?' && mostlyNegative(values(name)))) row.sign = -1;
  if (row.sign === -1) row.note = 'negated: the log holds minus the figure';
  return { row, rank: source.rank + (evaluated ? 100 : 0) };
}

const metricOf = (name: string) => metrics.find((item) => item.name === name)!;

/** A name that tells of a count or a clock and of nothing else that is known. */
const counts = (words: readonly Word[]) => words.some(({ text }) => housekeeping.has(text));

/** Names that guesses are made for; a table with more columns that nobody understands is no log, and a guess costs as much as a thousand look-ups. */
const mostGuesses = 200;

/** What a name that is not understood may be: the figure it speaks of among others, and those spelt most like it. */
function guess({ rest, source }: Parsed): string[] {
  const key = joined(rest.filter(({ text }) => !decorations.has(text)));
  const alike = [...sources.values()]
    .map(({ metric, joined: other }) => ({ metric: metric.name, likeness: likeness(key, other) }))
    .sort((a, b) => b.likeness - a.likeness)
    .filter((item) => item.likeness >= 0.5);
  return [...new Set([...(source ? [source.metric.name] : []), ...alike.map(({ metric }) => metric)])].slice(0, 3);
}

function mostlyNegative(values: readonly number[]): boolean {
  return values.filter((value) => value < 0).length > values.filter((value) => value > 0).length;
}
