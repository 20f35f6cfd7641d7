/** What programs print while they train: Stable-Baselines3's tables, rsl_rl's blocks, verl's and TRL's lines, `name: number` in any prose. A name that comes again begins the next record. */
import { BadInput } from '../../bad-input.ts';
import { lines } from '../../files/text-lines.ts';
import type { Budget, ByteSource } from '../../source.ts';
import { type Log, toNumber } from '../log.ts';
import { addRow, type Row } from '../record.ts';
import { parseLogLine } from './json-log.ts';

const cell = /^\s*[|│]\s*(.*?)\s*[|│]\s*(.*?)\s*[|│]\s*$/;
const number = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|nan|[-+]?inf(?:inity)?`;
/** A name, a colon or an equals sign, and a number that nothing is glued to. */
const pair = new RegExp(
  String.raw`([A-Za-z\u3400-\u9fff][\w./() \u3400-\u9fff-]{0,60}?)\s*[:=：]\s*(${number})(?![\w.:/-])`,
  'gi',
);
/** "Learning iteration 12/1500", "Epoch 3", "[update 7]". */
const heading = /\b(iteration|iter|epoch|step|update|episode)\s*[#:]?\s*(\d+)\s*(?:\/\s*\d+|\]|:|,|-|$)/i;

/** Escape sequences that colour a terminal. */
const colours = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, 'g');

export async function readConsole(source: ByteSource, log: Log, budget: Budget): Promise<void> {
  const records = new Records(log);
  let group = '';
  for await (const raw of lines(source, budget)) {
    const line = raw.replace(/\r$/, '').replace(colours, '');
    const row = cell.exec(line);
    if (row) {
      if (row[2] === '' && row[1].endsWith('/')) group = row[1];
      else records.add(`${/^\s*[|│]\s{2,}/.test(line) ? group : ''}${row[1]}`, toNumber(row[2]));
      continue;
    }
    group = '';
    const whole = parseLogLine(line.trim());
    if (whole) {
      records.end();
      records.whole(whole);
      continue;
    }
    const began = heading.exec(line);
    if (began && !new RegExp(`${began[1]}\\s*[:=]`, 'i').test(line))
      records.begin(began[1].toLowerCase(), Number(began[2]));
    for (const match of line.matchAll(pair)) records.add(match[1].trim(), toNumber(match[2]));
  }
  records.end();
  if (records.count === 0)
    throw new BadInput('holds no line with a name and a number, such as "entropy: 0.69"', { file: source.name });
}

/** Gathers names and numbers until one of the names comes again. */
class Records {
  count = 0;
  private row: Row = Object.create(null);

  constructor(private readonly log: Log) {}

  begin(name: string, value: number): void {
    this.end();
    this.row[name] = value;
  }

  add(name: string, value: number | undefined): void {
    if (value === undefined || name === '') return;
    if (Object.hasOwn(this.row, name)) this.end();
    this.row[name] = value;
  }

  whole(row: Row): void {
    addRow(row, this.log, ++this.count);
  }

  /** A record that is a heading alone says nothing. */
  end(): void {
    if (Object.keys(this.row).length > 1) addRow(this.row, this.log, ++this.count);
    this.row = Object.create(null);
  }
}
