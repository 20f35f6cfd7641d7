/** Continuous actions of which one pass scored something else than was drawn: with a fitted deviation, at another action, by an earlier policy. Beside each slip its sound twin. */
import { describe, expect, it } from 'vitest';
import { changed, first, type Made, placesOf, unheard } from '../../../test/support/programs.ts';
import { lists, numbers } from '../../../test/support/tables.ts';

const density = (action: readonly number[], mean: readonly number[], logStd: readonly number[]) =>
  action.reduce(
    (sum, value, d) => sum - ((value - mean[d]) / Math.exp(logStd[d])) ** 2 / 2 - logStd[d] - Math.log(2 * Math.PI) / 2,
    0,
  );

/** A program that draws from a plain Gaussian, clips what the environment gets and brings it to other units. */
function plain(made: Made): void {
  const { samples, replays } = made.tables;
  samples.env_action = lists(samples, 'action_values').map((action) =>
    action.map((value, d) => (2 - d / 2) * Math.max(-1, Math.min(1, value))),
  );
  samples.old_logp = lists(samples, 'action_values').map((action, row) =>
    density(action, lists(samples, 'mean')[row], lists(samples, 'log_std')[row]),
  );
  const places = placesOf(made.tables);
  replays.old_logp = places.map((place) => numbers(samples, 'old_logp')[place]);
  update(made, (row) => lists(replays, 'action_values')[row]);
}

/** What the update computes of the actions that it scores. */
function update(made: Made, scored: (row: number) => readonly number[], factor: readonly number[] = [1, 1, 1]): void {
  const { replays } = made.tables;
  replays.new_logp = numbers(replays, 'sample').map((_, row) =>
    density(
      scored(row),
      lists(replays, 'mean')[row],
      lists(replays, 'log_std')[row].map((value, d) => value + Math.log(factor[d])),
    ),
  );
  for (const name of ['again_logp', 'after_logp']) delete replays[name];
}

function spoiled(change: (made: Made) => void) {
  return changed('healthy/continuous-healthy', (made) => {
    plain(made);
    change(made);
    unheard(made);
  });
}

it('a plain Gaussian whose actions are clipped and scaled only for the environment is healthy', async () => {
  const found = await changed('healthy/continuous-healthy', plain);
  expect(found.verdict).toBe('healthy');
});

describe('the update scores another action', () => {
  it('the one that the environment was given, clipped and then scaled', async () => {
    const found = await spoiled((made) => {
      const places = placesOf(made.tables);
      update(made, (row) => lists(made.tables.samples, 'env_action')[places[row]]);
      delete made.tables.replays.action_values;
    });
    expect(first(found)).toEqual(['faulty', 'clipped-action-stored']);
    expect(found.causes[0].residual_after).toBeLessThan(1e-5);
  });

  it('that one brought to units which are not those that it was drawn in', async () => {
    const found = await spoiled((made) => {
      const places = placesOf(made.tables);
      update(made, (row) => lists(made.tables.samples, 'env_action')[places[row]].map((value) => value / 3 + 0.1));
      delete made.tables.replays.action_values;
    });
    expect(first(found)).toEqual(['faulty', 'clipped-action-stored']);
    expect(found.causes[0].transform).toMatchObject({ id: 'scored-with', what: 'line' });
  });

  it('and is not said to where each row scores something of its own', async () => {
    const found = await spoiled((made) =>
      update(made, (row) => lists(made.tables.replays, 'action_values')[row].map((value) => value + Math.sin(row) / 9)),
    );
    expect(found.verdict).toBe('unexplained');
  });
});

describe('the update scores with another deviation', () => {
  it('one factor per dimension on the one that it recorded', async () => {
    const found = await spoiled((made) =>
      update(made, (row) => lists(made.tables.replays, 'action_values')[row], [1.2, 0.9, 1.1]),
    );
    expect(first(found)).toEqual(['faulty', 'deviation-scale-wrong']);
    const { values } = found.causes[0].transform as unknown as { values: number[] };
    [1.2, 0.9, 1.1].forEach((factor, d) => void expect(values[d]).toBeCloseTo(factor, 3));
  });

  it('which may be the policy itself where it recorded none', async () => {
    const found = await spoiled((made) => {
      update(made, (row) => lists(made.tables.replays, 'action_values')[row], [1.2, 0.9, 1.1]);
      for (const name of ['mean', 'log_std']) delete made.tables.replays[name];
    });
    expect(found.causes.map(({ id }) => id)).not.toContain('deviation-scale-wrong');
    expect(found.verdict).toBe('unexplained');
  });
});

