/** Programs in which agents leave, lend their rewards or lose their names; each beside what tells it apart. */
import { describe, expect, it } from 'vitest';
import { changed, credited, first, type Made, placesOf, unheard } from '../../../test/support/programs.ts';
import { numbers } from '../../../test/support/tables.ts';

/** By iteration, episode and step, the rows of all agents in their order. */
function moments({ tables: { samples } }: Made): Map<string, number[]> {
  const found = new Map<string, number[]>();
  const [iteration, episode, t] = ['iteration', 'episode', 't'].map((name) => numbers(samples, name));
  iteration.forEach((_, row) => {
    const key = [iteration[row], episode[row], t[row]].join(' ');
    found.set(key, [...(found.get(key) ?? []), row]);
  });
  return found;
}

describe('rewards', () => {
  /** What every agent was paid, drawn anew, and which agent's payment each has in its place; who has left was paid nothing. */
  const paidTo = (source: (agent: number) => number) => (made: Made) => {
    const { samples } = made.tables;
    const agent = numbers(samples, 'agent');
    const paid = agent.map((_, row) => Math.sin(13 * row) + (row % 3));
    samples.env_reward = paid;
    samples.reward = [...paid];
    for (const rows of moments(made).values())
      for (const row of rows) {
        const from = rows.find((other) => agent[other] === source(agent[row]));
        numbers(samples, 'reward')[row] = from === undefined ? 0 : paid[from];
      }
    credited(made);
  };

  it('of the next agent, or all of the first one, are told by whose they are', async () => {
    for (const source of [(agent: number) => (agent + 1) % 4, () => 0]) {
      const found = await changed('healthy/stag-hunt-4', paidTo(source));
      expect(first(found)).toEqual(['faulty', 'reward-bookkeeping']);
    }
    const lent = await changed(
      'healthy/stag-hunt-4',
      paidTo(() => 0),
    );
    expect(lent.causes[0].summary).toContain('player_2 has those of player_1');
  });

  it('of one agent that are cut off below 0 are told, and a cut of all agents is not', async () => {
    const cut = (whose: (agent: number) => boolean) => (made: Made) => {
      const { samples } = made.tables;
      const agent = numbers(samples, 'agent');
      samples.env_reward = agent.map((_, row) => Math.sin(13 * row) + 0.3);
      samples.reward = numbers(samples, 'env_reward').map((paid, row) =>
        whose(agent[row]) ? Math.max(0, paid) : paid,
      );
      credited(made);
    };
    const found = await changed(
      'healthy/stag-hunt-4',
      cut((agent) => agent === 2),
    );
    expect(first(found)).toEqual(['faulty', 'reward-bookkeeping']);
    expect(found.causes[0].summary).toContain('player_3 at 0');
    expect(
      (
        await changed(
          'healthy/stag-hunt-4',
          cut(() => true),
        )
      ).causes,
    ).toEqual([]);
  });

  it('of one agent that come a step late are no factor of 0 on them', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => {
      const { samples } = made.tables;
      const [agent, episode] = ['agent', 'episode'].map((name) => numbers(samples, name));
      const paid = agent.map((_, row) => (row % 5 === 0 ? 1 : 0));
      const latest = new Map<number, number>();
      samples.env_reward = paid;
      samples.reward = paid.map((own, row) => {
        if (agent[row] !== 0) return own;
        const before = latest.get(episode[row]) ?? 0;
        latest.set(episode[row], own);
        return before;
      });
      credited(made);
    });
    expect(first(found)).toEqual(['faulty', 'reward-time-shifted']);
  });

  it('that are the own ones are not accused', async () => {
    expect(
      (
        await changed(
          'healthy/stag-hunt-4',
          paidTo((agent) => agent),
        )
      ).causes,
    ).toEqual([]);
  });
});

describe('a critic that PopArt rescales', () => {
  /** Half the units, and a mean that the critic forgets or not; rows of the second step have left. */
  const rescaled = (forgotten: boolean) => (made: Made) => {
    const { tensors, replays, samples } = made.tables;
    const roles = made.manifest.tensors!.map(({ role }) => role);
    const [tensor, iteration] = [numbers(tensors, 'tensor'), numbers(tensors, 'iteration')];
    tensors.norm = numbers(tensors, 'norm').map((norm, i) =>
      roles[tensor[i]] === 'critic' ? norm + 3 * iteration[i] : norm,
    );
    const left = numbers(samples, 't').map((t) => t === 1);
    const places = placesOf(made.tables);
    replays.value = places.map((row) => 0.5 * numbers(samples, 'value')[row] - (forgotten ? 0 : 1));
    replays.return = places.map((row) => 0.5 * numbers(samples, 'return')[row] - 1);
    replays.weight = places.map((row) => (left[row] ? 0 : 1));
    left.forEach((out, row) => {
      if (out) numbers(samples, 'value')[row] = 0;
    });
    unheard(made);
  };
  const ids = async (forgotten: boolean) =>
    (await changed('healthy/stag-hunt-4', rescaled(forgotten))).causes.map(({ id }) => id);

  it('is judged by rows that count, and by the units of its targets', async () => {
    expect(await ids(false)).not.toContain('parameters-overwritten');
    expect(await ids(true)).toContain('parameters-overwritten');
  });
});

it('observations whose identity the update does not have are other inputs, and no drift', async () => {
  const found = await changed('healthy/stag-hunt-4', (made) => {
    const { samples, replays } = made.tables;
    const seen = numbers(samples, 'agent').map((agent, row) => [Math.sin(row), Math.cos(3 * row), agent]);
    const places = placesOf(made.tables);
    samples.obs = seen;
    replays.obs = places.map((row) => [seen[row][0], seen[row][1], 0]);
    replays.new_logp = numbers(replays, 'new_logp').map(
      (logp, i) => logp - 0.1 * (1 + numbers(samples, 'agent')[places[i]]),
    );
    delete replays.logits;
    unheard(made);
  });
  expect(found.causes.map(({ id }) => id)).not.toContain('normaliser-drifts');
  expect(found.verdict).not.toBe('healthy');
});

it('layers that no gradient reaches are detached only where they see something', async () => {
  const unreached = (blank: boolean) => (made: Made) => {
    const { tensors, samples } = made.tables;
    numbers(tensors, 'tensor').forEach((tensor, row) => {
      if (made.manifest.tensors![tensor].role !== 'trunk') return;
      for (const name of ['grad_norm', 'delta', 'delta_norm']) if (tensors[name]) numbers(tensors, name)[row] = 0;
      numbers(tensors, 'norm')[row] = 1;
    });
    tensors.bound ??= numbers(tensors, 'tensor').map(() => 1);
    samples.obs = numbers(samples, 'reward').map((_, row) => (blank ? [0, 0] : [Math.sin(row), 1]));
    delete made.tables.replays.obs;
  };
  expect((await changed('healthy/stag-hunt-4', unreached(false))).causes.map(({ id }) => id)).toContain(
    'policy-detached',
  );
  expect((await changed('healthy/stag-hunt-4', unreached(true))).causes.map(({ id }) => id)).not.toContain(
    'policy-detached',
  );
});
