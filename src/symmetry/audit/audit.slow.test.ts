import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordRun } from '../../../test/support/tiny-runs.ts';
import { applyFault, asymmetryFaults, type Fault, findFault } from '../../faults/index.ts';
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

const made = new Map<Fault, Promise<{ usual: Audit; reversed: Audit }>>();

/** What an audit says of a fault, which is trained once however many tests ask. */
function auditedFault(settings: SettingsInput, fault: Fault): Promise<{ usual: Audit; reversed: Audit }> {
  if (!made.has(fault)) made.set(fault, audited(settings, fault, 5));
  return made.get(fault)!;
}

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

  const byRows = asymmetryFaults.filter(
    ({ cause, needs }) => !cause.startsWith('environment-') && !needs?.includes('modules'),
  );
  it.each(byRows.map((fault) => [fault.id, fault] as const))('names the cause of %s, and only it', async (_, fault) => {
    expect(causesOf(await auditedFault(small, fault))).toEqual([fault.cause]);
  });

  it('says who stands out', async () => {
    const fault = findFault('gamma-of-one');
    const applied = applyFault(fault, 5, cleanStages, small);
    const [finding] = settingsFindings((await auditedFault(small, fault)).usual, null);
    expect(finding.agents).toEqual([applied.strength.agent]);
    expect(finding.summary).toContain('discount');
  });
});

/** Small modules, wide enough in what they may imagine that a world model that has seen little does it already. */
const hop: SettingsInput = {
  ...small,
  algorithm: 'hop',
  hop: {
    worldModel: { batch: 32, updates: 40, hidden: [16], capacity: 2000, members: 2 },
    otherAgents: { batch: 32, updates: 3, hidden: [16], capacity: 500 },
    subgoals: { batch: 32, updates: 3, hidden: [16] },
    imagination: { error: 1, longest: 3 },
  },
};

describe('an audit of HOP+ agents', () => {
  let healthy: { usual: Audit; reversed: Audit };
  beforeAll(async () => {
    healthy = await audited(hop, null, 2);
  });

  it('is silent on a healthy run', () => {
    expect(causesOf(healthy)).toEqual([]);
    const { imagined, counts } = healthy.usual;
    expect(imagined.reduce((sum, own) => sum + own.imagined, 0)).toBeGreaterThan(64);
    expect(imagined.map(({ strange }) => strange)).toEqual([0, 0, 0, 0]);
    expect(counts.sum['subgoal.length']).toEqual(counts.sum['subgoal.expected']);
  });

  const ofModules = asymmetryFaults.filter(({ needs }) => needs?.includes('modules'));
  it.each(ofModules.map((fault) => [fault.id, fault] as const))(
    'names the cause of %s, and only it',
    async (_, fault) => {
      expect(causesOf(await auditedFault(hop, fault))).toEqual([fault.cause]);
    },
  );

  it('says whose log, buffer or module it is', async () => {
    const named = async (id: string) => {
      const applied = applyFault(findFault(id), 5, cleanStages, hop);
      const { usual } = await auditedFault(hop, findFault(id));
      return { strength: applied.strength, findings: [...updateFindings(usual), ...dataFindings(usual)] };
    };
    for (const id of ['subgoal-log-of-one-empty', 'modules-of-one-see-fewer-episodes']) {
      const { strength, findings } = await named(id);
      for (const { agents } of findings) expect(agents).toEqual([strength.agent]);
      expect(findings.length).toBeGreaterThan(0);
    }
    const others = await named('others-modelled-by-first-only');
    expect(others.findings[0].agents).toEqual([1, 2, 3]);
    expect(others.findings[0].summary).toContain('updates.other_agents');
    const early = await named('module-of-some-returns-early');
    expect(early.findings[0].summary).toContain(`early_return.${early.strength.place}`);
    expect(early.findings[0].agents[0]).toBe(early.strength.from);
  });

  it('tells imagined rows that moved from rows that were imagined unequally', () => {
    const clean = healthy.usual;
    const fewer = clean.imagined.map((own, agent) => ({ ...own, imagined: agent === 1 ? 0 : own.imagined }));
    expect(dataFindings({ ...clean, imagined: fewer })).toEqual([]);
    const swapped = clean.imagined.map(({ imagined }) => imagined);
    [swapped[1], swapped[2]] = [swapped[2] + 20, swapped[1] - 20];
    const moved = clean.imagined.map((own, agent) => ({ ...own, imagined: swapped[agent] }));
    expect(dataFindings({ ...clean, imagined: moved }).map(({ cause }) => cause)).toEqual(['imagined-misattributed']);
  });
});
