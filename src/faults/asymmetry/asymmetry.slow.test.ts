import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { column, echo, recordRun, stagHunt } from '../../../test/support/tiny-runs.ts';
import { makeGame } from '../../games/index.ts';
import { RandomStream } from '../../math/random.ts';
import { createEngine } from '../../net/engine.ts';
import type { Engine } from '../../net/types.ts';
import type { Recording } from '../../recording/index.ts';
import type { SettingsInput } from '../../training/settings.ts';
import { cleanStages } from '../../training/stages.ts';
import { applyFault, asymmetryFaults, effect, type Fault, faults, findFault, whyNot } from '../index.ts';

let engine: Engine;
let clean: Recording;
let cleanHop: Recording;
/** Crowded, so that prey is often met by several at once. */
const crowded = {
  ...stagHunt,
  worlds: 16,
  steps: 16 * 12 * 4 * 4,
  gameSettings: { width: 3, height: 3, hares: 2, horizon: 8 },
};
/** The same with modules, which may imagine from the second iteration on. */
const planning: SettingsInput = {
  ...crowded,
  algorithm: 'hop',
  hop: {
    worldModel: { batch: 32, updates: 40, hidden: [16], capacity: 2000, members: 2 },
    otherAgents: { batch: 32, updates: 2, hidden: [16], capacity: 500 },
    subgoals: { batch: 32, updates: 2, hidden: [16] },
    imagination: { error: 1, longest: 3 },
  },
};
const ofModules = (fault: Fault) => fault.needs?.includes('modules') === true;
beforeAll(async () => {
  engine = await createEngine({ kernel: 'simd', threads: 1 });
  clean = await recordRun(engine, crowded);
  cleanHop = await recordRun(engine, planning);
});
afterAll(() => engine.dispose());

describe('asymmetry faults', () => {
  it('are at least 20, with names of their own, and cover every cause that needs no ladder', () => {
    expect(asymmetryFaults.length).toBeGreaterThanOrEqual(20);
    const ids = [...faults, ...asymmetryFaults].map((fault) => fault.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(asymmetryFaults.map((fault) => fault.cause))).toEqual(
      new Set([
        'environment-seat-bias',
        'environment-name-bias',
        'reward-bookkeeping',
        'settings-differ',
        'update-count-differs',
        'training-order-matters',
        'data-imbalance',
        'perspective-mismatch',
        'subgoal-log-incomplete',
        'imagined-misattributed',
      ]),
    );
  });

  it.each(asymmetryFaults.map((fault) => [fault.id, fault] as const))(
    '%s shows in the recorded columns, and is not named',
    async (_, fault: Fault) => {
      const [settings, healthy] = ofModules(fault) ? [planning, cleanHop] : [crowded, clean];
      const applied = applyFault(fault, 1, cleanStages, settings);
      const faulty = await recordRun(engine, applied.settings, applied.stages);
      const changed = new Set((await effect(faulty, healthy)).map(({ table, column: name }) => `${table}.${name}`));
      for (const place of fault.shows) expect(changed).toContain(place);
      expect(JSON.stringify(faulty.manifest)).not.toContain(fault.id);
    },
  );

  it('of HOP+ agents say what they need where there are no modules', () => {
    for (const fault of asymmetryFaults.filter(ofModules)) {
      expect(whyNot(fault, crowded)).toMatch(/--algorithm hop/);
      expect(whyNot(fault, planning)).toBeNull();
    }
  });

  it('share prey by seat without changing what it pays in all', async () => {
    for (const id of ['prey-to-lowest-seat', 'hare-to-lowest-seat', 'prey-shared-unequally']) {
      const { stages } = applyFault(findFault(id), 2, cleanStages, crowded);
      const plain = makeGame('stag-hunt', crowded.gameSettings);
      const biased = stages.game(makeGame('stag-hunt', crowded.gameSettings));
      const players = RandomStream.of(5, 'players');
      let shared = 0;
      for (let episode = 0; episode < 200; episode++) {
        for (const game of [plain, biased]) game.reset(0, RandomStream.of(5, 'world', episode));
        while (plain.over[0] === 0) {
          const actions = Int32Array.from({ length: 4 }, (_, seat) => {
            const legal = [0, 1, 2, 3, 4, 5, 6].filter((action) => plain.legal[seat * 7 + action] === 1);
            return legal.length > 0 ? legal[players.below(legal.length)] : 0;
          });
          plain.step(actions);
          biased.step(actions);
          const sum = (rewards: Float32Array) => rewards.reduce((total, reward) => total + reward, 0);
          expect(sum(biased.reward)).toBeCloseTo(sum(plain.reward), 5);
          if (biased.reward.some((reward, seat) => Math.abs(reward - plain.reward[seat]) > 1e-6)) shared++;
        }
      }
      expect(shared).toBeGreaterThan(0);
    }
  });

  it('pay a name more wherever it sits when seats are dealt', async () => {
    const dealt = { ...crowded, deal: true };
    const applied = applyFault(findFault('name-paid-more'), 1, cleanStages, dealt);
    const [faulty, plain] = [
      await recordRun(engine, applied.settings, applied.stages, 1),
      await recordRun(engine, dealt, cleanStages, 1),
    ];
    const [ours, theirs, agent, seat] = await Promise.all([
      column(faulty, 'samples', 'env_reward'),
      column(plain, 'samples', 'env_reward'),
      column(plain, 'samples', 'agent'),
      column(plain, 'samples', 'seat'),
    ]);
    const changed = ours.map((_, row) => row).filter((row) => ours[row] !== theirs[row]);
    expect(new Set(changed.map((row) => agent[row]))).toEqual(new Set([applied.strength.agent]));
    expect(new Set(changed.map((row) => seat[row])).size).toBeGreaterThan(1);
  });

  it('update one agent less often, as its counter says', async () => {
    const applied = applyFault(findFault('updated-less-often'), 1, cleanStages, echo);
    const recording = await recordRun(engine, applied.settings, applied.stages);
    const names = (await recording.read('counters', ['name'])).columns.get('name')?.values as string[];
    const [value, agent, iteration] = await Promise.all(
      ['value', 'agent', 'iteration'].map((name) => column(recording, 'counters', name)),
    );
    const last = names.map((_, row) => row).filter((row) => names[row] === 'updates.policy' && iteration[row] === 2);
    for (const row of last) expect(value[row] < 3).toBe(agent[row] === applied.strength.agent);
  });
});
