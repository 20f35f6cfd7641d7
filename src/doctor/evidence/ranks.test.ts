import { describe, expect, it } from 'vitest';
import '../../recording/node.ts';
import { inspect } from '../../recording/check/inspect.ts';
import { validate } from '../../recording/check/validate.ts';
import type { Manifest } from '../../recording/manifest.ts';
import { Recording } from '../../recording/recording.ts';
import { memoryStore, type WritableStore } from '../../recording/source.ts';
import { RecordingWriter } from '../../recording/writer.ts';
import { iterations } from './reading/stream.ts';

const manifest: Manifest = {
  format: 'trueline/1',
  settings: { aggregation: 'token-mean' },
};

/** One rank's part: two tokens of one response per iteration, trained in reverse order. */
async function part(store: WritableStore, folder: string, rank: number): Promise<void> {
  const own = memoryStore('part');
  const writer = await RecordingWriter.create(own, manifest);
  for (let iteration = 0; iteration < 2; iteration++) {
    const episode = 2 * iteration + rank;
    await writer.append('samples', {
      iteration: Int32Array.of(iteration, iteration),
      episode: Int32Array.of(episode, episode),
      t: Int32Array.of(3, 4),
      agent: Int32Array.of(0, 0),
      token: Int32Array.of(10 * rank, 10 * rank + 1),
      source: ['sampled', 'environment'],
    });
    await writer.append('responses', {
      iteration: Int32Array.of(iteration),
      episode: Int32Array.of(episode),
      rewarded_as: Int32Array.of(0),
    });
    await writer.append('replays', {
      iteration: Int32Array.of(iteration, iteration),
      epoch: Int32Array.of(0, 0),
      minibatch: Int32Array.of(0, 0),
      sample: Int32Array.of(1, 0),
      new_logp: Float32Array.of(-1, -2),
      rank: Int32Array.of(rank, rank),
    });
    await writer.append('steps', {
      iteration: Int32Array.of(iteration),
      epoch: Int32Array.of(0),
      minibatch: Int32Array.of(0),
      tokens: Int32Array.of(4),
    });
  }
  await writer.close();
  for (const path of await own.list()) {
    const source = await own.open(path);
    await store.write(folder + path, [await source.read(0, source.size)]);
  }
}

async function twoRanks(): Promise<Recording> {
  const store = memoryStore('run');
  await part(store, '', 0);
  await part(store, 'rank-1/', 1);
  return Recording.open(store);
}

describe('a recording of several ranks', () => {
  it('is read as one: the rows of a further rank follow, and what points to rows moves with them', async () => {
    const slices = [];
    for await (const slice of iterations(await twoRanks())) slices.push(slice);
    expect(slices).toHaveLength(2);
    for (const { tables, number } of slices) {
      expect([...tables.samples!.column('token')!]).toEqual([0, 1, 10, 11]);
      expect(tables.samples!.texts('source')).toEqual(['sampled', 'environment', 'sampled', 'environment']);
      expect([...tables.replays!.column('sample')!]).toEqual([1, 0, 3, 2]);
      expect([...tables.responses!.column('episode')!]).toEqual([2 * number, 2 * number + 1]);
      expect([...tables.responses!.column('rewarded_as')!]).toEqual([0, 1]);
      // Steps count all ranks, so the first rank's are enough.
      expect([...tables.steps!.column('tokens')!]).toEqual([4]);
    }
  });

  it('is validated and inspected as a whole, without old_logp, which tokens need not have', async () => {
    const recording = await twoRanks();
    expect(await validate(recording)).toMatchObject({ valid: true, rows: { samples: 8, replays: 8 }, unknown: [] });
    const { tables, unanswered } = await inspect(recording);
    expect(tables.find(({ name }) => name === 'samples')?.rows).toBe(8);
    const missing = unanswered.find(({ question }) => question.includes('retokenised)'));
    expect(missing?.missing).toEqual(['responses.sampled']);
  });

  it('says which declared setting is none that is known', async () => {
    const store = memoryStore('run');
    const writer = await RecordingWriter.create(store, { ...manifest, settings: { aggregation: 'sum' } });
    await writer.append('responses', { iteration: Int32Array.of(0), episode: Int32Array.of(0) });
    await writer.close();
    const { problems } = await validate(await Recording.open(store));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/settings\.aggregation is "sum"/);
  });
});
