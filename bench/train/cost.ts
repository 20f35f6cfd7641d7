/** What guard and recording cost at their defaults: the same loop with and without them, iteration by iteration in turn. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '../../src/net/types.ts';
import { createRecording } from '../../src/recording/node.ts';
import { examinedEvery, isExamined } from '../../src/training/guard/live-doctor.ts';
import { keptWhole } from '../../src/training/record/recorder.ts';
import { type Figure, figure, median, timed } from '../support.ts';
import { loopTrainer } from './ours.ts';
import { type Sizes, wide } from './sizes.ts';

/** Whole iterations that are not examined are timed so often; the bare loop as often as there are others. */
const unexamined = 3;

/**
 * By default every tenth iteration is kept whole, and the first three; of those that are kept whole the doctor is to examine the first four
 * and then two of eight, and in a healthy run it puts every other one off. The cost is that of the long run: of eighty iterations eight are whole and one of them is examined. Writing to the
 * disk counts, as every whole iteration is flushed before its time is taken.
 */
export async function guardCost(engine: Engine, sizes: Sizes): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'trueline-cost-'));
  try {
    const bare = loopTrainer(engine, sizes.loop, wide, { guard: 'off', recording: { record: 'off' } });
    const full = loopTrainer(engine, sizes.loop, wide);
    const sink = await createRecording(join(folder, 'run'), full.manifest());
    full.record(sink);
    const { recording } = full.settings;
    const times = { bare: [] as number[], ordinary: [] as number[], whole: [] as number[], examined: [] as number[] };
    let kept = 1;
    await bare.iterate();
    await full.iterate();
    await sink.flush();
    while (times.whole.length < unexamined) {
      if (times.bare.length <= recording.every) times.bare.push(await timed(() => bare.iterate()));
      const whole = keptWhole(recording, full.iteration);
      const seconds = await timed(async () => {
        await full.iterate();
        if (whole) await sink.flush();
      });
      const examined = whole && isExamined(kept) && kept % 2 === 1;
      if (whole) kept++;
      (examined ? times.examined : whole ? times.whole : times.ordinary).push(seconds);
    }
    await sink.close();
    const [without, ordinary, whole, examined] = [times.bare, times.ordinary, times.whole, times.examined].map(median);
    const mean = ((examinedEvery - 1) * whole + examined) / examinedEvery;
    const { every } = recording;
    const share = (((every - 1) * ordinary + mean) / every / without - 1) * 100;
    const note = `an iteration takes ${ms(without)} bare, ${ms(ordinary)} guarded, ${ms(whole)} where it is kept whole, ${ms(examined)} where it is examined too`;
    return [figure('guard and recording at their defaults, added time', share, '%', goal(sizes), note)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const goal = (sizes: Sizes) => (sizes.full ? { most: 15 } : undefined);
const ms = (seconds: number) => `${(seconds * 1000).toFixed(0)} ms`;
