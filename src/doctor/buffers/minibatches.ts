/** Where the rows of each optimiser step lie in a table that is kept step by step. */
import type { Rows } from '../evidence/rows.ts';

export function* minibatchesOf(table: Rows): Generator<readonly [from: number, to: number]> {
  const [epoch, minibatch] = [table.column('epoch')!, table.column('minibatch')!];
  for (let from = 0; from < table.rows; ) {
    let to = from + 1;
    while (to < table.rows && epoch[to] === epoch[from] && minibatch[to] === minibatch[from]) to++;
    yield [from, to];
    from = to;
  }
}
