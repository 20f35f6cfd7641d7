/** JSON from strangers. The key `__proto__` is refused by name: copied as other keys are, it would change what an object inherits. */
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';

/** JSON.parse, which throws a SyntaxError as ever, and BadInput where a key is `__proto__`. */
export function parseJson(text: string): unknown {
  const data: unknown = JSON.parse(text);
  // Nearly no text can hold the key, so nearly none is searched for it.
  if (text.includes('__proto__') || text.includes('\\u005')) refuseProto(data);
  return data;
}

/** Not recursive: how deep a stranger's JSON goes is the stranger's choice. */
export function refuseProto(data: unknown): void {
  const left = [data];
  while (left.length > 0) {
    const item = left.pop();
    if (typeof item !== 'object' || item === null) continue;
    if (Object.hasOwn(item, '__proto__'))
      throw new BadInput(told('the key "__proto__" is not accepted; remove it', '不接受键 "__proto__"；请删除它'));
    for (const value of Object.values(item)) if (typeof value === 'object') left.push(value);
  }
}

/** Python's bare NaN and Infinity become the texts "NaN" and "Infinity". Throws a SyntaxError on anything else that is not JSON. */
export function parsePythonJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const quoted = error instanceof SyntaxError ? quoteBare(text) : text;
    if (quoted === text) throw error;
    return parseJson(quoted);
  }
}

/** One pass from left to right, whatever the text: a pattern for whole strings would start over at every quote of a string that never ends. */
function quoteBare(text: string): string {
  const out: string[] = [];
  let from = 0;
  const word = /"|-?Infinity|\bNaN\b/g;
  const inString = /["\\]/g;
  for (let found = word.exec(text); found; found = word.exec(text)) {
    if (found[0] === '"') {
      inString.lastIndex = word.lastIndex;
      let mark = inString.exec(text);
      while (mark && mark[0] === '\\') {
        inString.lastIndex++;
        mark = inString.exec(text);
      }
      if (!mark) break;
      word.lastIndex = inString.lastIndex;
    } else {
      out.push(text.slice(from, found.index), '"', found[0], '"');
      from = word.lastIndex;
    }
  }
  return out.join('') + text.slice(from);
}

/** JSON.stringify, but for what is nested so deep that it cannot be written down. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '[nested too deep]';
  }
}

/** The beginning of a value, for messages. */
export function excerpt(value: unknown): string {
  return jsonText(value).slice(0, 60);
}
