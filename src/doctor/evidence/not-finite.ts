/** Returns of episodes, counts and logged numbers that are not finite. They belong to no single iteration of the flow, so they are read on their own; a logged NaN may mean "not known", and only infinity counts there. */
import type { NumberColumn } from '../../recording/column.ts';
import type { Recording } from '../../recording/recording.ts';

export interface NotFinite {
  column: string;
  iteration: number;
  rows: number;
  agents: Set<number>;
}

const watched = [
  { table: 'episodes', column: 'return', nan: true },
  { table: 'counters', column: 'value', nan: true },
  { table: 'scalars', column: 'value', nan: false },
];

/** The first iteration of each column in which there are such numbers. */
export async function findNotFinite(recording: Recording): Promise<NotFinite[]> {
  const all: NotFinite[] = [];
  for (const { table, column, nan } of watched) {
    if (!recording.tables.includes(table)) continue;
    // A log alone proves nothing, not even this: its own reading says so as a symptom.
    if (table === 'scalars' && recording.tables.length === 1) continue;
    const found: NotFinite = { column: `${table}.${column}`, iteration: Infinity, rows: 0, agents: new Set() };
    for await (const chunk of recording.chunks(table, [column, 'iteration', 'agent'])) {
      const values = numbers(chunk.columns.get(column));
      const [iteration, agent] = ['iteration', 'agent'].map((name) => numbers(chunk.columns.get(name)));
      for (let row = 0; values && row < values.length; row++) {
        const value = Number(values[row]);
        if (Number.isFinite(value) || (Number.isNaN(value) && !nan)) continue;
        found.rows++;
        const at = Number(iteration?.[row] ?? 0);
        if (at < found.iteration) found.iteration = Math.max(0, at);
        if (agent && agent[row] >= 0) found.agents.add(Number(agent[row]));
      }
    }
    if (found.rows > 0) all.push({ ...found, iteration: Number.isFinite(found.iteration) ? found.iteration : 0 });
  }
  return all;
}

function numbers(column: { kind: string } | undefined): NumberColumn['values'] | undefined {
  return column && column.kind !== 'text' ? (column as NumberColumn).values : undefined;
}
