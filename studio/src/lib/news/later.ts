/** What a page can do without at first is done when the first picture stands and nothing else waits. */

/** Not every browser has it. */
const whenIdle = globalThis.requestIdleCallback ?? ((work: () => void) => setTimeout(work));

/** Milliseconds in which the first picture is drawn. */
const first = 100;

/** Returns what calls it off. */
export function later(work: () => void): () => void {
  const timer = setTimeout(() => whenIdle(work), first);
  return () => clearTimeout(timer);
}
