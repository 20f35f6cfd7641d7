/** Numbers that name a pair, as keys of maps over many rows. Exact as long as an agent is below 4096, a minibatch below a million and a group below 65,536. */
export const withAgent = (key: number, agent: number): number => key * 4096 + agent;
export const withMinibatch = (key: number, minibatch: number): number => key * 1e6 + minibatch;
export const withGroup = (key: number, group: number): number => key * 65536 + group;
