/** Lists that are made anew keep being the one from before while nothing in them has changed, so that nothing which depends on them is made again. */

/** A memory for one list: hands back the earlier list where the new one has the same entries. */
export function keeping<T>(alike: (a: T, b: T) => boolean = Object.is): (next: T[]) => T[] {
  let before: T[] = [];
  return (next) => {
    if (next.length !== before.length || next.some((entry, i) => !alike(entry, before[i]))) before = next;
    return before;
  };
}

/** Whether two plain objects have the same values by the same names. */
export function sameFields<T extends object>(a: T, b: T): boolean {
  const names = Object.keys(a) as (keyof T)[];
  return names.length === Object.keys(b).length && names.every((name) => Object.is(a[name], b[name]));
}