describe('acting scores another action than the one that it stores', () => {
  const noisy = ({ tables }: Made, rows: (row: number) => boolean) => {
    const { samples, replays } = tables;
    samples.old_logp = numbers(samples, 'old_logp').map((logp, row) =>
      rows(row)
        ? density(
            lists(samples, 'action_values')[row].map((value, d) => value - 0.2 * Math.sin(7 * row + d)),
            lists(samples, 'mean')[row],
            lists(samples, 'log_std')[row],
          )
        : logp,
    );
    const places = placesOf(tables);
    replays.old_logp = places.map((place) => numbers(samples, 'old_logp')[place]);
  };

  it('such as before noise was added: the stored log-probability is wrong', async () => {
    const found = await spoiled((made) => noisy(made, () => true));
    expect(first(found)).toEqual(['faulty', 'old-logp-wrong']);
  });

  it('which cannot be told where acting recorded no mean', async () => {
    const found = await spoiled((made) => {
      noisy(made, () => true);
      for (const name of ['mean', 'log_std']) delete made.tables.samples[name];
    });
    expect(found.causes.map(({ id }) => id)).not.toContain('old-logp-wrong');
  });
});

describe('acting has a copy of the policy', () => {
  /** Acting's deviation, and a mean that is off where it is not the update's. */
  const acting = (
    { tables }: Made,
    of: (iteration: number, logStd: readonly (readonly number[])[]) => readonly number[],
  ) => {
    const { samples, replays } = tables;
    const iteration = numbers(samples, 'iteration');
    const begin = [0, 1, 2].map((number) => lists(samples, 'log_std')[iteration.indexOf(number)]);
    samples.mean = lists(samples, 'mean').map((mean, row) =>
      of(iteration[row], begin) === begin[iteration[row]]
        ? mean
        : mean.map((value, d) => value + Math.sin(row + d) / 9),
    );
    samples.log_std = iteration.map((number) => [...of(number, begin)]);
    samples.old_logp = iteration.map((_, row) =>
      density(lists(samples, 'action_values')[row], lists(samples, 'mean')[row], lists(samples, 'log_std')[row]),
    );
    const places = placesOf(tables);
    replays.old_logp = places.map((place) => numbers(samples, 'old_logp')[place]);
  };

  it('that is synced every second time: rows of the policy before', async () => {
    const found = await spoiled((made) => acting(made, (number, begin) => begin[number === 1 ? 0 : number]));
    expect(first(found)).toEqual(['faulty', 'stale-samples']);
    expect(found.causes[0]).toMatchObject({ onset: 1, transform: { id: 'policy-of-iteration', before: 1 } });
  });

  it('or another input: nothing is named where its deviation is of no earlier iteration', async () => {
    const found = await spoiled((made) =>
      acting(made, (number, begin) => (number === 1 ? begin[1].map((value) => value + 0.05) : begin[number])),
    );
    expect(found.causes.map(({ id }) => id)).not.toContain('stale-samples');
    expect(found.verdict).toBe('unexplained');
  });

  it('or a deviation that is kept on purpose: it never moves, and tells nothing', async () => {
    const found = await spoiled((made) => acting(made, (_, begin) => begin[0]));
    expect(found.causes.map(({ id }) => id)).not.toContain('stale-samples');
  });
});

describe('candidates of what stays unexplained come by what was measured', () => {
  it('the pass that its own distribution does not give, and columns that would tell what it scored', async () => {
    const found = await spoiled((made) =>
      update(made, (row) => lists(made.tables.replays, 'action_values')[row].map((value) => value + Math.sin(row) / 9)),
    );
    const [open] = found.unexplained;
    expect(open.candidates[0]).toBe('clipped-action-stored');
    expect(open.to_decide).toEqual(['samples.logp_parts', 'replays.logp_parts']);
  });

  it('means that differ from the second iteration on speak for rows of an earlier policy', async () => {
    const found = await spoiled((made) => {
      const { samples, replays } = made.tables;
      const iteration = numbers(samples, 'iteration');
      samples.mean = lists(samples, 'mean').map((mean, row) =>
        iteration[row] === 0 ? mean : mean.map((value, d) => value + Math.sin(row + d) / 9),
      );
      samples.old_logp = iteration.map((_, row) =>
        density(lists(samples, 'action_values')[row], lists(samples, 'mean')[row], lists(samples, 'log_std')[row]),
      );
      const places = placesOf(made.tables);
      replays.old_logp = places.map((place) => numbers(samples, 'old_logp')[place]);
    });
    expect(found.verdict).toBe('unexplained');
    for (const { candidates } of found.unexplained)
      expect(candidates.slice(0, 2)).toEqual(['stale-samples', 'inputs-differ']);
  });
});
