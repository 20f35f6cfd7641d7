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
