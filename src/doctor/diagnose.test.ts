import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RandomStream } from '../math/random.ts';
import { causes } from './causes.ts';
import { checks } from './checks/index.ts';
import { diagnose } from './diagnose.ts';
import { flowOrder } from './explain.ts';
import { lists, numbers, record, type SimulationOptions, simulate, type TestTables } from './testing.ts';

type Spoil = (tables: TestTables, stream: RandomStream) => void;

async function afterSpoiling(spoil: Spoil, options: SimulationOptions = {}, without: string[] = []) {
  const made = simulate(options);
  spoil(made.tables, RandomStream.of(7, 'spoil'));
  return diagnose(await record(made, { without }));
}

const ids = (diagnosis: { causes: { id: string }[] }) => diagnosis.causes.map(({ id }) => id);

/** Replays with the row of the samples that each belongs to. */
function eachReplay({ samples, replays }: TestTables, visit: (replay: number, sample: number) => void): void {
  const first = new Map<number, number>();
  numbers(samples, 'iteration').forEach((iteration, row) => {
    if (!first.has(iteration)) first.set(iteration, row);
  });
  numbers(replays, 'sample').forEach((sample, row) => {
    visit(row, first.get(numbers(replays, 'iteration')[row])! + sample);
  });
}

const softmax = (logits: number[], legal: number[] | null, action: number, temperature = 1) => {
  const weights = logits.map((z, i) => (!legal || legal[i] ? Math.exp(z / temperature) : 0));
  return Math.log(weights[action] / weights.reduce((sum, weight) => sum + weight, 0));
};

/** The normalised advantage in the loss, by sample. */
function usedBySample(tables: TestTables): Map<number, number> {
  const used = new Map<number, number>();
  eachReplay(tables, (replay, sample) => {
    used.set(sample, numbers(tables.replays, 'advantage')[replay]);
  });
  return used;
}

function repair(tables: TestTables, pick: (sample: number) => number | undefined): void {
  const used = usedBySample(tables);
  eachReplay(tables, (replay, sample) => {
    const other = pick(sample);
    const value = other === undefined ? undefined : used.get(other);
    if (value !== undefined) numbers(tables.replays, 'advantage')[replay] = value;
  });
}

/** The row of the same agent so many steps later in its episode. */
function neighbour(tables: TestTables, lag: number): (sample: number) => number | undefined {
  const { samples } = tables;
  const at = new Map<string, number>();
  const key = (row: number, t: number) => `${numbers(samples, 'episode')[row]} ${numbers(samples, 'agent')[row]} ${t}`;
  for (const [row, t] of numbers(samples, 't').entries()) at.set(key(row, t), row);
  return (sample) => at.get(key(sample, numbers(samples, 't')[sample] + lag));
}

const rescore =
  (score: (tables: TestTables, replay: number, sample: number) => number, withoutLists = true): Spoil =>
  (tables) => {
    const fresh: number[] = [];
    eachReplay(tables, (replay, sample) => {
      fresh[replay] = score(tables, replay, sample);
    });
    tables.replays.new_logp = fresh;
    tables.replays.again_logp = fresh;
    if (withoutLists)
      for (const name of ['subset', 'legal', 'temperature', 'after_logp', 'entropy']) delete tables.replays[name];
  };

