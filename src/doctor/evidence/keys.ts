/** Keys of maps over many rows: numbers that name a pair, exact as long as an agent is below 4096, a minibatch below a million and a group below 65,536. */
export const withAgent = (key: number, agent: number): number => key * 4096 + agent;
export const withMinibatch = (key: number, minibatch: number): number => key * 1e6 + minibatch;
export const withGroup = (key: number, group: number): number => key * 65536 + group;

/** The list of a key, which others may be put at the end of; a new one where there is none. */
export function listOf<Key, Value>(lists: Map<Key, Value[]>, key: Key): Value[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
