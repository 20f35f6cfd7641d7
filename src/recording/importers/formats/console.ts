/** What programs print while they train: Stable-Baselines3's tables, rsl_rl's blocks, verl's and TRL's lines, `name: number` in any prose. A name that comes again begins the next record. */
import { told } from '../../../language/language.ts';
import { BadInput } from '../../bad-input.ts';
import { blocksOfLines } from '../../files/text-lines.ts';
import type { Budget, ByteSource } from '../../source.ts';
import { type Log, toNumber } from '../log.ts';
import { addRow, type Row } from '../record.ts';
import { parseLogLine, verlPairs } from './json-log.ts';

const cell = /^\s*[|│]\s*(.*?)\s*[|│]\s*(.*?)\s*[|│]\s*$/;
const number = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|nan|[-+]?inf(?:inity)?`;
/** What follows a colon or an equals sign: a number that nothing is glued to. */
const numberAfter = new RegExp(String.raw`\s*(${number})(?![\w.:/-])`, 'iy');
const longestName = 61;

/** Every name, colon or equals sign, and number of a line, from left to right. The name is what stands before the sign, from its first letter on: going back from the sign takes one look at each character. */
export function pairsOf(line: string): [name: string, text: string][] {
  const found: [string, string][] = [];
  let free = 0;
  for (let at = 1; at < line.length; at++) {
    const sign = line.charCodeAt(at);
    if (sign !== 58 && sign !== 61 && sign !== 0xff1a) continue;
    numberAfter.lastIndex = at + 1;
    const value = numberAfter.exec(line);
    if (!value) continue;
    let end = at;
    while (end > free && isSpace(line.charCodeAt(end - 1))) end--;
    let begin = end;
    while (begin > free && end - begin < longestName && isOfName(line.charCodeAt(begin - 1))) begin--;
    while (begin < end && !isLetter(line.charCodeAt(begin))) begin++;
    if (begin === end) continue;
    found.push([line.slice(begin, end).trim(), value[1]]);
    free = numberAfter.lastIndex;
    at = free - 1;
  }
  return found;
}

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
      const whole = parseLogLine(line.trim());
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
      const began = heading.exec(line);
      if (began && !/^\s*[:=]/.test(line.slice(began.index + began[1].length)))
        records.begin(began[1].toLowerCase(), Number(began[2]));
      for (const [name, text] of pairsOf(line)) records.add(name, text);
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

/** Gathers names and numbers until one of the names comes again. */
class Records {
  count = 0;
  private row: Row = Object.create(null);
  /** How the numbers were written. */
  private texts = new Map<string, string>();

  constructor(private readonly log: Log) {}

  begin(name: string, value: number): void {
    this.end();
    this.row[name] = value;
  }

  add(name: string, text: string): void {
    const value = toNumber(text);
    if (value === undefined || name === '') return;
    if (Object.hasOwn(this.row, name)) this.end();
    this.row[name] = value;
    if (value === 0) this.texts.set(name, text);
  }

  whole(row: Row): void {
    addRow(row, this.log, ++this.count);
  }

  /** A record that is a heading alone says nothing. */
  end(): void {
    if (Object.keys(this.row).length > 1) {
      addRow(this.row, this.log, ++this.count);
      for (const [name, text] of this.texts) if (this.log.has(name)) this.log.written(this.log.at(name), 0, text);
    }
    this.row = Object.create(null);
    this.texts.clear();
  }
}
