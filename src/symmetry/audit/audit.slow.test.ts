import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyFault, asymmetryFaults, type Fault, findFault } from '../../faults/index.ts';
import { recordRun } from '../../faults/testing.ts';
import { createEngine } from '../../net/engine.ts';
import type { Engine } from '../../net/types.ts';
import type { SettingsInput } from '../../training/settings.ts';
import { cleanStages } from '../../training/stages.ts';
import { type Audit, auditRecording } from './audit.ts';
import { dataFindings, settingsFindings, updateFindings } from './findings.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await createEngine({ kernel: 'simd', threads: 1 });
});
afterAll(() => engine.dispose());

const small: SettingsInput = {
  game: 'stag-hunt',
  worlds: 16,
  rollout: 24,
  guard: 'off',
  recording: { record: 'all' },
  ppo: { epochs: 3, minibatches: 3, learningRate: 3e-3, gamma: 0.95 },
  network: { hidden: [16] },
};
const iterations = 5;
const games: [string, SettingsInput][] = [
  ['stag-hunt', small],
  ['snowdrift', { ...small, game: 'snowdrift' }],
  ['echo', { ...small, game: 'echo', gameSettings: { seats: 3, length: 5, delay: 1 } }],
];

async function audited(
  settings: SettingsInput,
  fault: Fault | null,
  seed: number,
): Promise<{ usual: Audit; reversed: Audit }> {
  const run = async (order: 'fixed' | 'reversed') => {
    const own = { ...settings, order, steps: 16 * 24 * 4 * iterations };
    if (!fault) return auditRecording(await recordRun(engine, { ...own, seed }, cleanStages, iterations));
    const applied = applyFault(fault, seed, cleanStages, own);
    return auditRecording(await recordRun(engine, applied.settings, applied.stages, iterations));
  };
  return { usual: await run('fixed'), reversed: await run('reversed') };
}

const causesOf = ({ usual, reversed }: { usual: Audit; reversed: Audit }) => [
  ...new Set(
    [...updateFindings(usual), ...settingsFindings(usual, reversed), ...dataFindings(usual)].map(({ cause }) => cause),
  ),
];

describe('an audit of rows', () => {
  it.each(games)('is silent on a healthy run of %s, and recovers its settings', async (_, settings) => {
    const audit = await audited(settings, null, 4);
    expect(causesOf(audit)).toEqual([]);
    for (const { gamma, lambda, residual } of audit.usual.credit) {
      expect(residual).toBeLessThan(1e-3);
      expect(gamma).toBeCloseTo(0.95, 3);
      expect(lambda).toBeCloseTo(0.95, 2);
    }
    for (const { entropy, value } of audit.usual.coefficients) {
      expect(entropy).toBeCloseTo(0.01, 4);
      expect(value).toBeCloseTo(0.5, 2);
    }
    for (const { decisions, stored } of audit.usual.rows) {
      expect(decisions).toBeGreaterThan(0);
      expect(stored).toBe(decisions);
    }
  });

  const byRows = asymmetryFaults.filter(({ cause }) => !cause.startsWith('environment-'));
  it.each(byRows.map((fault) => [fault.id, fault] as const))('names the cause of %s, and only it', async (_, fault) => {
    expect(causesOf(await audited(small, fault, 5))).toEqual([fault.cause]);
  });

  it('says who stands out', async () => {
    const fault = findFault('gamma-of-one');
    const applied = applyFault(fault, 5, cleanStages, small);
    const [finding] = settingsFindings((await audited(small, fault, 5)).usual, null);
    expect(finding.agents).toEqual([applied.strength.agent]);
    expect(finding.summary).toContain('discount');
  });
});

describe('imagined rows', () => {
  const hop: SettingsInput = { ...small, algorithm: 'hop', hop: { imagination: { error: 1 } }, steps: 16 * 24 * 4 * 3 };

  it('are whose the counters say in a healthy run, and not when they are filed under the first agent', async () => {
    const clean = await auditRecording(await recordRun(engine, { ...hop, seed: 2 }, cleanStages, 3));
    expect(clean.imagined.reduce((sum, { imagined }) => sum + imagined, 0)).toBeGreaterThan(64);
    expect(dataFindings(clean)).toEqual([]);
    const total = clean.imagined.reduce((sum, { imagined }) => sum + imagined, 0);
    const filed = {
      ...clean,
      imagined: clean.imagined.map((own, agent) => ({ ...own, imagined: agent === 0 ? total : 0 })),
    };
    expect(dataFindings(filed).map(({ cause, agents }) => [cause, agents])).toEqual([['imagined-misattributed', [0]]]);
    const swapped = clean.imagined.map(({ imagined }) => imagined);
    [swapped[1], swapped[2]] = [swapped[2] + 20, swapped[1] - 20];
    const moved = { ...clean, imagined: clean.imagined.map((own, agent) => ({ ...own, imagined: swapped[agent] })) };
    expect(dataFindings(moved).map(({ cause }) => cause)).toEqual(['imagined-misattributed']);
  });

  it('leave a subgoal log that is as long as it should be, and one that is empty is named', async () => {
    const clean = await auditRecording(await recordRun(engine, { ...hop, seed: 3 }, cleanStages, 3));
    const { sum } = clean.counts;
    expect(sum['subgoal.length']).toEqual(sum['subgoal.expected']);
    const empty = {
      ...clean,
      counts: {
        ...clean.counts,
        sum: { ...sum, 'subgoal.length': sum['subgoal.length'].map((length, agent) => (agent === 2 ? 0 : length)) },
      },
    };
    expect(dataFindings(empty).map(({ cause, agents }) => [cause, agents])).toEqual([['subgoal-log-incomplete', [2]]]);
  });
});
