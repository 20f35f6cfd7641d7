/** A column's name as words: levels, underscores, camelCase and Chinese taken apart. A word keeps its place, so that an agent's name can be given back as the log spells it. */

export interface Word {
  /** In lower case. */
  text: string;
  /** Which level of the name it stands in, from 0. */
  level: number;
  /** Where it stands in the name. */
  from: number;
  to: number;
}

const chinese = /[\u3400-\u9fff]/;
const piece = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[\u3400-\u9fff]+|[^ -~\s]+/g;

/** `vocabulary` holds the Chinese words to look for, because nothing stands between them. */
export function wordsOf(name: string, vocabulary: ReadonlySet<string>): Word[] {
  const words: Word[] = [];
  for (const { text, level, from } of levelsOf(name)) {
    for (const match of text.matchAll(piece)) {
      const at = from + match.index;
      if (chinese.test(match[0])) words.push(...segments(match[0], vocabulary, level, at));
      else words.push({ text: match[0].toLowerCase(), level, from: at, to: at + match[0].length });
    }
  }
  return words;
}

/** Levels are parted by slashes, bars, double colons, and dots before a letter. */
export function levelsOf(name: string): { text: string; level: number; from: number }[] {
  const out: { text: string; level: number; from: number }[] = [];
  let from = 0;
  for (const match of `${name}/`.matchAll(/[/|\\]|::|\.(?=[a-zA-Z_])/g)) {
    out.push({ text: name.slice(from, match.index), level: out.length, from });
    from = match.index + match[0].length;
  }
  return out;
}

/** The longest known words first; what is between them stays together. */
function segments(run: string, vocabulary: ReadonlySet<string>, level: number, from: number): Word[] {
  const words: Word[] = [];
  let unknown = 0;
  const add = (start: number, end: number) => {
    if (end > start) words.push({ text: run.slice(start, end), level, from: from + start, to: from + end });
  };
  for (let at = 0; at < run.length; ) {
    let length = Math.min(8, run.length - at);
    while (length > 0 && !vocabulary.has(run.slice(at, at + length))) length--;
    if (length === 0) {
      at++;
      continue;
    }
    add(unknown, at);
    add(at, at + length);
    at += length;
    unknown = at;
  }
  add(unknown, run.length);
  return words;
}

/** Words without what stands between them: approx_kl, approxKL and ApproxKl are one. */
export const joined = (words: readonly Word[]) => words.map(({ text }) => text).join('');

/** How alike two joined names are, from 0 to 1: the share of their pairs of letters. */
export function likeness(a: string, b: string): number {
  const [left, right] = [pairs(a), pairs(b)];
  if (left.length === 0 || right.length === 0) return a === b ? 1 : 0;
  const rest = [...right];
  let shared = 0;
  for (const pair of left) {
    const at = rest.indexOf(pair);
    if (at < 0) continue;
    rest.splice(at, 1);
    shared++;
  }
  return (2 * shared) / (left.length + right.length);
}

const pairs = (text: string) => Array.from({ length: Math.max(0, text.length - 1) }, (_, i) => text.slice(i, i + 2));
