import { describe, expect, it } from 'vitest';
import { inLanguage } from '../../language/language.ts';
import { linesTaken, style, visible } from '../../report/style.ts';
import { table } from '../../report/table.ts';
import type { ProgressReport } from '../../training/run.ts';
import { readingsTable } from './live.ts';

const values = { k3: 0.012345, clip_fraction: 0.1234, entropy_ratio: 0.9876, explained_variance: -0.5432 };
const report = {
  readings: [
    { ...values, value_loss: 123.456, kl_after: 0.01234, valid_ratio: 1 },
    { ...values, value_loss: 0.9, kl_after: Number.NaN, valid_ratio: 1 },
  ],
} as unknown as ProgressReport;

describe('tables on a terminal', () => {
  it('of a run under way fit 80 columns in both languages, with every number whole', () => {
    for (const language of ['en', 'zh'] as const) {
      const whole = inLanguage(language, () => readingsTable(report, ['player_1', 'player_2'], style(true)));
      const narrow = inLanguage(language, () => readingsTable(report, ['player_1', 'player_2'], style(true), 80));
      for (const line of narrow.split('\n')) expect(visible(line)).toBeLessThanOrEqual(80);
      for (const figure of ['0.01235', '0.1234', '0.9876', '-0.5432', '123.5', '0.01234']) {
        expect(whole).toContain(figure);
        expect(narrow).toContain(figure);
      }
    }
  });

  it('break the longest cells between words, and stand one below the other where words are too long', () => {
    const rows = [['gamma=0.9 lambda=0.95 clip=0.2', '3', 'a sentence that says what goes wrong']];
    expect(table(['settings', 'runs', 'what'], rows, [], 40)).toBe(
      [
        '  settings         runs  what',
        '  gamma=0.9        3     a sentence that',
        '  lambda=0.95            says what goes',
        '  clip=0.2               wrong',
      ].join('\n'),
    );
    expect(table(['fault', 'cause'], [['a-very-long-name', 'another-long-name']], [], 30)).toBe(
      '  a-very-long-name\n    cause: another-long-name',
    );
  });

  it('are cleared by as many lines as the terminal made of them', () => {
    expect(linesTaken('short\n\u001b[31mtwelve signs\u001b[0m\n', 6)).toBe(4);
    expect(linesTaken('a\nb', undefined)).toBe(2);
    expect(visible('回报 \u001b[1m1\u001b[0m')).toBe(6);
  });
});
