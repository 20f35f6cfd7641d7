import { describe, expect, it } from 'vitest';
import { parameters, small, useTrainer } from '../../test/support/small-run.ts';
import { searchedFactor, type TrainJob } from '../algorithms/ppo/update.ts';
import type { Game } from '../games/game.ts';
import type { IterationReport } from './report.ts';
import type { SettingsInput } from './settings.ts';
import { cleanStages } from './stages.ts';

const { made, run } = useTrainer();

describe('a training run', () => {
  it('is the same bit for bit with the same seed and different with another', async () => {
    const first = await run(small, 2);
    const second = await run(small, 2);
    const other = await run({ ...small, seed: 2 }, 2);
    expect(parameters(second.trainer)).toEqual(parameters(first.trainer));
    expect(second.reports).toEqual(first.reports);
    expect(parameters(other.trainer)).not.toEqual(parameters(first.trainer));
  });

  it.each([
    { name: 'ppo', settings: small },
    {
      name: 'mappo, shared, whole episodes',
      settings: { ...small, algorithm: 'mappo', sharing: 'shared', collect: 'episodes', rollout: 1 },
    },
    {
      name: 'adaptive, dealt, with a scripted player',
      settings: { ...small, deal: true, players: ['learn', 'random'], ppo: { adaptiveKl: 0.01, anneal: true } },
    },
  ] as { name: string; settings: SettingsInput }[])(
    'resumed is bit-identical to uninterrupted: $name',
    async ({ settings }) => {
      const whole = await run(settings, 5);
      const first = await run(settings, 2);
      const resumed = made(settings);
      resumed.load(await first.trainer.save());
      const reports: IterationReport[] = [];
      for (let i = 0; i < 3; i++) reports.push(await resumed.iterate());
      expect(reports).toEqual(whole.reports.slice(2));
      expect(parameters(resumed)).toEqual(parameters(whole.trainer));
      expect(Array.from(await resumed.save())).toEqual(Array.from(await whole.trainer.save()));
    },
  );

  it('tells how episodes went before anything is learnt from them', async () => {
    const told: [string, unknown][] = [];
    let before: unknown;
    const trainer = made(small, {
      onPlayed: ({ iteration, steps, returns }) => {
        told.push(['played', { iteration, steps, returns }]);
        before = parameters(trainer);
      },
    });
    const fresh = parameters(trainer);
    const { iteration, steps, returns } = await trainer.iterate();
    told.push(['learnt', { iteration, steps, returns }]);
    expect(told.map(([what]) => what)).toEqual(['played', 'learnt']);
    expect(told[0][1]).toEqual(told[1][1]);
    expect(before).toEqual(fresh);
    expect(parameters(trainer)).not.toEqual(fresh);
  });

  it('refuses a checkpoint of other settings and names the first that differs', async () => {
    const { trainer } = await run(small, 1);
    const other = made({ ...small, ppo: { ...small.ppo, clip: 0.1 } });
    const saved = await trainer.save();
    expect(() => other.load(saved)).toThrow(/ppo\.clip was 0\.2 and is now 0\.1/);
    expect(() => other.load(saved.subarray(0, 200))).toThrow(/cut off/);
  });

  it('relabels policies bit for bit when agents are relabelled with their seats', async () => {
    const names = ['ann', 'bob', 'cid'];
    const settings = { ...small, gameSettings: { seats: 3 }, names };
    const permutation = [2, 0, 1];
    const relabelled = (game: Game): Game => {
      const reset = game.reset.bind(game);
      game.reset = (world, stream) => {
        reset(world, stream);
        game.relabel!(world, permutation);
      };
      return game;
    };
    const straight = await run(settings, 3);
    const moved = await run({ ...settings, names: permutation.map((seat) => names[seat]) }, 3, {
      stages: { game: relabelled },
    });
    expect(parameters(moved.trainer)).toEqual(parameters(straight.trainer));
    expect(parameters(straight.trainer).ann).not.toEqual(parameters(straight.trainer).bob);
  });

  it('does not change what one agent learns when another plays differently in a game where they do not meet', async () => {
    const both = await run(small, 2);
    const one = await run({ ...small, players: ['learn', 'random'] }, 2);
    expect(parameters(one.trainer).player_1).toEqual(parameters(both.trainer).player_1);
  });

  it('updates in the order that is set', async () => {
    const orders = async (order: 'fixed' | 'rotated' | 'shuffled') =>
      (await run({ ...small, order }, 8)).reports.map((report) => report.order.join(''));
    expect(await orders('fixed')).toEqual(Array(8).fill('01'));
    expect(await orders('rotated')).toEqual(['01', '10', '01', '10', '01', '10', '01', '10']);
    expect(new Set(await orders('shuffled'))).toEqual(new Set(['01', '10']));
  });

  it('updates each policy with its own rows only, and a shared one with all', async () => {
    const seen: [number, Set<number>][] = [];
    const step = ((machine, jobs) => {
      for (const job of jobs)
        seen.push([
          job.learner.index,
          new Set(Array.from(job.order.subarray(job.from, job.to), (row) => job.rows.agent[row])),
        ]);
      return cleanStages.step(machine, jobs);
    }) satisfies typeof cleanStages.step;
    await run(small, 1, { stages: { step } });
    for (const [learner, agents] of seen) expect([...agents]).toEqual([learner]);
    seen.length = 0;
    await run({ ...small, sharing: 'shared' }, 1, { stages: { step } });
    for (const [, agents] of seen) expect([...agents].sort()).toEqual([0, 1]);
  });

  it('feeds each row of the batch to each epoch exactly once', async () => {
    const uses = new Map<string, number>();
    const step = ((machine, jobs) => {
      for (const job of jobs)
        for (let i = job.from; i < job.to; i++) {
          const key = `${job.epoch} ${job.rows.sample[job.order[i]]}`;
          uses.set(key, (uses.get(key) ?? 0) + 1);
        }
      return cleanStages.step(machine, jobs);
    }) satisfies typeof cleanStages.step;
    const { reports } = await run({ ...small, ppo: { epochs: 3, minibatches: 3 } }, 1, { stages: { step } });
    expect(uses.size).toBe(3 * reports[0].rows);
    expect(new Set(uses.values())).toEqual(new Set([1]));
  });
});

