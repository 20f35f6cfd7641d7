import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { column, echo, recordRun } from '../../test/support/tiny-runs.ts';
import { ppoSchema } from '../algorithms/ppo/settings.ts';
import type { TrainJob } from '../algorithms/ppo/update.ts';
import { Batch } from '../batch/batch.ts';
import { choice } from '../distributions/categorical/categorical.ts';
import { createEngine } from '../net/engine.ts';
import type { Engine } from '../net/types.ts';
import type { Recording } from '../recording/index.ts';
import { cleanStages } from '../training/stages.ts';
import { applyFault, findFault } from './index.ts';
import { bounded, clippedTerm, replaceSurrogate } from './surrogate.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await createEngine({ kernel: 'reference' });
});
afterAll(() => engine.dispose());

/** One agent, so that every fault strikes it, and few rows, so that all pairs can be written out. */
const alone = { ...echo, gameSettings: { seats: 1, length: 5, delay: 1 }, steps: 4 * 12 * 2 };

async function faultyRun(id: string, settings = alone): Promise<Recording> {
  const applied = applyFault(findFault(id), 1, cleanStages, settings);
  return recordRun(engine, applied.settings, applied.stages, 1);
}

/** Replays by optimiser step, as rows of the columns asked for. */
async function bySteps(recording: Recording, names: readonly string[]): Promise<number[][][]> {
  const columns = await Promise.all(names.map((name) => column(recording, 'replays', name)));
  const [epoch, minibatch] = await Promise.all(
    ['epoch', 'minibatch'].map((name) => column(recording, 'replays', name)),
  );
  const steps: number[][][] = [];
  epoch.forEach((_, row) => {
    const step = epoch[row] * 3 + minibatch[row];
    steps[step] ??= [];
    steps[step].push(columns.map((values) => values[row]));
  });
  return steps;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('a policy loss that is given by its slopes', () => {
  it('moves the parameters as the engine does when the slopes are those of the clipped surrogate', async () => {
    const settings = { ...alone, ppo: { ...alone.ppo, learningRate: 0.05 } };
    const step = replaceSurrogate(
      cleanStages,
      () => true,
      ({ ratios, advantages, clip }) => ({
        push: (i) =>
          clippedTerm(ratios[i], advantages[i], clip) < ratios[i] * advantages[i] - 1e-12 ? 0 : advantages[i],
      }),
    );
    const clean = await recordRun(engine, settings, cleanStages, 1);
    const rebuilt = await recordRun(engine, settings, { ...cleanStages, step }, 1);
    for (const [table, name] of [
      ['tensors', 'delta_norm'],
      ['replays', 'after_logp'],
      ['steps', 'loss'],
      ['steps', 'clip_fraction'],
    ]) {
      const [ours, theirs] = [await column(rebuilt, table, name), await column(clean, table, name)];
      ours.forEach((value, row) => {
        expect(value).toBeCloseTo(theirs[row], 4);
      });
    }
    // Something was clipped, or the test would not have seen that part.
    expect(Math.max(...(await column(clean, 'steps', 'clip_fraction')))).toBeGreaterThan(0);
  });
});

describe('faults of the loss report what their formula gives', () => {
  it('broadcast-advantage: the mean over all pairs of ratio and advantage', async () => {
    const recording = await faultyRun('broadcast-advantage');
    const steps = await bySteps(recording, ['new_logp', 'old_logp', 'advantage']);
    const reported = await column(recording, 'steps', 'policy_loss');
    steps.forEach((rows, step) => {
      const pairs = rows.flatMap(([now, old]) => {
        const ratio = Math.exp(now - old);
        return rows.map((row) => -Math.min(ratio * row[2], bounded(ratio, 0.2) * row[2]));
      });
      expect(reported[step]).toBeCloseTo(mean(pairs), 6);
    });
  });

  it('broadcast-value: the mean over all pairs of value and return', async () => {
    const settings = { ...alone, ppo: { ...alone.ppo, valueNormalisation: false } };
    const recording = await faultyRun('broadcast-value', settings);
    const steps = await bySteps(recording, ['value', 'return']);
    const reported = await column(recording, 'steps', 'value_loss');
    steps.forEach((rows, step) => {
      const pairs = rows.flatMap(([value]) => rows.map((row) => (value - row[1]) ** 2));
      expect(reported[step]).toBeCloseTo(mean(pairs), 5);
    });
  });

  it('loss-sign-flipped: minus the clipped surrogate, and steps against the advantage', async () => {
    const recording = await faultyRun('loss-sign-flipped');
    const steps = await bySteps(recording, ['new_logp', 'old_logp', 'advantage', 'after_logp']);
    const reported = await column(recording, 'steps', 'policy_loss');
    let agreement = 0;
    steps.forEach((rows, step) => {
      expect(reported[step]).toBeCloseTo(
        mean(rows.map(([now, old, a]) => clippedTerm(Math.exp(now - old), a, 0.2))),
        6,
      );
      agreement += mean(rows.map(([now, , a, after]) => (after - now) * a));
    });
    expect(agreement).toBeLessThan(0);
  });

  it('loss-summed: the mean times the number of rows, with a gradient as many times as long', async () => {
    const clean = await recordRun(engine, alone, cleanStages, 1);
    const summed = await faultyRun('loss-summed');
    for (const name of ['loss', 'policy_loss', 'value_loss', 'grad_norm']) {
      const [ours, theirs] = [(await column(summed, 'steps', name))[0], (await column(clean, 'steps', name))[0]];
      expect(ours / theirs).toBeCloseTo(16, 4);
    }
  });

  it('policy-detached: the loss is what it would be, and the actor feels the entropy alone', async () => {
    const settings = { ...alone, ppo: { ...alone.ppo, entropyCoefficient: 0 } };
    const recording = await faultyRun('policy-detached', settings);
    expect(new Set(await column(recording, 'steps', 'policy_grad_norm'))).toEqual(new Set([0]));
    expect((await column(recording, 'steps', 'policy_loss')).every((loss) => Number.isFinite(loss))).toBe(true);
    const withBonus = await faultyRun('policy-detached');
    expect(Math.min(...(await column(withBonus, 'steps', 'policy_grad_norm')))).toBeGreaterThan(0);
    const whole = await faultyRun('actor-detached');
    expect(new Set(await column(whole, 'steps', 'policy_grad_norm'))).toEqual(new Set([0]));
  });

  it('entropy-sign-flipped: the whole loss has the entropy added', async () => {
    const applied = applyFault(findFault('entropy-sign-flipped'), 1, cleanStages, alone);
    const recording = await recordRun(engine, applied.settings, applied.stages, 1);
    const [loss, policy, value, entropy] = await Promise.all(
      ['loss', 'policy_loss', 'value_loss', 'entropy'].map((name) => column(recording, 'steps', name)),
    );
    const { entropyCoefficient, valueCoefficient } = applied.settings.ppo;
    expect(entropyCoefficient).toBeGreaterThan(0);
    loss.forEach((whole, step) => {
      expect(whole).toBeCloseTo(policy[step] + valueCoefficient * value[step] + entropyCoefficient * entropy[step], 6);
    });
  });

  it('weight-decay-decoupled: the change of a step is mostly rate times decay times size', async () => {
    const recording = await faultyRun('weight-decay-decoupled');
    const [delta, rate, decay, norm] = await Promise.all(
      ['delta_norm', 'learning_rate', 'weight_decay', 'norm'].map((name) => column(recording, 'tensors', name)),
    );
    const weights = delta.map((_, row) => row).filter((row) => norm[row] > 1 && decay[row] > 0);
    expect(weights.length).toBeGreaterThan(0);
    for (const row of weights) {
      const explained = (rate[row] * decay[row] * norm[row]) / (1 - rate[row] * decay[row]);
      expect(Math.abs(delta[row] - explained) / explained).toBeLessThan(0.5);
    }
  });
});

describe('faults of the ends', () => {
  /** Two episodes of one agent in one world. With gamma and lambda 1 and values 0 an advantage is the sum of rewards that it sees. */
  function credited(id: string, values: readonly number[] = [0, 0, 0, 0, 0]): number[] {
    const batch = new Batch({ observation: 1, criticState: 0, candidates: 1, features: 0, action: choice, extras: [] });
    [1, 2, 4, 8, 16].forEach((reward, i) => {
      const row = batch.add();
      batch.sample[row] = row;
      batch.episode[row] = i < 3 ? 0 : 1;
      batch.t[row] = i < 3 ? i : i - 3;
      batch.reward[row] = reward;
      batch.value[row] = values[i];
      batch.terminated[row] = i === 2 || i === 4 ? 1 : 0;
    });
    const { stages } = applyFault(findFault(id), 1, cleanStages, alone);
    stages.credit(batch, ppoSchema.parse({ gamma: 1, lambda: 1 }));
    return Array.from(batch.advantage.subarray(0, 5));
  }

  it('give the sums of rewards that moved or missing ends lead to', () => {
    // A fault of another stage leaves the credit pass as it is.
    expect(credited('advantage-late')).toEqual([7, 6, 4, 24, 16]);
    expect(credited('return-crosses-episodes')).toEqual([31, 30, 28, 24, 16]);
    expect(credited('done-early')).toEqual([3, 2, 12, 8, 16]);
    expect(credited('done-late')).toEqual([15, 14, 12, 8, 16]);
  });

  it('value-crosses-episodes adds only the first value of the next episode', () => {
    expect(credited('value-crosses-episodes', [0, 0, 0, 100, 0])).toEqual([107, 106, 104, -76, 16]);
  });
});

describe('faults of the rows', () => {
  it('phantom rows come after an end, are unpaid and repeat one action', async () => {
    const recording = await faultyRun('phantom-after-leaving');
    const [episode, t, reward, terminated] = await Promise.all(
      ['episode', 't', 'reward', 'terminated'].map((name) => column(recording, 'samples', name)),
    );
    const phantoms = t.map((_, row) => row).filter((row) => t[row] >= 5);
    expect(phantoms.length).toBeGreaterThan(0);
    for (const row of phantoms) {
      expect(reward[row]).toBe(0);
      expect(terminated[row]).toBe(1);
      expect(episode.some((other, i) => other === episode[row] && t[i] === 4 && terminated[i] === 1)).toBe(true);
    }
  });

  it('trained-on-first-agent hands all policies the same rows', async () => {
    const applied = applyFault(findFault('trained-on-first-agent'), 1, cleanStages, echo);
    const agents = new Map<number, Set<number>>();
    const step = ((machine, jobs: readonly TrainJob[]) => {
      for (const { learner, rows } of jobs) agents.set(learner.index, new Set(rows.agent.subarray(0, rows.length)));
      return applied.stages.step(machine, jobs);
    }) satisfies typeof cleanStages.step;
    await recordRun(engine, applied.settings, { ...applied.stages, step }, 1);
    expect(agents).toEqual(new Map([0, 1, 2].map((policy) => [policy, new Set([0])])));
  });
});