const replayFaults: [string, string, Spoil][] = [
  [
    'subset-not-replayed',
    'sorted lists',
    rescore(({ samples, replays }, replay, sample) => {
      const subset = lists(samples, 'subset')[sample];
      const order = subset.map((_, i) => i).sort((a, b) => subset[a] - subset[b]);
      const logits = lists(replays, 'logits')[replay];
      const legal = lists(samples, 'legal')[sample];
      const there = order[numbers(samples, 'action')[sample]];
      return softmax(logits, legal, legal[there] ? there : numbers(samples, 'action')[sample]);
    }),
  ],
  [
    'mask-not-replayed',
    'no mask',
    rescore(({ samples, replays }, replay, sample) =>
      softmax(lists(replays, 'logits')[replay], null, numbers(samples, 'action')[sample]),
    ),
  ],
  [
    'temperature-mismatch',
    'a temperature of 1.7 in the update',
    rescore(({ samples, replays }, replay, sample) =>
      softmax(
        lists(replays, 'logits')[replay],
        lists(samples, 'legal')[sample],
        numbers(samples, 'action')[sample],
        1.7,
      ),
    ),
  ],
  [
    'stochastic-forward',
    'noise in the update',
    (tables, stream) => {
      for (const name of ['new_logp', 'again_logp'])
        tables.replays[name] = numbers(tables.replays, name).map((logp) => logp + 0.1 * stream.normal());
    },
  ],
  [
    'old-logp-wrong',
    'zeros stored',
    (tables) => {
      tables.samples.old_logp = numbers(tables.samples, 'old_logp').map(() => 0);
      tables.replays.old_logp = numbers(tables.replays, 'old_logp').map(() => 0);
    },
  ],
  [
    'old-logp-recomputed',
    'old follows new',
    (tables) => {
      tables.replays.old_logp = [...numbers(tables.replays, 'new_logp')];
    },
  ],
  [
    'subset-borrowed',
    "the other agent's list",
    (tables) => {
      const { samples, replays } = tables;
      const agent = numbers(samples, 'agent');
      eachReplay(tables, (replay, sample) => {
        const other = agent[sample] === 0 ? sample + 1 : sample - 1;
        lists(replays, 'subset')[replay] = lists(samples, 'subset')[other];
        lists(replays, 'legal')[replay] = lists(samples, 'legal')[other];
        lists(replays, 'logits')[replay] = lists(samples, 'subset')[other].map((id) => 0.1 * id);
        numbers(replays, 'new_logp')[replay] = -1 - 0.01 * replay;
      });
      tables.replays.again_logp = numbers(replays, 'new_logp');
    },
  ],
  [
    'num-actions-defaulted',
    'five candidates always',
    (tables) => {
      const { replays } = tables;
      numbers(replays, 'sample').forEach((_, replay) => {
        lists(replays, 'subset')[replay] = [0, 1, 2, 3, 4];
        lists(replays, 'legal')[replay] = [1, 1, 1, 1, 1];
        lists(replays, 'logits')[replay] = [0, 0, 0, 0, 0];
        numbers(replays, 'new_logp')[replay] = -Math.log(5);
      });
      tables.replays.again_logp = numbers(replays, 'new_logp');
    },
  ],
];

const creditFaults: [string, string, Spoil][] = [
  ['advantage-time-shifted', 'the next step of the episode', (tables) => repair(tables, neighbour(tables, 1))],
  ['advantage-time-shifted', 'two steps before', (tables) => repair(tables, neighbour(tables, -2))],
  [
    'advantage-agent-swapped',
    'the other agent',
    (tables) => repair(tables, (sample) => (numbers(tables.samples, 'agent')[sample] === 0 ? sample + 1 : sample - 1)),
  ],
  [
    'advantage-shuffled',
    'another permutation',
    (tables, stream) => {
      const agent = numbers(tables.samples, 'agent');
      const iteration = numbers(tables.samples, 'iteration');
      const pools = new Map<string, number[]>();
      agent.forEach((who, row) => {
        const key = `${iteration[row]} ${who}`;
        pools.set(key, [...(pools.get(key) ?? []), row]);
      });
      const to = new Map<number, number>();
      for (const pool of pools.values()) {
        const other = stream.shuffle([...pool]);
        for (const [i, row] of pool.entries()) to.set(row, other[i]);
      }
      repair(tables, (sample) => to.get(sample));
    },
  ],
  [
    'advantage-sign-flipped',
    'minus',
    (tables) => {
      tables.replays.advantage = numbers(tables.replays, 'advantage').map((value) => -value);
    },
  ],
  [
    'advantage-degenerate',
    'zeros',
    (tables) => {
      tables.replays.advantage = numbers(tables.replays, 'advantage').map(() => 0);
    },
  ],
  [
    'advantage-not-normalised',
    'fifty times too large',
    (tables) => {
      tables.replays.advantage = numbers(tables.replays, 'advantage').map((value) => 50 * value);
    },
  ],
  [
    'advantage-group-demeaned',
    'mean per group',
    (tables) => {
      const means = new Map<string, { sum: number; rows: number[] }>();
      eachReplay(tables, (replay, sample) => {
        const key = `${numbers(tables.replays, 'iteration')[replay]} ${numbers(tables.replays, 'epoch')[replay]} ${numbers(tables.replays, 'policy')[replay]} ${numbers(tables.samples, 'group')[sample]}`;
        const own = means.get(key) ?? { sum: 0, rows: [] };
        means.set(key, own);
        own.sum += numbers(tables.replays, 'advantage')[replay];
        own.rows.push(replay);
      });
      for (const { sum, rows } of means.values())
        for (const row of rows) numbers(tables.replays, 'advantage')[row] -= sum / rows.length;
    },
  ],
  [
    'reward-time-shifted',
    'one step late',
    (tables) => {
      const before = neighbour(tables, -1);
      tables.samples.env_reward = numbers(tables.samples, 'reward').map((_, row) => {
        const other = neighbour(tables, 1)(row);
        return other === undefined ? 0.123 : numbers(tables.samples, 'reward')[other];
      });
      expect(before(0)).toBeUndefined();
    },
  ],
  [
    'return-inconsistent',
    'targets of nobody',
    (tables, stream) => {
      tables.samples.return = numbers(tables.samples, 'return').map((value) => value + stream.normal());
    },
  ],
  [
    'trained-on-other-agent',
    'policies exchanged',
    (tables) => {
      tables.replays.policy = numbers(tables.replays, 'policy').map((policy) => 1 - policy);
    },
  ],
  [
    'phantom-steps',
    'rows after the end',
    (tables) => {
      const { samples } = tables;
      const next = neighbour(tables, 1);
      numbers(samples, 't').forEach((t, row) => {
        if (t === 1 && next(row) !== undefined) numbers(samples, 'terminated')[row] = 1;
      });
    },
  ],
  [
    'critic-context-misaligned',
    "the next step's value",
    (tables) => {
      const next = neighbour(tables, 1);
      eachReplay(tables, (replay, sample) => {
        const other = next(sample);
        if (other !== undefined) numbers(tables.replays, 'value')[replay] = numbers(tables.samples, 'value')[other];
      });
    },
  ],
];

