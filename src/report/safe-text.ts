/** Text from a recording made harmless in HTML and SVG: names are chosen by strangers. Control characters, and those that turn the direction of writing, become the replacement character. */

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function safeText(text: string): string {
  return [...text].map((character) => entities[character] ?? (isUnsafe(character) ? '\ufffd' : character)).join('');
}

/** The same for a terminal, where a name could move the cursor or change colours: such a character is shown as its code. */
export function printable(text: string): string {
  return [...text].map((character) => (isUnsafe(character) ? shownCode(character) : character)).join('');
}

/** Every text of some plain data made printable. */
export function harmless<Data>(data: Data): Data {
  return JSON.parse(JSON.stringify(data), (_, value) => (typeof value === 'string' ? printable(value) : value));
}

function shownCode(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
}

function isUnsafe(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  const control = (code < 0x20 && code !== 0x0a && code !== 0x09) || (code >= 0x7f && code <= 0x9f);
  const turning = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  const half = code >= 0xd800 && code <= 0xdfff;
  return control || turning || half;
}
