/** Options, exit statuses and small helpers that several commands share. */

import { InvalidArgumentError, Option } from 'commander';
import { GameRefusal } from '../../games/refusal.ts';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';

export const exitStatus = { good: 0, faulty: 1, badInput: 2, notEnough: 3, crashed: 70 } as const;

/** 500, 20k, 64M or 8GiB: a size in bytes. */
export function parseSize(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text.trim());
  if (!match)
    throw new InvalidArgumentError(told('A size such as 500M or 8GiB is expected.', '应给出大小，例如 500M 或 8GiB。'));
  return Number(match[1]) * 1024 ** ' kmgt'.indexOf(match[2].toLowerCase() || ' ');
}

export const maxSize = () =>
  new Option('--max-size <size>', 'the most memory that the files may expand to')
    .argParser(parseSize)
    .default(undefined, 'a hundred times what they hold, and 256MiB at least');

export const json = () => new Option('--json', 'print the result as JSON');

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** For an option that may be repeated. */
export const list = (item: string, items: string[]) => [...items, item];

/** As a shell takes it for one word. */
export const quoted = (text: string) => (/^[\w./@:+#-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** What stands between commas. */
export const words = (list: string) => list.split(',').map((word) => word.trim());

export function wholeNumber(text: string): number {
  const value = Number(text.replaceAll('_', ''));
  if (text.trim() === '' || !Number.isSafeInteger(value) || value < 0)
    throw new InvalidArgumentError(told('A whole number is expected.', '应给出整数。'));
  return value;
}

/** What a game or a player says about a wrong name or setting is the user's to mend. */
export function asBadInput(error: unknown): unknown {
  return error instanceof GameRefusal ? new BadInput(error.message.replace(/[.。]$/, '')) : error;
}
