/** A sweep file: settings that all runs share, lists of what varies, and seeds. Every combination of the lists is run with every seed. */

import { z } from 'zod';
import { told } from '../language/language.ts';
import { BadInput } from '../recording/bad-input.ts';
import { jsonText } from '../recording/files/json.ts';
import { mergeSettings, recommendedSettings } from '../training/recommended.ts';
import { makeJob } from './job.ts';
import type { SweepJob } from './sweep.ts';

export const sweepSchema = z.strictObject({
  name: z.string().min(1).optional().describe('What the sweep is called.'),
  base: z.record(z.string(), z.unknown()).default({}).describe('Settings that every run has.'),
  vary: z
    .record(z.string(), z.array(z.unknown()).min(1))
    .default({})
    .describe('By dotted name of a setting, the values that are tried; every combination is run.'),
  seeds: z
    .union([z.int().min(1).max(10_000), z.array(z.int().min(0)).min(1)])
    .default(1)
    .describe('How many seeds, from 1 on, or the seeds themselves.'),
});

export type SweepFile = z.input<typeof sweepSchema>;

/**
 * The jobs of a file's contents, labelled by what varies. `portable` takes the arithmetic that gives the same bits on every CPU where the file leaves the
 * choice open, because a job may begin on one machine and end on another.
 */
export function readSweep(data: unknown, { portable = false } = {}): { name: string | undefined; jobs: SweepJob[] } {
  const parsed = sweepSchema.safeParse(data);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new BadInput(
      told(
        `${issue.path.join('.') || 'the file'}: ${issue.message}; a sweep has name, base, vary and seeds, such as {"base": {"game": "echo"}, "vary": {"ppo.gamma": [0.9, 0.99]}, "seeds": 5}`,
        `${issue.path.join('.') || '文件'}：${issue.message}；扫描有 name、base、vary 和 seeds，例如 {"base": {"game": "echo"}, "vary": {"ppo.gamma": [0.9, 0.99]}, "seeds": 5}`,
      ),
    );
  }
  const { name, base, vary, seeds } = parsed.data;
  if ('seed' in base)
    throw new BadInput(
      told(
        'base.seed: seeds are given once, as "seeds", outside of base',
        'base.seed：种子只给一次，写作 base 之外的 "seeds"',
      ),
    );
  const list = typeof seeds === 'number' ? Array.from({ length: seeds }, (_, i) => i + 1) : seeds;
  const jobs: SweepJob[] = [];
  for (const choice of combinations(vary)) {
    const given = mergeSettings(base, ...choice.map(({ path, value }) => nested(path, value)));
    if (typeof given.game !== 'string')
      throw new BadInput(
        told(
          'no game is named; give base.game, or vary game, such as "base": {"game": "stag-hunt"}',
          '没有指定游戏；请给出 base.game，或在 vary 里写 game，例如 "base": {"game": "stag-hunt"}',
        ),
      );
    const settings = mergeSettings(
      recommendedSettings(given.game, given.algorithm) as Record<string, unknown>,
      portable ? { kernel: 'simd' } : {},
      given,
    );
    const words = choice.map(({ path, value }) => `${path}=${typeof value === 'string' ? value : jsonText(value)}`);
    for (const seed of list)
      jobs.push({
        label: [...(words.length > 0 ? words : [given.game]), `seed ${seed}`].join(' '),
        job: makeJob(settings, seed),
      });
  }
  return { name, jobs };
}

function combinations(vary: Record<string, unknown[]>): { path: string; value: unknown }[][] {
  return Object.entries(vary).reduce<{ path: string; value: unknown }[][]>(
    (so, [path, values]) => so.flatMap((chosen) => values.map((value) => [...chosen, { path, value }])),
    [[]],
  );
}

/** `ppo.clip` and 0.1 as { ppo: { clip: 0.1 } }. */
function nested(path: string, value: unknown): Record<string, unknown> {
  return path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Record<string, unknown>;
}
