/** Credit that runs the wrong way or reads ends a step late, and numbers of the iteration before in the place of this one's. */
import { describe, expect, it } from 'vitest';
import { changed, credited, first, type Made, placesOf, unheard } from '../../../test/support/programs.ts';
import { numbers } from '../../../test/support/tables.ts';
import { advantages, flow } from '../../math/advantages.ts';
import { buildChains } from '../../math/chains.ts';

const settingsOf = ({ manifest }: Made) => manifest.settings as unknown as { gamma: number; lambda: number };

/** The rows of each iteration, and its chains. */
function* iterations({ tables: { samples } }: Made) {
  const iteration = numbers(samples, 'iteration');
  for (const number of new Set(iteration)) {
    const rows = iteration.flatMap((at, row) => (at === number ? [row] : []));
    const of = (name: string) => rows.map((row) => numbers(samples, name)[row]);
    yield { rows, of, chains: buildChains(of('episode'), of('t'), of('agent'), of('env')) };
  }
}

/** Advantages are what `credit` gives of the rows of an iteration; returns and losses go with them. */
function recredited(made: Made, credit: (at: ReturnType<typeof inputsOf>) => ArrayLike<number>): void {
  const { samples, replays } = made.tables;
  for (const at of iterations(made)) {
    const found = credit(inputsOf(at));
    at.rows.forEach((row, i) => {
      numbers(samples, 'advantage')[row] = found[i];
      numbers(samples, 'return')[row] = found[i] + numbers(samples, 'value')[row];
    });
  }
  for (const name of ['advantage', 'return']) delete replays[name];
  unheard(made);
}

const inputsOf = ({
  of,
  chains,
}: Pick<ReturnType<typeof iterations> extends Generator<infer T> ? T : never, 'of' | 'chains'>) => ({
  chains,
  reward: of('reward'),
  value: of('value'),
  terminated: of('terminated'),
  truncated: of('truncated'),
  nextValue: of('next_value'),
});

describe('credit', () => {
  it('that runs forward in time is written out', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => {
      const { gamma, lambda } = settingsOf(made);
      recredited(made, (inputs) => {
        const { boot } = flow(inputs, 'asRecorded');
        const out = new Float64Array(boot.length);
        for (const row of inputs.chains.order) {
          const before = inputs.chains.previous[row];
          const delta = inputs.reward[row] + gamma * boot[row] - inputs.value[row];
          out[row] = delta + (before < 0 ? 0 : gamma * lambda * out[before]);
        }
        return out;
      });
    });
    expect(first(found)).toEqual(['faulty', 'credit-formula-differs']);
    expect(found.causes[0].summary).toContain('A(before)');
  });

  it('that reads one flag of both kinds of end a step late is told', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => {
      const figures = settingsOf(made);
      recredited(made, (inputs) =>
        advantages(inputs, flow(inputs, 'lateAlike'), figures, new Float64Array(inputs.reward.length)),
      );
    });
    expect(first(found)).toEqual(['faulty', 'done-time-shifted']);
  });

  it('is right as it was', async () => {
    const found = await changed('healthy/stag-hunt-4', credited);
    expect(found.causes).toEqual([]);
    expect(found.unexplained).toEqual([]);
  });
});

describe('the iteration before', () => {
  const earlier = (made: Made) => {
    const all = [...iterations(made)].map(({ rows }) => rows);
    return all.slice(1).flatMap((rows, k) => rows.flatMap((row, i) => (i < all[k].length ? [[row, all[k][i]]] : [])));
  };

  it('is told where its returns are what the critic learns', async () => {
    const found = await changed('healthy/echo-2', (made) => {
      const { samples, replays } = made.tables;
      const kept = numbers(samples, 'return');
      const stale = [...kept];
      for (const [row, then] of earlier(made)) stale[row] = kept[then];
      replays.return = placesOf(made.tables).map((row) => stale[row]);
      unheard(made);
    });
    expect(first(found)).toEqual(['faulty', 'return-inconsistent']);
    expect(found.causes[0].transform?.id).toBe('earlier-iteration');
  });

  const copied = (made: Made, moved: boolean, empty = false) => {
    const { samples, replays } = made.tables;
    const places = placesOf(made.tables);
    const [fresh, old] = [numbers(replays, 'new_logp'), numbers(samples, 'old_logp')];
    const ratio = places.map((row, i) => fresh[i] - old[row]);
    const again = new Set<number>();
    for (const [row, then] of earlier(made)) {
      if (row % 4 !== 0) continue;
      again.add(row);
      for (const name of ['old_logp', 'value', 'reward', 'action']) {
        if (empty) numbers(samples, name)[then] = 0;
        numbers(samples, name)[row] = numbers(samples, name)[then];
      }
    }
    replays.new_logp = places.map((row, i) => old[row] + ratio[i] + (moved && again.has(row) ? 0.1 : 0));
    for (const name of ['logits', 'mean', 'subset', 'legal', 'num_actions', 'env_reward']) delete samples[name];
    for (const name of ['old_logp', 'value', 'again_logp', 'subset', 'legal']) delete replays[name];
    credited(made);
  };

  it('is told where its rows stand in the buffer once more', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => copied(made, true));
    expect(found.causes.map(({ id }) => id)).toContain('stale-samples');
  });

  it('is not told where a policy that stands still decides alike', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => copied(made, false));
    expect(found.causes.map(({ id }) => id)).not.toContain('stale-samples');
  });

  it('is not told of rows that hold nothing but zeros in both, as padding does', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => copied(made, true, true));
    expect(found.verdict).not.toBe('healthy');
    expect(found.causes.map(({ id }) => id)).not.toContain('stale-samples');
  });
});
