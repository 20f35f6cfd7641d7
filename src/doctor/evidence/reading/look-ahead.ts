/** Computes what the checks will ask of every iteration, where its rows are read. The same functions make it here and there, so that no answer depends on where. */
import { Iteration } from '../iteration.ts';
import { largestOf } from '../rows.ts';
import type { Run } from '../run.ts';
import type { Ahead } from './ahead.ts';
import type { Slice } from './stream.ts';

export function lookAhead(run: Run, slice: Slice): Ahead | undefined {
  const { chunks } = slice;
  for (const chunk of Object.values(chunks))
    for (const column of chunk.columns.values()) if (column.kind !== 'text') largestOf(column);
  // Without updates both threads have as much to do; and checks of tokens ask other questions.
  if (!chunks.replays || chunks.responses || chunks.samples?.columns.has('token')) return undefined;
  try {
    const iteration = new Iteration(run, slice);
    const { own, before, logCount, stats, halves, clips } = iteration;
    return { own, before, logCount, stats, halves, clips };
  } catch {
    // Columns of which this cannot be made are the checks' to speak of.
    return undefined;
  }
}
