import { describe, expect, it } from 'vitest';
import { imported } from '../../../test/support/logs.ts';
import { Recording } from '../recording.ts';
import { memoryStore } from '../source.ts';
import { Log } from './log.ts';
import { writeLog } from './open.ts';

describe('logs that are larger than memory', () => {
  const filled = (log: Log, names: number, each: number) => {
    for (let i = 0; i < each; i++) for (let n = 0; n < names; n++) log.add(`x${n}`, i, i);
    return log;
  };

  it('are thinned evenly: one in two, four ... numbers of every name, the same ones of all', () => {
    const log = filled(new Log(false, 4096), 4, 100_000);
    expect(log.read).toBe(400_000);
    expect(log.thinned).toBe(true);
    expect(log.rows).toBeLessThanOrEqual(4096);
    const values = log.valuesOf('x0');
    const gaps = new Set(values.slice(1).map((value, i) => value - values[i]));
    expect(values[0]).toBe(0);
    expect([...gaps]).toEqual([128]);
    for (const name of ['x1', 'x2', 'x3']) expect(log.valuesOf(name)).toEqual(values);
  });

  it('keep the first number of a stretch that is not finite, and every number of a name that has few', () => {
    const log = new Log(false, 4096);
    for (let i = 0; i < 100_000; i++) {
      log.add('loss', i === 77_777 ? Number.NaN : 1, i);
      if (i % 1000 === 0) log.add('evaluation', i, i);
    }
    expect(log.valuesOf('loss').filter(Number.isNaN)).toHaveLength(1);
    expect(log.valuesOf('evaluation')).toHaveLength(100);
  });

  it('are written whole by import, piece by piece', async () => {
    const rows = 3000;
    const text = `step,kl\n${Array.from({ length: rows }, (_, i) => `${i},${i / 1000}\n`).join('')}`;
    const source = await imported('progress.csv', text);
    const thinned = { ...source, log: filled(new Log(false, 64), 1, 1) };
    thinned.log.read = rows;
    const store = memoryStore('out');
    await writeLog(thinned, store);
    const values = (await (await Recording.open(store)).read('scalars', ['value'])).columns.get('value');
    expect(values?.rows).toBe(rows);
  });
});

describe('zeros of a fixed number of decimals', () => {
  it('are known as such: 0.000 may be anything below 0.0005, 0 and 0.0 are zeros', async () => {
    const table = await imported('a.csv', 'step,kl,entropy,clip_fraction\n1,0.000,0.0,0\n2,0.001,0.5,0\n');
    expect([...table.log.rounding]).toEqual([['kl', 0.0005]]);
    const printed = await imported('a.log', 'step:1 - actor/ppo_kl:0.000 - actor/entropy:0.693\n');
    expect([...printed.log.rounding]).toEqual([['actor/ppo_kl', 0.0005]]);
  });
});
