import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RandomStream } from '../math/random.ts';
import { causeById } from './causes.ts';
import { diagnose } from './diagnose.ts';
import type { Diagnosis } from './diagnosis.ts';
import { type SimulationOptions, simulate } from './testing.ts';
import { creditFaults, endFaults, neighbour, repair, replayFaults, type Spoil } from './testing-faults.ts';
import { gradientFaults } from './testing-faults-gradient.ts';
import { numbers, record } from './testing-tables.ts';
import { Lag } from './transforms/credit/lag.ts';

async function afterSpoiling(spoil: Spoil, options: SimulationOptions = {}, without: string[] = []) {
  const made = simulate(options);
  spoil(made.tables, RandomStream.of(7, 'spoil'));
  return diagnose(await record(made, { without }));
}

const ids = (diagnosis: Diagnosis) => [...diagnosis.causes, ...diagnosis.remarks].map(({ id }) => id);
/** Columns without which a question that decides cannot be asked. */
const deciding = ['samples.reward', 'samples.value', 'samples.terminated', 'samples.advantage'];

describe('the doctor names, first of all,', () => {
  for (const [cause, how, spoil, options] of [...replayFaults, ...creditFaults, ...endFaults, ...gradientFaults] as [
    string,
    string,
    Spoil,
    SimulationOptions?,
  ][]) {
    it(`${cause}: ${how}`, async () => {
      const diagnosis = await afterSpoiling(spoil, options);
      expect(ids(diagnosis)[0]).toBe(cause);
      // What is only reported wrongly harms nobody.
      expect(diagnosis.verdict).toBe(causeById(cause)?.group === 'E' ? 'healthy' : 'faulty');
    });
  }
});

