import { describe, expect, it } from 'vitest';
import { changedTorch, type Made, unheard } from '../../../../test/support/programs.ts';
import { numbers } from '../../../../test/support/tables.ts';

type Draw = (rows: readonly number[], epoch: number, iteration: number) => (readonly number[])[];

/** The updates drawn anew: for every policy, three epochs of minibatches from its rows. */
const drawing =
  (draw: Draw, epochs = 3) =>
  (made: Made) => {
    const { samples, replays } = made.tables;
    const [iteration, agent] = ['iteration', 'agent'].map((name) => numbers(samples, name));
    const columns: Record<string, number[]> = {};
    const put = (row: Record<string, number>) => {
      for (const [name, value] of Object.entries(row)) {
        columns[name] ??= [];
        columns[name].push(value);
      }
    };
    const policies = made.manifest.agents!.map(({ policy }) => policy ?? 0);
    for (const number of new Set(numbers(replays, 'iteration'))) {
      const begin = iteration.indexOf(number);
      for (const policy of new Set(policies)) {
        const own = iteration.flatMap((at, row) => (at === number && policies[agent[row]] === policy ? [row] : []));
        for (let epoch = 0; epoch < epochs; epoch++)
          draw(own, epoch, number).forEach((part, minibatch) => {
            for (const row of part)
              put({
                ...{ iteration: number, epoch, minibatch, policy, sample: row - begin, weight: 1 },
                ...{ new_logp: numbers(samples, 'old_logp')[row], old_logp: numbers(samples, 'old_logp')[row] },
              });
          });
      }
    }
    made.tables.replays = columns as Made['tables']['replays'];
    made.tables.steps = {} as Made['tables']['steps'];
    made.tables.tensors = {} as Made['tables']['tensors'];
    unheard(made);
  };

const split = (rows: readonly number[], parts: number) =>
  Array.from({ length: parts }, (_, i) =>
    rows.slice(Math.round((i * rows.length) / parts), Math.round(((i + 1) * rows.length) / parts)),
  );
let seed = 1;
const random = () => {
  seed = (seed * 16807) % 2147483647;
  return seed / 2147483647;
};
const shuffled = (rows: readonly number[]) =>
  rows
    .map((row) => ({ row, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ row }) => row);

const ids = async (draw: Draw, epochs?: number, also: (made: Made) => void = () => {}) => {
  const found = await changedTorch((made) => {
    drawing(draw, epochs)(made);
    also(made);
  });
  return found.causes.map(({ id }) => id).filter((id) => id === 'rows-never-drawn');
};
const quarter = (rows: readonly number[]) => rows.slice(0, rows.length / 4);

describe('rows of a batch that no minibatch draws', () => {
  it('are named where the same minibatch is drawn again and again, or the permutation is too short', async () => {
    const kept = new Map<number, number[]>();
    const draws: Draw[] = [
      (rows) => [0, 1, 2, 3].map(() => quarter(rows)),
      (rows, _, iteration) => {
        const key = 1000 * iteration + (rows[0] % 1000);
        if (!kept.has(key)) kept.set(key, shuffled(rows).slice(0, rows.length / 4));
        return [0, 1, 2, 3].map(() => kept.get(key)!);
      },
      (rows) => split(shuffled(rows.slice(0, rows.length / 2)), 4),
    ];
    for (const draw of draws) expect(await ids(draw)).toEqual(['rows-never-drawn']);
  });

  it('are a custom where minibatches are drawn at random, the remainder is dropped, or a KL ends the pass', async () => {
    const at = (rows: readonly number[]) => rows[Math.floor(random() * rows.length)];
    const customs: [Draw, number][] = [
      [(rows) => split(shuffled(rows), 4), 3],
      [(rows) => [0, 1].map(() => Array.from({ length: rows.length / 4 }, () => at(rows))), 2],
      [(rows) => [shuffled(rows).slice(0, rows.length / 4)], 3],
      [(rows) => [rows.slice(0, Math.ceil(rows.length / 2) + 1)], 3],
      [(rows) => split(shuffled(rows), 4).slice(0, 1), 1],
    ];
    for (const [draw, epochs] of customs) expect(await ids(draw, epochs)).toEqual([]);
    const stopped = (made: Made) => Object.assign(made.manifest.settings!, { target_kl: 0.02 });
    expect(await ids((rows) => [quarter(rows)], 1, stopped)).toEqual([]);
  });

  it('are a custom where they are chosen by what they hold, or have no advantage', async () => {
    let made: Made;
    const see = (one: Made) => {
      made = one;
    };
    const best: Draw = (rows) => {
      const advantage = numbers(made.tables.samples, 'advantage');
      return [[...rows].sort((a, b) => advantage[b] - advantage[a]).slice(0, rows.length / 2)];
    };
    const found = await changedTorch((one) => {
      see(one);
      drawing(best)(one);
    });
    expect(found.causes.map(({ id }) => id)).not.toContain('rows-never-drawn');
    const gone = await changedTorch((one) => {
      const advantage = numbers(one.tables.samples, 'advantage');
      drawing((rows) => {
        const used = quarter(rows);
        for (const row of rows) if (!used.includes(row)) advantage[row] = 0;
        return [used];
      })(one);
    });
    expect(gone.causes.map(({ id }) => id)).not.toContain('rows-never-drawn');
  });
});