/** Credit computed under another reading of the ends. */
function recredit(tables: TestTables, ended: (row: number) => boolean, bootstraps: (row: number) => boolean): void {
  const { samples } = tables;
  const [episode, env, agent, reward, value, next, advantage, target] = [
    'episode',
    'env',
    'agent',
    'reward',
    'value',
    'next_value',
    'advantage',
    'return',
  ].map((name) => numbers(samples, name));
  const iteration = numbers(samples, 'iteration');
  const later = new Map<string, number>();
  for (let row = episode.length - 1; row >= 0; row--) {
    const key = `${iteration[row]} ${env[row]} ${agent[row]}`;
    const after = later.get(key);
    const stop = ended(row) || after === undefined;
    const boot = stop
      ? bootstraps(row) || after === undefined
        ? Number.isNaN(next[row])
          ? 0
          : next[row]
        : 0
      : value[after];
    advantage[row] = reward[row] + 0.95 * boot - value[row] + (stop ? 0 : 0.95 * 0.9 * advantage[after]);
    target[row] = advantage[row] + value[row];
    later.set(key, row);
  }
  // What the loss used follows, so that only the credit is at fault.
  delete tables.replays.advantage;
  delete tables.replays.return;
  delete tables.steps.policy_loss;
  delete tables.steps.loss;
}

const endFaults: [string, string, Spoil][] = [
  [
    'return-crosses-episodes',
    'ends ignored',
    (tables) =>
      recredit(
        tables,
        () => false,
        () => false,
      ),
  ],
  [
    'truncation-treated-as-termination',
    'no bootstrap at the limit',
    (tables) =>
      recredit(
        tables,
        (row) => numbers(tables.samples, 'terminated')[row] === 1 || numbers(tables.samples, 'truncated')[row] === 1,
        () => false,
      ),
  ],
];

