import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../net/engine.ts';
import { memoryStore, Recording, RecordingWriter } from '../recording/index.ts';
import { openRecording } from '../recording/node.ts';
import { Trainer } from '../training/trainer.ts';
import { readingPanels, readingsPicture } from './readings.ts';

const example = join(import.meta.dirname, '../../examples/echo');

describe('the picture of readings', () => {
  it('shows returns per agent and readings per policy, by iteration', async () => {
    const panels = await readingPanels(await openRecording(example));
    expect(panels.map((panel) => panel.title).slice(0, 3)).toEqual(['mean return', 'KL k3', 'clipped']);
    const [returns, k3] = panels;
    expect(k3.band).toEqual([0.01, 0.03]);
    for (const { points } of [...returns.curves, ...k3.curves]) {
      expect(points.length).toBeGreaterThanOrEqual(3);
      expect(points.map(([iteration]) => iteration)).toEqual(
        points.map(([iteration]) => iteration).sort((a, b) => a - b),
      );
    }
  });

  it("shows the held-out errors of HOP+'s modules where a run has them", async () => {
    const trainer = new Trainer(
      { game: 'stag-hunt', algorithm: 'hop', worlds: 8, rollout: 16, network: { hidden: [8] } },
      { engine: await createEngine({ kernel: 'simd', threads: 1 }) },
    );
    const store = memoryStore('hop');
    const writer = await RecordingWriter.create(store, trainer.manifest());
    trainer.record(writer);
    for (let i = 0; i < 2; i++) await trainer.iterate();
    await writer.close();
    const titles = (await readingPanels(await Recording.open(store))).map(({ title }) => title);
    for (const title of ['imagined steps', 'subgoals: error of the guess', 'other agents: share of choices foreseen'])
      expect(titles).toContain(title);
  });

  it('says the bands in words and marks them', async () => {
    const curves = [
      {
        name: 'player_1',
        points: [
          [0, 0.02],
          [1, 0.05],
        ] as [number, number][],
      },
    ];
    const svg = await readingsPicture('a run', [
      { title: 'KL k3', band: [0.01, 0.03], curves },
      { title: 'entropy', band: [null, 0.98], curves },
      { title: 'return', curves },
    ]);
    for (const words of ['a run', 'KL k3   0.01 to 0.03', 'entropy   at most 0.98', 'player_1'])
      expect(svg).toContain(words);
    expect(svg.match(/#009e73/g)?.length).toBe(2);
  });
});
