import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRecording } from '../recording/node.ts';
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

  it('says the bands in words and marks them', () => {
    const curves = [
      {
        name: 'player_1',
        points: [
          [0, 0.02],
          [1, 0.05],
        ] as [number, number][],
      },
    ];
    const svg = readingsPicture('a run', [
      { title: 'KL k3', band: [0.01, 0.03], curves },
      { title: 'entropy', band: [null, 0.98], curves },
      { title: 'return', curves },
    ]);
    for (const words of ['a run', 'KL k3   0.01 to 0.03', 'entropy   at most 0.98', 'player_1'])
      expect(svg).toContain(words);
    expect(svg.match(/#009e73/g)?.length).toBe(2);
  });
});
