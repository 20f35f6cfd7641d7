import { describe, expect, it } from 'vitest';
import { Recording } from '../../../src/recording/index.ts';
import { storeOfFiles } from './files.ts';

const blob = (text: string) => new Blob([text]);

describe('dropped files', () => {
  it('are a recording where a manifest is among them, in whichever folder', async () => {
    const files = [
      { path: 'run/manifest.json', blob: blob('{"format": "trueline/1"}') },
      { path: 'run/episodes/0.jsonl', blob: blob('{"episode":0,"agent":0,"return":1}\n') },
      { path: 'other.txt', blob: blob('x') },
    ];
    const recording = await Recording.open(await storeOfFiles('dropped', files));
    expect(recording.tables).toEqual(['episodes']);
  });

  it('are tables where their names say which', async () => {
    const files = [{ path: 'my-episodes.jsonl', blob: blob('{"episode":0,"agent":0,"return":1}\n') }];
    const recording = await Recording.open(await storeOfFiles('dropped', files));
    expect((await recording.read('episodes')).rows).toBe(1);
  });

  it('are a log otherwise', async () => {
    const csv = 'step,approx_kl,entropy\n1,0.01,1.2\n2,0.02,1.1\n';
    const recording = await Recording.open(
      await storeOfFiles('progress.csv', [{ path: 'progress.csv', blob: blob(csv) }]),
    );
    expect(recording.tables).toEqual(['scalars']);
    expect((await recording.read('scalars')).rows).toBeGreaterThanOrEqual(4);
  });

  it('give a sentence where they are nothing that is known', async () => {
    await expect(storeOfFiles('x', [])).rejects.toThrow(/nothing was dropped/);
    await expect(storeOfFiles('x.bin', [{ path: 'x.bin', blob: blob('\u0000\u0001') }])).rejects.toThrow(/x\.bin/);
  });
});
