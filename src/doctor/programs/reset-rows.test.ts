/** Steps that only reset an environment, in games that pay seldom: what is told of them where they are left out, where they are learned from, and where the first state of an episode stands in the place of the last. */
import { describe, expect, it } from 'vitest';
import { changed, credited, type Made, placesOf, status } from '../../../test/support/programs.ts';
import { numbers } from '../../../test/support/tables.ts';
import { buildChains } from '../../math/chains.ts';

/** Pays seldom and cuts every episode off by a time limit; the value after it is that of the row that follows. Values jump between that row and the one after it, or before it. */
function reset(made: Made, jump: 'after' | 'before' | 'nowhere'): number[] {
  const { samples } = made.tables;
  const columns = ['episode', 't', 'agent', 'env'].map((name) => numbers(samples, name));
  const { rows, streamPrevious, streamNext } = buildChains(columns[0], columns[1], columns[2], columns[3]);
  const iteration = numbers(samples, 'iteration');
  const [reward, value, next, terminated, truncated] = ['reward', 'value', 'next_value', 'terminated', 'truncated'].map(
    (name) => numbers(samples, name),
  );
  const found: number[] = [];
  for (let row = 0; row < rows; row++) {
    const before = streamPrevious[row];
    reward[row] = row % 7 === 0 ? 1 : 0;
    if (before < 0 || iteration[before] !== iteration[row] || terminated[before] + truncated[before] === 0) continue;
    found.push(row);
  }
  const firsts = new Set(found);
  for (let row = 0; row < rows; row++) value[row] = Math.sin(row) / 10;
  for (const row of found) {
    const [before, after] = [streamPrevious[row], streamNext[row]];
    reward[row] = 0;
    if (jump === 'after') value[row] = value[before] + 0.001;
    if (jump === 'before' && after >= 0 && !firsts.has(after)) value[row] = value[after] + 0.001;
    [terminated[before], truncated[before]] = [0, 1];
  }
  for (let row = 0; row < rows; row++)
    if (streamNext[row] >= 0 && iteration[streamNext[row]] === iteration[row]) next[row] = value[streamNext[row]];
  for (const name of ['env_reward', 'logits']) delete samples[name];
  for (const name of ['value']) delete made.tables.replays[name];
  return found;
}

const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);

describe('a step that only resets its environment', () => {
  it('is no fault where the loss leaves it out', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => {
      const rows = new Set(reset(made, 'nowhere'));
      credited(made);
      const { samples, replays } = made.tables;
      for (const row of rows) numbers(samples, 'advantage')[row] = 0;
      delete samples.return;
      replays.weight = placesOf(made.tables).map((row) => (rows.has(row) ? 0 : 1));
    });
    expect(ids(found.causes)).toEqual([]);
    expect(status(found, 'final-observation')).toBe('not-checked');
  });

  it('is a phantom where it is learned from, as the answers show that go on from the old episode', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => {
      reset(made, 'after');
      credited(made);
    });
    expect(ids(found.causes)).toContain('phantom-steps');
    expect(ids(found.causes)).not.toContain('final-observation-lost');
  });

  it('is none where the answers jump before it: the last observation is lost', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => {
      reset(made, 'before');
      credited(made);
    });
    expect(ids(found.causes)).toContain('final-observation-lost');
    expect(ids(found.causes)).not.toContain('phantom-steps');
  });
});
