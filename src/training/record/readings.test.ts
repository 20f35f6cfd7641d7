import { describe, expect, it } from 'vitest';
import { inBand, readings } from './readings.ts';

describe('the table of readings', () => {
  it('says of each what it is, how it is computed and what it means, once', () => {
    expect(new Set(readings.map((reading) => reading.name)).size).toBe(readings.length);
    for (const reading of readings) {
      expect(reading.formula.length, reading.name).toBeGreaterThan(10);
      expect(reading.explanation, reading.name).toMatch(/\.$/);
    }
  });

  it('has the service levels as bands', () => {
    const band = (name: string) => readings.find((reading) => reading.name === name)?.band;
    expect(band('clip_fraction')).toEqual([0.05, 0.3]);
    expect(band('k3')).toEqual([0.01, 0.03]);
    expect(band('ratio_mean')).toEqual([0.9, 1.1]);
    expect(band('valid_ratio')).toEqual([0.9, 1]);
  });

  it('knows inside from outside, and from what was not measured', () => {
    expect(inBand('k3', 0.02)).toBe(true);
    expect(inBand('k3', 0.5)).toBe(false);
    expect(inBand('k3', Number.NaN)).toBeUndefined();
    expect(inBand('k1', -1)).toBeUndefined();
    expect(inBand('change.head', 0)).toBe(false);
  });
});
