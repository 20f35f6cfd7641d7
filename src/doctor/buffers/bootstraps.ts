/** Which value a target bootstraps from: how what several networks or choices give becomes one number, and whose it is. Several ways are healthy; taking the online networks' is not, where there are target networks. */
import type { Lists } from '../evidence/rows.ts';

export interface Bootstrap {
  readonly of: 'target' | 'online';
  /** `double`: the value of the choice that the other network likes best; healthy where the choice is the online one's. */
  readonly by: 'max' | 'min' | 'mean' | 'first' | 'double';
}

const ways: readonly Bootstrap['by'][] = ['min', 'max', 'double', 'mean', 'first'];

/** Those that are healthy, the declared one first. Where `max` is declared there are choices, and the double rule is one that many take. */
export function healthyBootstraps(declared: string | null): Bootstrap[] {
  const own = ways.filter((by) => declared === null || by === declared || (declared === 'max' && by === 'double'));
  return own.map((by) => ({ of: 'target', by }));
}

/** Those that are not, what is likeliest first. */
export function otherBootstraps(declared: string | null): Bootstrap[] {
  const online = ways.map((by): Bootstrap => ({ of: 'online', by }));
  const rest = ways.filter((by) => declared !== null && by !== declared && by !== 'double');
  const first = online.filter(({ by }) => by === declared);
  return [
    ...first,
    ...online.filter((one) => !first.includes(one)),
    ...rest.map((by): Bootstrap => ({ of: 'target', by })),
  ];
}

export function bootstrapOf({ of, by }: Bootstrap, target: Lists, online: Lists | null, row: number): number {
  const own = of === 'online' ? online : target;
  if (!own) return Number.NaN;
  const [from, to] = [own.offsets[row], own.offsets[row + 1]];
  if (to <= from) return Number.NaN;
  if (by === 'double') return online ? own.values[from + best(of === 'online' ? target : online, row)] : Number.NaN;
  let found = own.values[from];
  if (by === 'first') return found;
  for (let i = from + 1; i < to; i++) {
    const value = own.values[i];
    found = by === 'min' ? Math.min(found, value) : by === 'max' ? Math.max(found, value) : found + value;
  }
  return by === 'mean' ? found / (to - from) : found;
}

function best({ values, offsets }: Lists, row: number): number {
  let at = offsets[row];
  for (let i = at + 1; i < offsets[row + 1]; i++) if (values[i] > values[at]) at = i;
  return at - offsets[row];
}
