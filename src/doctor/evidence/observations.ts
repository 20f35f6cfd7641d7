/** How large observations are, from the first rows only: they are the widest column, and their size does not change. */
import type { NumberColumn } from '../../recording/column.ts';
import type { Recording } from '../../recording/recording.ts';
import type { Run } from './run.ts';

const enough = 2048;

export async function measureInputs(recording: Recording, run: Run): Promise<void> {
  if (!recording.tables.includes('samples')) return;
  const sums = new Map<number, { squares: number; count: number }>();
  let rows = 0;
  for await (const chunk of recording.chunks('samples', ['agent', 'obs'])) {
    const obs = chunk.columns.get('obs') as NumberColumn | undefined;
    const agent = chunk.columns.get('agent') as NumberColumn | undefined;
    if (!obs?.offsets || !agent) return;
    const values = obs.values as Float32Array;
    for (let i = 0; i < chunk.rows && rows < enough; i++, rows++) {
      const policy = Math.max(0, run.policyOf(Number(agent.values[i])));
      const own = sums.get(policy) ?? { squares: 0, count: 0 };
      sums.set(policy, own);
      for (let k = obs.offsets[i]; k < obs.offsets[i + 1]; k++) own.squares += values[k] ** 2;
      own.count += obs.offsets[i + 1] - obs.offsets[i];
    }
    if (rows >= enough) break;
  }
  for (const [policy, { squares, count }] of sums) if (count > 0) run.inputSize.set(policy, Math.sqrt(squares / count));
  if (run.inputSize.size > 0) run.seen.add('samples.obs');
}