describe('early stop and adaptive learning rate', () => {
  it('ends the passes once k3 exceeds 1.5 times the target, and only then', async () => {
    const steps: number[] = [];
    const step = ((machine, jobs) => {
      steps.push(jobs.length);
      return cleanStages.step(machine, jobs);
    }) satisfies typeof cleanStages.step;
    const fast = { ...small, gameSettings: { seats: 1 }, ppo: { epochs: 10, minibatches: 2, learningRate: 0.01 } };
    await run(fast, 1, { stages: { step } });
    expect(steps.length).toBe(20);
    steps.length = 0;
    await run({ ...fast, ppo: { ...fast.ppo, targetKl: 1e-4 } }, 1, { stages: { step } });
    expect(steps.length).toBeGreaterThan(1);
    expect(steps.length).toBeLessThan(20);
  });

  it('raises the rate while the KL after the step is far below its target, lowers it far above, and keeps to the bounds', async () => {
    const up = await run({ ...small, ppo: { adaptiveKl: 100, adaptiveBounds: [0.5, 2] } }, 4);
    expect(up.reports.map((report) => report.readings[0].learning_rate)).toEqual([0.001, 0.0015, 0.002, 0.002]);
    const down = await run({ ...small, ppo: { adaptiveKl: 1e-12, adaptiveBounds: [0.4, 2] } }, 4);
    expect(down.reports.map((report) => report.readings[0].learning_rate)).toEqual([0.001, 0.0005, 0.0004, 0.0004]);
  });
});