const gradientFaults: [string, string, Spoil, SimulationOptions?][] = [
  [
    'optimizer-unbound',
    'nothing moves',
    (tables) => {
      const tensor = numbers(tables.tensors, 'tensor');
      for (const name of ['delta', 'delta_norm', 'bound'])
        tables.tensors[name] = numbers(tables.tensors, name).map((value, row) => (tensor[row] % 2 === 0 ? 0 : value));
    },
  ],
  [
    'policy-detached',
    'no gradient',
    (tables) => {
      const tensor = numbers(tables.tensors, 'tensor');
      tables.tensors.grad_norm = numbers(tables.tensors, 'grad_norm').map((value, row) =>
        tensor[row] % 2 === 0 ? 0 : value,
      );
    },
  ],
  ['learning-rate-too-small', 'a rate of 1e-9', () => {}, { learningRate: 1e-9 }],
  ['learning-rate-too-large', 'a rate of 1', () => {}, { learningRate: 1, epochs: 6, iterations: 2 }],
  [
    'loss-summed',
    'a sum reported',
    (tables) => {
      const rows = new Map<string, number>();
      const key = (table: TestTables['steps'], row: number) =>
        ['iteration', 'epoch', 'minibatch', 'policy'].map((name) => numbers(table, name)[row]).join(' ');
      numbers(tables.replays, 'sample').forEach((_, row) => {
        rows.set(key(tables.replays, row), (rows.get(key(tables.replays, row)) ?? 0) + 1);
      });
      tables.steps.policy_loss = numbers(tables.steps, 'policy_loss').map(
        (value, row) => value * rows.get(key(tables.steps, row))!,
      );
      delete tables.steps.loss;
    },
  ],
  [
    'parameters-overwritten',
    'a jump between steps',
    (tables) => {
      tables.tensors.norm = numbers(tables.tensors, 'norm').map((value, row) => (row % 7 === 0 ? value + 3 : value));
    },
  ],
  [
    'entropy-sign-flipped',
    'plus entropy',
    (tables) => {
      tables.steps.loss = numbers(tables.steps, 'loss').map(
        (value, row) => value + 0.02 * numbers(tables.steps, 'entropy')[row],
      );
    },
  ],
  ['entropy-bonus-dominates', 'a coefficient of 5', () => {}, { entropyCoefficient: 5 }],
  [
    'kl-guard-too-tight',
    'one step per update',
    (tables) => {
      tables.tensors = {};
      for (const table of [tables.steps, tables.replays]) {
        const keep = numbers(table, 'epoch').map((epoch, row) => epoch === 0 && numbers(table, 'minibatch')[row] === 0);
        for (const name of Object.keys(table)) table[name] = (table[name] as number[]).filter((_, row) => keep[row]);
      }
      tables.steps.stopped = numbers(tables.steps, 'stopped').map(() => 1);
    },
  ],
  [
    'non-finite',
    'NaN in the loss',
    (tables) => {
      numbers(tables.steps, 'loss')[3] = Number.NaN;
      numbers(tables.steps, 'policy_loss')[3] = Number.NaN;
    },
  ],
  [
    'metric-misreported',
    'entropy in bits',
    (tables) => {
      tables.steps.entropy = numbers(tables.steps, 'entropy').map((value) => value / Math.LN2);
      delete tables.steps.loss;
    },
  ],
  [
    'kl-estimator-cancels',
    'the mean of old - new',
    (tables) => {
      const sums = new Map<string, number[]>();
      const key = (table: TestTables['steps'], row: number) =>
        ['iteration', 'epoch', 'minibatch', 'policy'].map((name) => numbers(table, name)[row]).join(' ');
      numbers(tables.replays, 'new_logp').forEach((fresh, row) => {
        const own = sums.get(key(tables.replays, row)) ?? [];
        sums.set(key(tables.replays, row), own);
        own.push(numbers(tables.replays, 'old_logp')[row] - fresh);
      });
      tables.steps.approx_kl = numbers(tables.steps, 'approx_kl').map((_, row) => {
        const own = sums.get(key(tables.steps, row))!;
        return own.reduce((sum, value) => sum + value, 0) / own.length;
      });
    },
    { learningRate: 0.005 },
  ],
];

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
      expect(diagnosis.verdict).toBe('faulty');
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

  it('proves a lag by the transform that undoes it, with the residual before and after', async () => {
    const { causes: found } = await afterSpoiling((tables) => repair(tables, neighbour(tables, 1)));
    expect(found[0].transform).toBe('lag 1 within (episode, agent)');
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
    expect(diagnosis.verdict).toBe('healthy');
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
          verdict: 'healthy',
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

describe('the table of causes', () => {
  it('has every cause that a check may name, with a remedy in words and in code', () => {
    for (const cause of checks.flatMap((check) => check.causes)) {
      const entry = causes.find(({ id }) => id === cause);
      expect(entry, cause).toBeDefined();
      expect(entry!.remedy.endsWith('.'), cause).toBe(true);
      expect(entry!.pytorch.length * entry!.trueline.length, cause).toBeGreaterThan(0);
    }
  });

  it('ranks every cause of groups A to E once, and can name each', () => {
    const named = new Set(checks.flatMap((check) => check.causes));
    const wanted = causes.filter(({ group }) => group !== 'F').map(({ id }) => id);
    expect([...flowOrder].sort()).toEqual([...wanted].sort());
    expect(wanted.filter((id) => !named.has(id))).toEqual([]);
  });
});