describe('a diagnosis', () => {
  it('keeps silent about healthy runs of every kind', async () => {
    const variants: SimulationOptions[] = [
      {},
      { iterations: 1 },
      { epochs: 1, minibatches: 1 },
      { epochs: 8, minibatches: 4 },
      { normalisation: 'minibatch' },
      { normalisation: 'none' },
      { agents: 1 },
      { agents: 4, shared: true },
      { entropyCoefficient: 0 },
      { learningRate: 0.002 },
      { seed: 2 },
      { seed: 3, envs: 2, rollout: 40 },
    ];
    for (const options of variants) {
      const diagnosis = await afterSpoiling(() => {}, options);
      expect({ options, verdict: diagnosis.verdict, causes: ids(diagnosis) }).toEqual({
        options,
        verdict: 'healthy',
        causes: [],
      });
    }
  });

  it('takes an old_logp that is not known in some rows for unknown, not for equal', async () => {
    const made = simulate();
    const used = numbers(made.tables.replays, 'old_logp');
    const epoch = numbers(made.tables.replays, 'epoch');
    for (let i = 0; i < used.length; i++) if (epoch[i] > 0) used[i] = Number.NaN;
    const { causes: found } = await diagnose(await record(made), { only: ['old-logp-kept'] });
    expect(found).toEqual([]);
  });

  it("does not take a row's few candidates for the head's outputs where their ids are not recorded", async () => {
    const diagnosis = await afterSpoiling(() => {}, {}, ['replays.subset']);
    expect(diagnosis.verdict).toBe('healthy');
    expect(diagnosis.checks.find(({ id }) => id === 'head-gradient')?.status).toBe('not-checked');
  });

  it('proves a lag by the transform that undoes it, with the residual before and after', async () => {
    const { causes: found } = await afterSpoiling((tables) => repair(tables, neighbour(tables, 1)));
    expect(found[0].transform).toEqual(new Lag(1, 'episode'));
    expect(found[0].residual_before).toBeGreaterThan(0.5);
    expect(found[0].residual_after).toBeLessThan(0.02);
    expect(found[0].confidence).toBeGreaterThan(0.9);
  });

  it('names the one agent that is affected, and when it begins', async () => {
    const diagnosis = await afterSpoiling((tables) => {
      const next = neighbour(tables, 1);
      repair(tables, (sample) =>
        numbers(tables.samples, 'agent')[sample] === 1 && numbers(tables.samples, 'iteration')[sample] >= 2
          ? next(sample)
          : sample,
      );
    });
    expect(diagnosis.causes[0]).toMatchObject({ id: 'advantage-time-shifted', agents: ['agent-1'], onset: 2 });
  });

  it('names two independent faults, the one to fix first leading', async () => {
    const diagnosis = await afterSpoiling((tables, stream) => {
      replayFaults.find(([cause]) => cause === 'temperature-mismatch')![2](tables, stream);
      repair(tables, neighbour(tables, 1));
    });
    expect(ids(diagnosis).slice(0, 2)).toEqual(['temperature-mismatch', 'advantage-time-shifted']);
  });

  it('says which columns a check lacks, and lets the others run', async () => {
    const diagnosis = await diagnose(
      await record(simulate(), { without: ['samples.logits', 'samples.reward', 'replays.logits'] }),
    );
    const credit = diagnosis.checks.find(({ id }) => id === 'credit');
    expect(credit).toMatchObject({ status: 'not-checked', note: 'needs samples.reward' });
    expect(diagnosis.verdict).toBe('not-enough-evidence');
    expect(diagnosis.coverage.gaps.join()).toMatch(
      /advantages are what rewards, values and ends give: needs samples.reward/,
    );
  });

  it('works when any one optional column is missing', async () => {
    const made = simulate({ iterations: 2, envs: 3 });
    const keys = new Set('iteration episode t agent old_logp epoch minibatch sample new_logp tensor'.split(' '));
    for (const [table, columns] of Object.entries(made.tables))
      for (const name of Object.keys(columns)) {
        if (keys.has(name)) continue;
        // With two policies the format requires it.
        if (name === 'policy') continue;
        const { verdict, causes: found } = await diagnose(await record(made, { without: [`${table}.${name}`] }));
        expect({ without: `${table}.${name}`, verdict, found: found.map(({ id }) => id) }).toMatchObject({
          verdict: deciding.includes(`${table}.${name}`) ? 'not-enough-evidence' : 'healthy',
        });
      }
  });

  it('has not enough evidence in one row, and never a wrong cause', async () => {
    const made = simulate({ iterations: 1, envs: 1, agents: 1, rollout: 1, epochs: 1, minibatches: 1 });
    made.tables.replays = {};
    made.tables.steps = {};
    made.tables.tensors = {};
    for (const name of Object.keys(made.tables.samples))
      if (!['iteration', 'episode', 't', 'agent', 'old_logp'].includes(name)) delete made.tables.samples[name];
    const diagnosis = await diagnose(await record(made));
    expect(diagnosis.verdict).toBe('not-enough-evidence');
    expect(diagnosis.causes).toEqual([]);
  });

  it('calls a recording full of NaN not finite, and nothing else', async () => {
    const diagnosis = await afterSpoiling((tables) => {
      for (const table of [tables.samples, tables.replays])
        for (const name of ['old_logp', 'new_logp', 'reward', 'value', 'advantage', 'return'])
          if (table[name]) table[name] = numbers(table, name).map(() => Number.NaN);
      tables.steps = {};
      tables.tensors = {};
    });
    expect(ids(diagnosis)).toEqual(['non-finite']);
  });

  it('survives absurdly large numbers without blaming the distribution', async () => {
    const diagnosis = await afterSpoiling((tables) => {
      for (const name of ['reward', 'env_reward', 'value', 'next_value', 'advantage', 'return'])
        tables.samples[name] = numbers(tables.samples, name).map((value) => value * 1e30);
    });
    expect(ids(diagnosis).some((id) => id.startsWith('subset') || id.startsWith('mask'))).toBe(false);
  });

  it('calls log-probabilities of 1e20 not finite, whatever follows from them', async () => {
    const diagnosis = await afterSpoiling((tables) => {
      tables.samples.old_logp = numbers(tables.samples, 'old_logp').map((value) => value * 1e20);
      tables.replays.old_logp = numbers(tables.replays, 'old_logp').map((value) => value * 1e20);
    });
    expect(ids(diagnosis)[0]).toBe('non-finite');
  });

  it('has not enough evidence in two rows, however many columns they have', async () => {
    const tiny = { iterations: 1, envs: 1, agents: 1, rollout: 2, epochs: 1, minibatches: 1 };
    expect((await afterSpoiling(() => {}, tiny)).verdict).toBe('not-enough-evidence');
  });

  it('keeps what the caller accepted visible, and out of the verdict', async () => {
    const made = simulate();
    made.tables.replays.advantage = numbers(made.tables.replays, 'advantage').map((value) => 50 * value);
    const diagnosis = await diagnose(await record(made), { ignore: ['advantage-not-normalised'] });
    expect(diagnosis.ignored?.map(({ id }) => id)).toContain('advantage-not-normalised');
    expect(ids(diagnosis)).not.toContain('advantage-not-normalised');
  });

  it('refuses a check, an agent or a cause that does not exist, and lists what does', async () => {
    const recording = await record(simulate({ iterations: 1 }));
    await expect(diagnose(recording, { only: ['nothing'] })).rejects.toThrow(/the checks are finite, replay/);
    await expect(diagnose(recording, { agent: 'nobody' })).rejects.toThrow(/it has agent-0, agent-1/);
    await expect(diagnose(recording, { ignore: ['nothing'] })).rejects.toThrow(/no cause "nothing"/);
  });

  it('does not depend on where chunks end', async () => {
    const made = simulate({ iterations: 3, envs: 3 });
    repair(made.tables, neighbour(made.tables, 1));
    const whole = await diagnose(await record(made));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 7, max: 500 }), async (chunkRows) => {
        expect(await diagnose(await record(made, { chunkRows }))).toEqual(whole);
      }),
      { numRuns: 5, seed: 1 },
    );
  });

  it('follows the agents when they are given other numbers', async () => {
    const made = simulate({ agents: 2 });
    repair(made.tables, (sample) =>
      numbers(made.tables.samples, 'agent')[sample] === 0 ? neighbour(made.tables, 1)(sample) : sample,
    );
    const before = await diagnose(await record(made));
    made.tables.samples.agent = numbers(made.tables.samples, 'agent').map((agent) => 1 - agent);
    for (const table of [made.tables.replays, made.tables.steps])
      table.policy = numbers(table, 'policy').map((policy) => 1 - policy);
    made.tables.tensors.tensor = numbers(made.tables.tensors, 'tensor').map((tensor) => (tensor + 2) % 4);
    made.manifest.agents = [...made.manifest.agents!].reverse().map((agent, policy) => ({ ...agent, policy }));
    const relabelled = await diagnose(await record(made));
    expect(relabelled.causes.map(({ id, agents, transform }) => ({ id, agents, transform }))).toEqual(
      before.causes.map(({ id, agents, transform }) => ({ id, agents, transform })),
    );
    expect(before.causes[0].agents).toEqual(['agent-0']);
  });
});
