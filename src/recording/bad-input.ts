/** The one error for input that cannot be used: what is wrong, where, and what to do, in one sentence. It is not for evidence, such as NaN in a measured column. */

import { told } from '../language/language.ts';

export interface Place {
  file?: string;
  table?: string;
  column?: string;
  row?: number;
}

export class BadInput extends Error {
  readonly place: Place;

  constructor(what: string, place: Place = {}) {
    // What is quoted of a file, as by JSON's own complaints, may hold ends of lines.
    super(sentence(what.replace(/\s*\n\s*/g, ' '), place));
    this.name = 'BadInput';
    this.place = place;
  }

  /** The same complaint with the places that the thrower could not know. */
  within(place: Place): BadInput {
    return new BadInput(this.what, { ...place, ...this.place });
  }

  /** The complaint without its place. */
  get what(): string {
    const prefix = where(this.place);
    return prefix ? this.message.slice(prefix.length + 2) : this.message;
  }
}

function where(place: Place): string {
  const parts: string[] = [];
  if (place.file !== undefined) parts.push(place.file);
  const column = [place.table, place.column].filter((part) => part !== undefined).join('.');
  if (column) parts.push(column);
  if (place.row !== undefined) parts.push(told(`row ${place.row}`, `第 ${place.row} 行`));
  return parts.join(', ');
}

function sentence(what: string, place: Place): string {
  const prefix = where(place);
  return prefix ? `${prefix}: ${what}` : what;
}
