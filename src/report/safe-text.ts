/** Text from a recording made harmless in HTML and SVG: names are chosen by strangers. Control characters, and those that turn the direction of writing, become the replacement character. */

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function safeText(text: string): string {
  return [...text].map((character) => entities[character] ?? (isUnsafe(character) ? '\ufffd' : character)).join('');
}

/** The same for a terminal, where a name could move the cursor or change colours. */
export function printable(text: string): string {
  return [...text].map((character) => (isUnsafe(character) ? '\ufffd' : character)).join('');
}

function isUnsafe(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  const control = (code < 0x20 && code !== 0x0a && code !== 0x09) || (code >= 0x7f && code <= 0x9f);
  const turning = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  const half = code >= 0xd800 && code <= 0xdfff;
  return control || turning || half;
}