describe('probes', () => {
  const probing = (probe: object): SettingsInput => ({ ...small, probes: [probe as never] });

  it('put a temperature on the new path only: the ratio leaves 1 before any step while every row is still valid', async () => {
    const ratios: number[] = [];
    const step = ((machine, jobs) => {
      const reports = cleanStages.step(machine, jobs);
      ratios.push(reports[0].k2);
      return reports;
    }) satisfies typeof cleanStages.step;
    const { reports } = await run(
      { ...probing({ probe: 'temperature', value: 0.5, from: 1, updates: 1 }), network: { hidden: [16], headGain: 1 } },
      3,
      { stages: { step } },
    );
    expect(ratios[0]).toBeLessThan(1e-9);
    expect(ratios[4]).toBeGreaterThan(1e-3);
    expect(ratios[8]).toBeLessThan(1e-9);
    expect(reports[1].readings[0].valid_ratio).toBe(1);
  });

  it('draw the head anew, scale advantages, drop the entropy bonus, and give the head a learning rate of its own', async () => {
    const plain = await run(small, 1);
    const larger = await run(probing({ probe: 'reinitialise-head', value: 0.5 }), 1);
    expect(larger.reports[0].readings[0].logit_spread).toBeGreaterThan(5 * plain.reports[0].readings[0].logit_spread);
    const rates: number[] = [];
    const step = ((machine, jobs) => {
      rates.push(
        jobs[0].settings.groups.head.learningRate,
        jobs[0].settings.groups.trunk.learningRate,
        jobs[0].settings.advantageScale,
        jobs[0].settings.entropyCoefficient,
      );
      return cleanStages.step(machine, jobs);
    }) satisfies typeof cleanStages.step;
    await run(
      {
        ...small,
        probes: [
          { probe: 'head-learning-rate', value: 0.03 },
          { probe: 'advantage-scale', value: 3 },
          { probe: 'entropy-off' },
        ],
      },
      1,
      { stages: { step } },
    );
    expect(rates.slice(0, 4)).toEqual([0.03, 0.001, 3, 0]);
  });

  it('the big step is the stated preset', async () => {
    let job: TrainJob | undefined;
    const step = ((machine, jobs) => {
      job = jobs[0];
      return cleanStages.step(machine, jobs);
    }) satisfies typeof cleanStages.step;
    const settings: SettingsInput = {
      ...small,
      ppo: { learningRate: 1e-7, targetKl: 1e-9 },
      probes: [{ probe: 'big-step' }],
    };
    await run(settings, 1, { stages: { step } });
    expect(job?.epoch).toBe(3);
    expect(job?.probe).toBe('big-step');
    expect(job?.settings.groups.trunk.learningRate).toBe(1e-4);
    expect(job?.settings.entropyCoefficient).toBe(0.005);
  });

  it('the big step finds the rate whose KL after an update is between 0.01 and 0.03, and leaves it again', async () => {
    const settings: SettingsInput = {
      ...small,
      ppo: { learningRate: 1e-6 },
      probes: [{ probe: 'big-step', updates: 12 }],
    };
    const { reports, trainer } = await run(settings, 13);
    const found = reports.slice(4, 12).map(({ readings }) => readings[0].kl_after);
    expect(found.filter((kl) => kl >= 0.01 && kl <= 0.03).length).toBeGreaterThanOrEqual(4);
    expect(reports[0].probe).toBe('big-step');
    expect(reports[12].probe).toBe('');
    expect(trainer.learners[0].rateFactor).toBe(1);
  });

  it('a search goes by the square root of what is missing, at most tenfold, and not beyond a rate of 1', () => {
    const band = [0.01, 0.03] as const;
    expect(searchedFactor(2, 1e-3, 0.02, band)).toBe(2);
    expect(searchedFactor(1, 1e-3, 0.01 / 4, band)).toBeCloseTo(Math.sqrt(Math.sqrt(0.0003) / 0.0025), 10);
    expect(searchedFactor(1, 1e-3, 1e-9, band)).toBe(10);
    expect(searchedFactor(1, 1e-3, 0, band)).toBe(10);
    expect(searchedFactor(500, 1e-3, 0, band)).toBe(1000);
    expect(searchedFactor(1, 1e-3, 0.3, band)).toBeLessThan(0.3);
  });
});

describe('weight decay of the head alone', () => {
  it('is the head group only', async () => {
    let job: TrainJob | undefined;
    const step = ((machine, jobs) => {
      job = jobs[0];
      return cleanStages.step(machine, jobs);
    }) satisfies typeof cleanStages.step;
    await run({ ...small, ppo: { headWeightDecay: 0.01 } }, 1, { stages: { step } });
    const { trunk, head, critic } = job!.settings.groups;
    expect([trunk, head, critic].map(({ weightDecay }) => weightDecay)).toEqual([0, 0.01, 0]);
  });
});
