import { describe, expect, it } from 'vitest';
import { inLanguage } from '../language/language.ts';
import { checkSettings, describeSettings, nearbyDivisors, readSettings, settingsJsonSchema } from './settings.ts';

describe('settings', () => {
  it('are complete without any input', () => {
    const settings = readSettings({});
    expect(settings.ppo.clip).toBe(0.2);
    expect(settings.network.hidden).toEqual([64, 64]);
  });

  it('have a default and one sentence each', () => {
    const described = describeSettings();
    expect(described.length).toBeGreaterThan(40);
    for (const setting of described) {
      expect(setting.description, setting.path).toMatch(/\.$/);
      expect(setting.default, setting.path).not.toBeUndefined();
    }
    expect(described.map((setting) => setting.path)).toContain('ppo.clip');
  });

  it('have a sentence in Chinese each', () => {
    const untold = inLanguage('zh', describeSettings).filter(
      ({ description }) => !/\p{Script=Han}.*。$/u.test(description),
    );
    expect(untold.map(({ path, description }) => `${path}: ${description}`)).toEqual([]);
  });

  it('have a JSON Schema that knows the nested names', () => {
    expect(JSON.stringify(settingsJsonSchema())).toContain('"entropyCoefficient"');
  });

  it('name a wrong one with what was got', () => {
    expect(() => readSettings({ ppo: { clip: -1 } })).toThrow(/ppo\.clip: got -1/);
    expect(() => readSettings({ pppo: {} })).toThrow(/pppo/);
  });

  it('say which numbers of minibatches would divide the rows', () => {
    expect(nearbyDivisors(1000, 3)).toBe('2, 4 or 5');
    const settings = readSettings({ worlds: 10, rollout: 100, ppo: { minibatches: 3 } });
    expect(checkSettings(settings, 1, 1, false).join()).toContain(
      '3 does not divide 1000 rows evenly, so minibatches differ by one row; 2, 4 or 5 would',
    );
    expect(checkSettings(readSettings({ worlds: 10, rollout: 100 }), 1, 1, false)).toEqual([]);
  });

  it('refuse what cannot work', () => {
    const check =
      (input: Parameters<typeof readSettings>[0], seats = 2, learning = 2) =>
      () =>
        checkSettings(readSettings(input), seats, learning, false);
    expect(check({ names: ['a'] })).toThrow(/2 seats/);
    expect(check({ names: ['a', 'a'] })).toThrow(/name of its own/);
    expect(check({ players: ['random', 'random'] }, 2, 0)).toThrow(/no agent learns/);
    expect(check({ network: { head: 'pointer' } })).toThrow(/no features/);
    expect(check({ worlds: 1, rollout: 2 })).toThrow(/at most 2 rows/);
  });
});
