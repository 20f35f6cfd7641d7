/** When the doctor beside a run names a cause: with the second of two iterations in a row that show it, whenever the first was. */
import { describe, expect, it } from 'vitest';
import { small, useTrainer } from '../../../test/support/small-run.ts';
import { memoryStore } from '../../recording/source.ts';
import { RecordingWriter } from '../../recording/writer.ts';
import { assignCredit } from '../credit/assign-credit.ts';
import type { Stages } from '../stages.ts';

const { made } = useTrainer();

/** The iterations in which a cause was named, where the credit of some has another lambda than the settings say. */
async function named(strikes: (iteration: number) => boolean): Promise<{ iterations: number[]; said: string[] }> {
  const credit: Stages['credit'] = (batch, ppo) =>
    assignCredit(batch, ppo.gamma, strikes(batch.iteration[0]) ? 0.3 : ppo.lambda);
  const said: string[] = [];
  const trainer = made(
    { ...small, recording: { every: 2 } },
    { stages: { credit }, onNotice: (word) => said.push(word) },
  );
  trainer.record(await RecordingWriter.create(memoryStore('test'), trainer.manifest()));
  const iterations: number[] = [];
  let count = 0;
  for (let i = 0; i < 7; i++) {
    await trainer.iterate();
    const now = trainer.guard.counts.get('cause-named') ?? 0;
    if (now > count) iterations.push(i);
    count = now;
  }
  return { iterations, said };
}

describe('the doctor beside a run', () => {
  // Kept whole are 0, 1, 2, 4 and 6, and the first four of them are examined, each with the one before it.
  it('says nothing of a healthy run', async () => {
    expect(await named(() => false)).toEqual({ iterations: [], said: [] });
  });

  it('names a cause with the second iteration that shows it, and counts it from then on', async () => {
    const { iterations, said } = await named(() => true);
    expect(iterations).toEqual([1, 2, 4]);
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/^credit-formula-differs: .*trueline explain credit-formula-differs$/);
  });

  it.each([
    [1, [2, 4]],
    [2, [4]],
    [4, []],
  ])('names a cause that begins in iteration %i with the next examination', async (first, expected) => {
    expect((await named((iteration) => iteration >= first)).iterations).toEqual(expected);
  });

  it('forgets a cause that one examination shows alone', async () => {
    expect((await named((iteration) => iteration === 4)).iterations).toEqual([]);
  });
});
