import { describe, expect, it } from 'vitest';
import { parameters, small, useTrainer } from '../../../test/support/small-run.ts';
import type { TrainJob } from '../../algorithms/ppo/update.ts';
import { cleanStages } from '../stages.ts';
import type { TrainerOptions } from '../trainer.ts';
import { GuardStop } from './guard.ts';

const { made, run } = useTrainer();

describe('the guard', () => {
  const broken = (change: (job: TrainJob) => TrainJob): Partial<TrainerOptions> => ({ stages: { loss: change } });
  const shifted = broken((job) => ({
    ...job,
    rows: { ...job.rows, oldLogp: job.rows.oldLogp.map((logp) => logp - 0.5) },
  }));

  it('is silent on a healthy run', async () => {
    const said: string[] = [];
    const { trainer } = await run(small, 5, { onNotice: (sentence) => said.push(sentence) });
    expect(said).toEqual([]);
    expect(trainer.guard.counts.size).toBe(0);
  });

  it('says when the first step of an update moves the policy by a KL above 0.2', async () => {
    const said: string[] = [];
    const { trainer } = await run({ ...small, ppo: { learningRate: 3 } }, 1, {
      onNotice: (sentence) => said.push(sentence),
    });
    expect(trainer.guard.counts.get('first-kl-too-large')).toBeGreaterThan(0);
    expect(said.join(' ')).toMatch(/minibatch 0: the KL .* after its step, above 0\.2; one step moves too far/);
  });

  it('drops and counts rows whose log-probability is not replayed, skips the minibatches, and leaves the policy alone', async () => {
    const before = parameters(made(small));
    const said: string[] = [];
    const { trainer, reports } = await run(small, 1, { ...shifted, onNotice: (sentence) => said.push(sentence) });
    expect(trainer.guard.counts.get('replay-differs')).toBe(reports[0].rows);
    expect(trainer.guard.counts.get('minibatch-skipped')).toBe(2 * 2 * 2);
    expect(parameters(trainer)).toEqual(before);
    expect(reports[0].readings[0].valid_ratio).toBe(0);
    expect(said.length).toBe(2);
  });

  it('trains on all the same where it is off', async () => {
    const before = parameters(made(small));
    const { trainer } = await run({ ...small, guard: 'off' }, 1, shifted);
    expect(parameters(trainer)).not.toEqual(before);
  });

  it.each([
    [
      'an unsorted batch',
      {
        arrange: () => {},
        collect: (collector, batch) => {
          cleanStages.collect(collector, batch);
          batch.reorder(Int32Array.from({ length: batch.rows }, (_, i) => batch.rows - 1 - i));
        },
      },
      'rows-not-sorted',
      /samples row 1 \(iteration 0, episode \d+, t \d+, agent player_\d\) does not come after samples row 0/,
    ],
    [
      'a value that is not finite',
      {
        credit: (batch, ppo) => {
          cleanStages.credit(batch, ppo);
          batch.advantage[3] = Number.NaN;
        },
      },
      'not-finite',
      /samples row 3 .*: advantage is NaN/,
    ],
    [
      'a log-probability above 0',
      {
        collect: (collector, batch) => {
          cleanStages.collect(collector, batch);
          batch.oldLogp[5] = 0.25;
        },
      },
      'log-probability-above-0',
      /old_logp is 0\.25/,
    ],
    [
      'another candidate list in the update',
      { loss: (job) => ({ ...job, rows: { ...job.rows, action: job.rows.action.map(() => 0) } }) },
      'replay-differs',
      /new_logp is -[\d.]+ before any step but old_logp is -[\d.]+/,
    ],
    [
      'an optimiser that does not hold the head',
      { loss: (job) => ({ ...job, bound: job.policy.parameters.map(({ role }) => (role === 'head' ? 0 : 1)) }) },
      'not-bound-once',
      /0 optimiser groups hold actor\.head/,
    ],
    [
      'advantages that do not reach the loss',
      {
        step: (machine, jobs) =>
          cleanStages.step(
            machine,
            jobs.map((job) => ({
              ...job,
              settings: { ...job.settings, entropyCoefficient: 0 },
              rows: { ...job.rows, advantage: new Float32Array(job.rows.length) },
            })),
          ),
      },
      'no-gradient',
      /trunk's gradient/,
    ],
    [
      'parameters that do not move',
      {
        step: (machine, jobs) => {
          const kept = jobs.map((job) => job.policy.save());
          const reports = cleanStages.step(machine, jobs);
          jobs.forEach((job, i) => {
            job.policy.load(kept[i]);
          });
          return reports.map((report) => ({
            ...report,
            tensors: report.tensors?.map((tensor) => ({ ...tensor, delta: 0 })),
          }));
        },
      },
      'parameters-not-moved',
      /no parameter changed/,
    ],
  ] as [string, Required<TrainerOptions>['stages'], string, RegExp][])(
    'strict stops at %s',
    async (_name, stages, kind, sentence) => {
      const failed = await run({ ...small, guard: 'strict' }, 1, { stages }).catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(GuardStop);
      expect((failed as GuardStop).kind).toBe(kind);
      expect((failed as GuardStop).message).toMatch(sentence);
    },
  );
});
