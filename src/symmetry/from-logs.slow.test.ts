import { describe, expect, it } from 'vitest';
import { event, eventFile, simpleValue } from '../../bench/import/events.ts';
import { RandomStream } from '../math/random.ts';
import { everyLog } from '../recording/importers/every.ts';
import { logRecording } from '../recording/importers/open.ts';
import type { Recording } from '../recording/recording.ts';
import { memoryStore } from '../recording/source.ts';
import { investigateRecordings } from './from-recordings.ts';

/** A folder of TensorBoard logs, 5 seeds of 4 agents, in which each agent is worth `gap` less than the one before it. */
async function folderOfLogs(seed: number, gap: number): Promise<Recording[]> {
  const store = memoryStore('logs');
  const stream = RandomStream.of(seed, 'symmetry from logs');
  for (let run = 0; run < 5; run++) {
    const luck = stream.normal();
    for (let agent = 0; agent < 4; agent++) {
      const worth = 3 - gap * agent + 0.1 * stream.normal() + 0.2 * luck;
      const events = Array.from({ length: 40 }, (_, i) =>
        event(100 * (i + 1), i, [
          ['rollout/ep_rew_mean', simpleValue(worth * Math.min(1, (i + 1) / 20) + 0.02 * stream.normal())],
          ['train/value_loss', simpleValue(0.5)],
        ]),
      );
      await store.write(`seed_${run}/agent_${agent}/events.out.tfevents.1`, [eventFile(...events)]);
    }
  }
  const recordings: Recording[] = [];
  for await (const run of everyLog(store)) {
    if ('why' in run) throw new Error(run.why);
    recordings.push(await logRecording(run.imported));
  }
  return recordings;
}

describe('symmetry from TensorBoard logs of several seeds', () => {
  it('finds a ranking that follows the number of the agent, with p below 0.001', async () => {
    const diagnosis = await investigateRecordings(await folderOfLogs(1, 0.5), 'trueline symmetry logs');
    const [phenomenon] = diagnosis.stages;
    expect(phenomenon.did).toContain('5 logs were taken as seeds');
    expect(phenomenon.tests[0]).toMatchObject({ significant: true });
    expect(phenomenon.tests[0].p).toBeLessThan(0.001);
    expect(phenomenon.figures['late value_loss by agent']).toEqual([0.5, 0.5, 0.5, 0.5]);
    expect(phenomenon.charts.length).toBeGreaterThan(0);
  });

  it('claims nothing of 20 folders in which agents are alike', async () => {
    const found: number[] = [];
    for (let seed = 100; seed < 120; seed++) {
      const diagnosis = await investigateRecordings(await folderOfLogs(seed, 0), 'trueline symmetry logs');
      if (diagnosis.stages[0].status === 'found') found.push(seed);
    }
    expect(found).toEqual([]);
  });
});
