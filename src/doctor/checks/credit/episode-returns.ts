/** What the table of episodes says that each returned, by episode and agent: the environment's own word, beside the rewards of the rows. */
import type { NumberColumn } from '../../../recording/column.ts';
import type { Recording } from '../../../recording/recording.ts';
import { budgets } from '../../budgets.ts';
import { withAgent } from '../../evidence/keys.ts';
import type { Run } from '../../evidence/run.ts';

export async function readReturns(recording: Recording, run: Run): Promise<void> {
  if (!recording.tables.includes('episodes')) return;
  for await (const { columns, rows } of recording.chunks('episodes', ['episode', 'agent', 'return'])) {
    const [episode, agent, returned] = ['episode', 'agent', 'return'].map(
      (name) => columns.get(name) as NumberColumn | undefined,
    );
    if (!episode || !agent || !returned) return;
    for (let i = 0; i < rows && run.returns.size < budgets.episodes; i++)
      run.returns.set(withAgent(Number(episode.values[i]), Number(agent.values[i])), Number(returned.values[i]));
  }
  if (run.returns.size > 0) run.seen.add('episodes.return');
}
