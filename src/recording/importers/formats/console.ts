/** What programs print while they train: Stable-Baselines3's tables, rsl_rl's blocks, verl's and TRL's lines, `name: number` in any prose. A name that comes again begins the next record. */
import { told } from '../../../language/language.ts';
import { BadInput } from '../../bad-input.ts';
import { blocksOfLines } from '../../files/text-lines.ts';
import type { Budget, ByteSource } from '../../source.ts';
import { type Log, toNumber } from '../log.ts';
import { addNumbers, addRow, type Row } from '../record.ts';
import { parseLogLine, verlPairs } from './json-log.ts';

const cell = /^\s*[|│]\s*(.*?)\s*[|│]\s*(.*?)\s*[|│]\s*$/;
const number = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|nan|[-+]?inf(?:inity)?`;
/** What follows a colon or an equals sign: a number that nothing is glued to. */
const numberAfter = new RegExp(String.raw`\s*(${number})(?![\w.:/-])`, 'iy');
const longestName = 61;

/** Every name, colon or equals sign, and number of a line, from left to right. Lines of one program differ in their numbers alone, so what stood between the numbers of earlier lines is tried first, and only what is new is looked at letter by letter. */
export class Pairs {
  private readonly between: (string | undefined)[] = [];
  private readonly names: string[] = [];
  /** How often what stands there was another; where it never stays, as beside a time of day, it is not remembered. */
  private readonly changes: number[] = [];

  /** `text` is how a zero was written, and empty for other numbers. */
  visit(line: string, found: (name: string, value: number, text: string) => void): void {
    let free = 0;
    for (let k = 0; free < line.length; k++) {
      const known = this.between[k];
      if (known !== undefined && line.startsWith(known, free)) {
        const begin = free + known.length;
        const end = digits.read(line, begin);
        if (end > 0) {
          found(this.names[k], digits.value, digits.value === 0 ? line.slice(begin, end) : '');
          free = end;
          continue;
        }
      }
      const pair = nextPair(line, free);
      if (!pair) return;
      this.learn(k, line.slice(free, pair.begin), pair.name);
      const text = line.slice(pair.begin, pair.end);
      const value = toNumber(text);
      if (value !== undefined) found(this.names[k], value, value === 0 ? text : '');
      free = pair.end;
    }
  }

  private learn(k: number, between: string, name: string): void {
    if (this.names[k] !== name) this.names[k] = copied(name);
    this.changes[k] = (this.changes[k] ?? 0) + 1;
    this.between[k] = this.changes[k] < mostChanges ? copied(between) : undefined;
  }
}

const mostChanges = 32;

/** A slice would keep the whole block of the file that it was cut from. */
const copied = (text: string) => [...text].join('');

/** The name is what stands before the sign, from its first letter on: going back from the sign takes one look at each character. */
function nextPair(line: string, free: number): { name: string; begin: number; end: number } | undefined {
  for (let at = free === 0 ? 1 : free; at < line.length; at++) {
    const sign = line.charCodeAt(at);
    if (sign !== 58 && sign !== 61 && sign !== 0xff1a) continue;
    numberAfter.lastIndex = at + 1;
    const value = numberAfter.exec(line);
    if (!value) continue;
    let last = at;
    while (last > free && isSpace(line.charCodeAt(last - 1))) last--;
    let first = last;
    while (first > free && last - first < longestName && isOfName(line.charCodeAt(first - 1))) first--;
    while (first < last && !isLetter(line.charCodeAt(first))) first++;
    if (first === last) continue;
    const end = numberAfter.lastIndex;
    return { name: line.slice(first, last).trim(), begin: end - value[1].length, end };
  }
  return undefined;
}

const powers = Array.from({ length: 23 }, (_, power) => 10 ** power);

/** Reads a number where it stands, without cutting it out. */
class Digits {
  value = 0;

  /** The end of the number that begins here, as `numberAfter` finds it; -1 where there is none, or one that is written as a word. */
  read(line: string, from: number): number {
    const sign = line.charCodeAt(from);
    let at = sign === 43 || sign === 45 ? from + 1 : from;
    let whole = 0;
    let count = 0;
    let decimals = 0;
    let code = line.charCodeAt(at);
    for (; code >= 48 && code <= 57; code = line.charCodeAt(++at)) {
      whole = whole * 10 + (code - 48);
      count++;
    }
    if (code === 46)
      for (code = line.charCodeAt(++at); code >= 48 && code <= 57; code = line.charCodeAt(++at)) {
        whole = whole * 10 + (code - 48);
        count++;
        decimals++;
      }
    if (count === 0) return -1;
    let power = 0;
    if ((code | 32) === 101) {
      const minus = line.charCodeAt(at + 1);
      if (minus === 43 || minus === 45) at++;
      const first = at + 1;
      for (code = line.charCodeAt(++at); code >= 48 && code <= 57; code = line.charCodeAt(++at))
        power = power * 10 + (code - 48);
      if (at === first) return -1;
      if (minus === 45) power = -power;
    }
    if (at < line.length && isGlued(code)) return -1;
    power -= decimals;
    // Whole numbers up to 2^53 and powers of ten up to 10^22 are exact, so that one division or product rounds as it must.
    if (count > 15 || power > 22 || power < -22) this.value = Number(line.slice(from, at));
    else {
      const size = power < 0 ? whole / powers[-power] : whole * powers[power];
      this.value = sign === 45 ? -size : size;
    }
    return at;
  }
}

const digits = new Digits();

const isGlued = (code: number) =>
  (code >= 45 && code <= 58) || code === 95 || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
const isLetter = (code: number) =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 0x3400 && code <= 0x9fff);
const isSpace = (code: number) =>
  code === 32 || code === 9 || (code > 126 && /\s/.test(String.fromCharCode(code))) || (code > 9 && code < 14);
const isOfName = (code: number) =>
  isLetter(code) || (code >= 45 && code <= 57) || code === 95 || code === 32 || code === 40 || code === 41;
/** A name and a number in two columns, as tables without rules have them. */
const columns = new RegExp(String.raw`^\s*([A-Za-z\u3400-\u9fff]\S*(?: \S+){0,5}?)\s{2,}(${number})\s*$`, 'i');
/** What such a line ends with; far quicker to rule out than the whole of it. */
const twoColumns = /\s\s\S+\s*$/;
/** "Learning iteration 12/1500", "Epoch 3", "[update 7]". */
const heading = /\b(iteration|iter|epoch|step|update|episode)\s*[#:]?\s*(\d+)\s*(?:\/\s*\d+|\]|:|,|-|$)/i;

/** Escape sequences that colour a terminal. */
const escapeCode = String.fromCharCode(27);
const colours = new RegExp(`${escapeCode}\\[[\\d;]*m`, 'g');

export async function readConsole(source: ByteSource, log: Log, budget: Budget): Promise<void> {
  const records = new Records(log);
  const pairs = new Pairs();
  const plainer = new Plainer();
  const put = (name: string, value: number, text: string) => records.put(name, value, text);
  let group = '';
  for await (const block of blocksOfLines(source, budget)) {
    for (const raw of block) {
      const plain = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
      const line = plain.includes(escapeCode) ? plain.replace(colours, '') : plain;
      const row = line.includes('|') || line.includes('│') ? cell.exec(line) : null;
      if (row) {
        if (row[2] === '' && row[1].endsWith('/')) group = row[1];
        else records.add(`${/^\s*[|│]\s{2,}/.test(line) ? group : ''}${row[1]}`, row[2]);
        continue;
      }
      group = '';
      const verl = verlPairs(line);
      if (verl) {
        records.end();
        for (const [name, value] of verl) records.add(name, value);
        records.end();
        continue;
      }
      const whole = parseLogLine(objectOf(line));
      if (whole) {
        records.end();
        records.whole(whole);
        continue;
      }
      const lone = twoColumns.test(line) ? columns.exec(line) : null;
      if (lone) {
        records.add(lone[1], lone[2]);
        continue;
      }
      const text = plainer.read(line);
      const began = heading.exec(line);
      if (began && !/^\s*[:=]/.test(line.slice(began.index + began[1].length)))
        records.begin(began[1].toLowerCase(), Number(began[2]));
      pairs.visit(text, put);
    }
  }
  records.end();
  if (records.count === 0)
    throw new BadInput(
      told(
        'holds no line with a name and a number, such as "entropy: 0.69"',
        '没有带名称和数字的行，例如 "entropy: 0.69"',
      ),
      { file: source.name },
    );
}

const listOfNumbers = /([A-Za-z\u3400-\u9fff][\w/ .-]{0,60}?)\s*[:=]\s*\[([-+\d.eE,\s]{3,2000})\]/g;

const listAhead = /[:=]\s*\[/;

/** A list behind a name is a figure of several agents: R=[1.0, 0.8], as Python and numpy print it. */
function withoutLists(line: string): string {
  // Most brackets are no lists, and seeing that is far quicker than looking for the name before one.
  if (!listAhead.test(line)) return line;
  return line.replace(listOfNumbers, (whole, name: string, list: string) => {
    const numbers = list.trim().split(/[\s,]+/);
    return numbers.length < 2 || numbers.some((one) => toNumber(one) === undefined)
      ? whole
      : numbers.map((one, i) => `${name}_agent_${i}=${one}`).join(' ');
  });
}

/** Names and numbers with nothing but a space between them are read only where bars or commas part them from the rest: "Ep 10 | KL 0.01 | ent 0.6". */
const bare = new RegExp(
  String.raw`((?:^|[|,;])\s*[A-Za-z\u3400-\u9fff][\w/.-]{0,40}) +(${number})(?=\s*(?:[|,;]|$))`,
  'gi',
);

/** Lines as `name=number`. Whether a program prints bare pairs is seen in its first lines; the others are spared the search. */
class Plainer {
  private looked = 0;
  private found = false;

  read(line: string): string {
    const text = withoutLists(line);
    if (!this.found && this.looked >= firstLines) return text;
    this.looked++;
    const plain = text.replace(bare, '$1=$2');
    this.found ||= plain !== text;
    return plain;
  }
}

const firstLines = 2000;

/** What a logger puts before an object, such as the time and its level, is left out. */
function objectOf(line: string): string {
  const text = line.trim();
  const from = text.endsWith('}') ? text.indexOf('{') : 0;
  return from > 0 && /['"]\s*:/.test(text.slice(from)) ? text.slice(from) : text;
}

/** Gathers names and numbers until one of the names comes again. */
class Records {
  count = 0;
  /** Of this record the first `size`; the others are those of the record before, which has mostly the same. */
  private names: string[] = [];
  private readonly values: number[] = [];
  private size = 0;
  /** The names of this record, once it differs from the one before. */
  private own: Set<string> | undefined;
  /** How the zeros were written. */
  private readonly zeros = new Map<string, string>();

  constructor(private readonly log: Log) {}

  begin(name: string, value: number): void {
    this.end();
    this.put(name, value, '');
  }

  add(name: string, text: string): void {
    const value = toNumber(text);
    if (value !== undefined) this.put(name, value, text);
  }

  put(name: string, value: number, text: string): void {
    if (name === '') return;
    if (this.own || this.names[this.size] !== name) this.leave(name);
    this.values[this.size++] = value;
    if (value === 0 && text !== '') this.zeros.set(name, text);
  }

  /** Here the record is another than the one before it, or a new one begins. */
  private leave(name: string): void {
    if (this.size > 0 && (name === this.names[0] || this.own?.has(name))) this.end();
    if (!this.own && this.names[this.size] === name) return;
    if (!this.own) {
      this.names = this.names.slice(0, this.size);
      this.own = new Set(this.names);
      if (this.own.has(name)) {
        this.end();
        this.names = [];
        this.own = new Set();
      }
    }
    this.own.add(name);
    this.names.push(name);
  }

  whole(row: Row): void {
    addRow(row, this.log, ++this.count);
  }

  /** A record that is a heading alone says nothing. */
  end(): void {
    if (this.size > 1) {
      if (this.names.length > this.size) this.names = this.names.slice(0, this.size);
      addNumbers(this.names, this.values, this.log, ++this.count);
      for (const [name, text] of this.zeros) if (this.log.has(name)) this.log.written(this.log.at(name), 0, text);
    }
    this.size = 0;
    this.own = undefined;
    if (this.zeros.size > 0) this.zeros.clear();
  }
}
