/** What guard and recording cost at their defaults: the same loop with and without them, iteration by iteration in turn. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '../../src/net/types.ts';
import { createRecording } from '../../src/recording/node.ts';
import { keptWhole } from '../../src/training/record.ts';
import { type Figure, figure, median, timed } from '../support.ts';
import { loopTrainer } from './ours.ts';
import { type Sizes, wide } from './sizes.ts';

/**
 * By default every tenth iteration is kept whole, and the first three. The cost is that of ten iterations in the long run, one of them
 * whole; writing to the disk counts, as every whole iteration is flushed before its time is taken.
 */
export async function guardCost(engine: Engine, sizes: Sizes): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'trueline-cost-'));
  try {
    const bare = loopTrainer(engine, sizes.loop, wide, { guard: 'off', recording: { record: 'off' } });
    const full = loopTrainer(engine, sizes.loop, wide);
    const sink = await createRecording(join(folder, 'run'), full.manifest());
    full.record(sink);
    const { recording } = full.settings;
    const times = { bare: [] as number[], ordinary: [] as number[], whole: [] as number[] };
    await bare.iterate();
    await full.iterate();
    await sink.flush();
    for (let i = 1; i <= recording.every; i++) {
      times.bare.push(await timed(() => bare.iterate()));
      const whole = keptWhole(recording, full.iteration);
      const seconds = await timed(async () => {
        await full.iterate();
        if (whole) await sink.flush();
      });
      (whole ? times.whole : times.ordinary).push(seconds);
    }
    await sink.close();
    const [without, ordinary, whole] = [times.bare, times.ordinary, times.whole].map(median);
    const { every } = recording;
    const share = (((every - 1) * ordinary + whole) / every / without - 1) * 100;
    const note = `an iteration takes ${ms(without)} bare, ${ms(ordinary)} guarded, ${ms(whole)} where it is kept whole`;
    return [figure('guard and recording at their defaults, added time', share, '%', goal(sizes), note)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const goal = (sizes: Sizes) => (sizes.full ? { most: 15 } : undefined);
const ms = (seconds: number) => `${(seconds * 1000).toFixed(0)} ms`;
