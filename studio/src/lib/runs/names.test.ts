import { describe, expect, it } from 'vitest';
import { differing, type ListedRun, landing, matches, nameOf, plainSettings } from './names.ts';

const run = (id: string, settings: Record<string, string>, more: Partial<ListedRun> = {}): ListedRun => ({
  id,
  name: '',
  settings: { fault: 'none', game: 'echo', ...settings },
  manifest: undefined,
  row: { return: 3, spark: [], iterations: 10, seconds: 5 },
  verdict: { verdict: 'healthy', soFar: false },
  reading: false,
  live: false,
  error: '',
  modified: 0,
  within: '',
  tags: [],
  note: '',
  dropped: false,
  ...more,
});

describe('a list of runs', () => {
  it('names them by what differs, the bug first and the seed last', () => {
    const settings = [
      { fault: 'advantage-late', gamma: '0.9', seed: '1', clip: '0.2' },
      { fault: 'none', gamma: '0.99', seed: '2', clip: '0.2' },
    ];
    const keys = differing(settings);
    expect(keys).toEqual(['fault', 'gamma', 'seed']);
    expect(settings.map((own) => nameOf(own, keys))).toEqual([
      'advantage-late · gamma=0.9 · seed 1',
      'gamma=0.99 · seed 2',
    ]);
  });

  it('takes the bug from the manifest', () => {
    expect(plainSettings({ format: 'trueline/1', fault: 'x', seed: 4 })).toMatchObject({ fault: 'x', seed: '4' });
    expect(plainSettings({ format: 'trueline/1' }).fault).toBe('none');
  });

  it('is filtered by settings, verdicts and figures, all of which must hold', () => {
    const good = run('a', { gamma: '0.99', 'ppo.clip': '0.2' });
    const bad = run('b', { gamma: '0.9' }, { verdict: { verdict: 'faulty', soFar: false }, tags: ['keep'] });
    const found = (filter: string) => [good, bad].filter((one) => matches(one, filter)).map(({ id }) => id);
    expect(found('gamma=0.99 verdict=healthy')).toEqual(['a']);
    expect(found('gamma=0.990')).toEqual(['a']);
    expect(found('gamma=0.99 verdict=faulty')).toEqual([]);
    expect(found('clip=0.2')).toEqual(['a']);
    expect(found('gamma<0.95')).toEqual(['b']);
    expect(found('tag=keep')).toEqual(['b']);
    expect(found('return>2')).toEqual(['a', 'b']);
    expect(found('')).toEqual(['a', 'b']);
  });

  it('opens with the newest run, and a bug beside the same run without it', () => {
    const healthy = run('healthy', { seed: '1' });
    const faulty = run('faulty', { seed: '1', fault: 'x' });
    expect(landing([run('new', { seed: '3' }), healthy])).toEqual(['new']);
    expect(landing([healthy, faulty])).toEqual(['faulty', 'healthy']);
    expect(landing([faulty, healthy])).toEqual(['faulty', 'healthy']);
    expect(landing([])).toEqual([]);
  });
});
