import { describe, expect, it } from 'vitest';
import { moduleReadings } from '../../../src/algorithms/hop/readings.ts';
import { readings } from '../../../src/training/record/readings.ts';
import { diagnosis } from './diagnosis.ts';
import { describeReading } from './readings.ts';
import { runs } from './runs.ts';
import { views } from './views.ts';

const texts: Record<string, readonly [string, string]> = { ...diagnosis, ...runs, ...views };
/** Names that are the same in every language. */
const same = ['export.svg', 'export.csv', 'runs.moment', 'replay.found'];

describe('the interface in Chinese', () => {
  it('has a Chinese text for every English one', () => {
    const untold = Object.entries(texts).filter(
      ([key, [, chinese]]) => !same.includes(key) && !/\p{Script=Han}/u.test(chinese),
    );
    expect(untold).toEqual([]);
  });

  it('fills in the same places', () => {
    const places = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();
    for (const [key, [english, chinese]] of Object.entries(texts))
      expect(places(chinese), key).toEqual(places(english));
  });

  it('names and explains every figure that a trainer records', () => {
    const recorded = ['return', 'value_normaliser.mean', 'value_normaliser.spread', 'order'];
    const counters = ['updates.policy', 'push.real', 'buffer.real', 'push.imagined', 'early_return.world_model'];
    for (const name of [...readings, ...moduleReadings].map((entry) => entry.name).concat(recorded, counters)) {
      const told = describeReading(name, 'zh');
      expect(told?.explanation, name).toMatch(/\p{Script=Han}/u);
      // Names of estimators are what they are in every language.
      if (!/^k[123]$/.test(name)) expect(told?.label, name).toMatch(/\p{Script=Han}|KL|logits/u);
    }
    for (const name of [...recorded, ...counters])
      expect(describeReading(name, 'en')?.explanation, name).toMatch(/\.$/);
  });
});
