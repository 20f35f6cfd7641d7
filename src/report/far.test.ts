import { describe, expect, it } from 'vitest';
import { noReadings } from '../training/record/readings.ts';
import { farFromBand } from './far.ts';

const told = (values: Partial<ReturnType<typeof noReadings>>) => farFromBand({ ...noReadings(), ...values });

describe('readings far from their band', () => {
  it('are said with their orders of magnitude, and accuse nobody', () => {
    expect(told({ k3: 1.4e-7 })).toEqual([
      'KL k3 1.40e-7: five orders of magnitude below its usual band of 0.01 to 0.03; nothing is proved wrong, the step is too small to see',
    ]);
    expect(told({ k3: 0 })[0]).toMatch(/exactly 0, far from its usual band.*nothing is proved wrong/);
    expect(told({ k3: 4 })[0]).toMatch(/^KL k3 4: two orders of magnitude above/);
  });

  it('near it, and readings that are not there, are not said', () => {
    expect(told({ k3: 0.002, clip_fraction: 0 })).toEqual([]);
    expect(told({})).toEqual([]);
  });
});
