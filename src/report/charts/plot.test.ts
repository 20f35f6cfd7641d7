import { describe, expect, it } from 'vitest';
import type { Lines, Scatter } from '../pictures/picture.ts';
import { brailleCloud, fold, plotText, sparkline } from './plot.ts';

const unit = { min: 0, max: 1 };

describe('plots of characters', () => {
  it('put a dot where the point is: corners of a field of 4 by 8 dots', () => {
    const cloud = (x: number, y: number) => brailleCloud([x], [y], [unit, unit], 2, 2);
    expect(cloud(0, 1)).toEqual(['⠁⠀', '⠀⠀']);
    expect(cloud(1, 0)).toEqual(['⠀⠀', '⠀⢀']);
    expect(brailleCloud([0, 1], [0, 1], [unit, unit], 2, 2)).toEqual(['⠀⠈', '⡀⠀']);
  });

  it('draw a rising line as rising blocks, and a gap as a gap', () => {
    const line = { x: [0, 1, 2, 7], y: [0, 1, 2, 7] };
    expect(sparkline(line, { min: 0, max: 7 }, { min: 0, max: 7 }, 8)).toBe('▁▂▃    █');
  });

  it('stand side by side where there is room, and below each other where not', () => {
    const panel = { note: 'note', x: [0, 1], y: [0, 1], total: 2 };
    const picture: Scatter = {
      kind: 'scatter',
      id: 'p',
      title: 'title',
      caption: '',
      xName: 'x',
      yName: 'y',
      diagonal: true,
      panels: [
        { ...panel, label: 'Before' },
        { ...panel, label: 'After' },
      ],
    };
    expect(plotText(picture, 90).some((line) => /Before +After/.test(line))).toBe(true);
    const narrow = plotText(picture, 40);
    expect(narrow.some((line) => /Before +After/.test(line))).toBe(false);
    expect(Math.max(...narrow.map((line) => line.length))).toBeLessThanOrEqual(40);
  });

  it('show 0 on an axis of magnitudes as the lowest block', () => {
    const picture: Lines = {
      kind: 'lines',
      id: 'l',
      title: 't',
      caption: '',
      xName: 'iteration',
      yName: 'length',
      logarithmic: true,
      lines: [
        { name: 'head', x: [0, 1], y: [0, 0] },
        { name: 'trunk', x: [0, 1], y: [0.01, 1] },
      ],
    };
    const [head, trunk] = plotText(picture, 60).slice(-2);
    expect(head).toMatch(/^head {2}▁ +▁ 0$/);
    expect(trunk).toMatch(/^trunk ▁ +█ 1$/);
  });

  it('fold text between words', () => {
    expect(fold('one two three', 8)).toEqual(['one two', 'three']);
    expect(fold('short', 20, 2)).toEqual(['short', '']);
    // A sign of Chinese takes two columns, and a stop stays with what it ends.
    expect(fold('优势值与动作对齐，在同一个 t 上。', 12)).toEqual(['优势值与动作', '对齐，在同一', '个 t 上。']);
  });
});
