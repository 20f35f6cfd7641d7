/** Ways to spoil the tables of an honest simulation, each with the cause that a diagnosis must name first. */
import type { RandomStream } from '../math/random.ts';
import { lists, numbers, type TestTables } from './testing-tables.ts';

export type Spoil = (tables: TestTables, stream: RandomStream) => void;

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

export function repair(tables: TestTables, pick: (sample: number) => number | undefined): void {
  const used = usedBySample(tables);
  eachReplay(tables, (replay, sample) => {
    const other = pick(sample);
    const value = other === undefined ? undefined : used.get(other);
    if (value !== undefined) numbers(tables.replays, 'advantage')[replay] = value;
  });
}

/** The row of the same agent so many steps later in its episode. */
export function neighbour(tables: TestTables, lag: number): (sample: number) => number | undefined {
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

export const replayFaults: [string, string, Spoil][] = [
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

export const creditFaults: [string, string, Spoil][] = [
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
      tables.samples.env_reward = numbers(tables.samples, 'reward').map((_, row) => {
        const other = neighbour(tables, 1)(row);
        return other === undefined ? 0.123 : numbers(tables.samples, 'reward')[other];
      });
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

export const endFaults: [string, string, Spoil][] = [
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
