/** What the run counted: updates, pushes, buffers, early returns, subgoals, places in the order. Compared between agents, never with a wish. */
import type { Recording } from '../../recording/recording.ts';
import { entryOf } from './entry.ts';

export interface Counts {
  /** By name: the value of each agent at the last iteration that has it; NaN where an agent has none. */
  last: Record<string, number[]>;
  /** By name: sum over iterations. */
  sum: Record<string, number[]>;
  /** By name: the first iteration at which agents' values differ; -1 where they never do. */
  onset: Record<string, number>;
  /** Of buffers: their size over the iterations, agent by agent. */
  sizes: Record<string, { iterations: number[]; values: number[][] }>;
  /** How many iterations were counted. */
  iterations: number;
}

export async function readCounters(recording: Recording, agents: number): Promise<Counts> {
  const counts: Counts = { last: {}, sum: {}, onset: {}, sizes: {}, iterations: 0 };
  if (!recording.tables.includes('counters')) return counts;
  const table = await recording.read('counters', ['iteration', 'agent', 'name', 'value']);
  const numbers = (name: string) => table.columns.get(name)?.values as ArrayLike<number>;
  const [iteration, agent, value] = [numbers('iteration'), numbers('agent'), numbers('value')];
  const names = table.columns.get('name')?.values as string[];
  const at = new Map<string, Map<number, number[]>>();
  for (let row = 0; row < table.rows; row++) {
    if (agent[row] >= agents) continue;
    const byIteration = entryOf(at, names[row], () => new Map<number, number[]>());
    const own = entryOf(byIteration, iteration[row], () => new Array<number>(agents).fill(Number.NaN));
    own[agent[row]] = value[row];
    counts.iterations = Math.max(counts.iterations, iteration[row] + 1);
  }
  for (const [name, byIteration] of at) {
    const order = [...byIteration.keys()].sort((a, b) => a - b);
    counts.last[name] = byIteration.get(order[order.length - 1]) ?? [];
    counts.sum[name] = Array.from({ length: agents }, (_, i) =>
      order.reduce((sum, key) => sum + (byIteration.get(key)?.[i] ?? 0), 0),
    );
    if (name.startsWith('buffer.'))
      counts.sizes[name] = {
        iterations: order,
        values: Array.from({ length: agents }, (_, i) => order.map((key) => byIteration.get(key)?.[i] ?? Number.NaN)),
      };
    counts.onset[name] = order.find((key) => new Set(byIteration.get(key)).size > 1) ?? -1;
  }
  return counts;
}
