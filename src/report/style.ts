/** Colours for the terminal. None where the output is no terminal, or where NO_COLOR asks for none. */

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;

export type Paint = (text: string) => string;
export type Style = Record<keyof typeof codes, Paint>;

export function style(enabled: boolean): Style {
  const paints = Object.entries(codes).map(([name, code]) => [
    name,
    (text: string) => (enabled ? `\u001b[${code}m${text}\u001b[0m` : text),
  ]);
  return Object.fromEntries(paints);
}

/** NO_COLOR (any value but the empty one) wins over FORCE_COLOR, which wins over what the stream is. */
export function wantsColour(stream: { isTTY?: boolean }, env: Record<string, string | undefined>): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR && env.FORCE_COLOR !== '0') return true;
  return stream.isTTY === true && env.TERM !== 'dumb';
}

/** Columns of the terminal; without one a line may be as long as it likes. One for the whole program, as its language is. */
let terminal = Number.POSITIVE_INFINITY;
export const useColumns = (columns: number | undefined): void => {
  terminal = columns && columns > 0 ? columns : Number.POSITIVE_INFINITY;
};
export const terminalColumns = (): number => terminal;

const double = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/;

/** Columns that a text takes: colours take none, and signs of Chinese take two. */
export function visible(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what begins with escape.
  const plain = text.replace(/\u001b\[[\d;]*m/g, '');
  return [...plain].reduce((sum, sign) => sum + (double.test(sign) ? 2 : 1), 0);
}

/** Lines that a text takes on a terminal, which breaks what is too long: so many are to be cleared before it is drawn again. */
export function linesTaken(text: string, columns: number | undefined): number {
  const lines = text.split('\n');
  if (!columns) return lines.length;
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(visible(line) / columns)), 0);
}
