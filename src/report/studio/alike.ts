/** What many runs have in common is told once: of each only where it differs. Values are plain JSON; a part that is the same becomes the very same object again. */

/** How a value differs from another: undefined where it does not, `{ '=': value }` where it is told whole, otherwise by the names of its parts. */
export type Difference = { [name: string]: Difference | undefined } | { '=': unknown } | undefined;

type Parts = Record<string, unknown>;

export function difference(common: unknown, value: unknown): Difference {
  // A part that is undefined is not told at all, so what both lack is no difference.
  if (
    isParts(common) &&
    isParts(value) &&
    Object.keys(common).every((name) => common[name] === undefined || value[name] !== undefined)
  ) {
    const made: Record<string, Difference> = {};
    for (const [name, part] of Object.entries(value)) {
      const differs = part === undefined ? undefined : difference(common[name], part);
      if (differs) made[name] = differs;
    }
    return Object.keys(made).length > 0 ? made : undefined;
  }
  if (common === value || (Array.isArray(value) && JSON.stringify(common) === JSON.stringify(value))) return undefined;
  return { '=': value };
}

export function restore(common: unknown, differs: Difference): unknown {
  if (differs === undefined) return common;
  if ('=' in differs) return differs['='];
  const made = { ...(common as Parts) };
  for (const [name, inner] of Object.entries(differs)) made[name] = restore(made[name], inner);
  return made;
}

function isParts(value: unknown): value is Parts {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !('=' in value);
}
