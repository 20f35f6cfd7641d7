/** Programs whose critic has a loop of its own: its steps tell nothing of the policy, nor the policy's of the critic. And teams whose credit or actions are of other rows. */
import { describe, expect, it } from 'vitest';
import { changed, first, type Made, placesOf, status, unheard } from '../../../test/support/programs.ts';
import { lists, numbers } from '../../../test/support/tables.ts';
import { spread } from '../../math/statistics.ts';

/** Value losses of a step of the policy become those of `times` steps of the critic at the end of the iteration. */
function apart({ tables: { steps } }: Made, times = 1): void {
  const iteration = numbers(steps, 'iteration');
  const old = structuredClone(steps) as Record<string, number[]>;
  const names = Object.keys(steps);
  for (const name of names) steps[name] = [];
  for (const at of new Set(iteration)) {
    const rows = iteration.flatMap((number, row) => (number === at ? [row] : []));
    for (const row of rows)
      for (const name of names) numbers(steps, name).push(name === 'value_loss' ? Number.NaN : old[name][row]);
    const told = ['iteration', 'policy', 'value_loss'];
    for (let time = 0; time < times; time++)
      for (const row of rows)
        for (const name of names)
          numbers(steps, name).push(
            name === 'epoch'
              ? old.epoch[row] + (time + 1) * (Math.max(...old.epoch) + 1)
              : name === 'minibatch' || told.includes(name)
                ? old[name][row]
                : name === 'stopped' || name === 'skipped'
                  ? 0
                  : Number.NaN,
          );
  }
}

/** So many steps of the critic that the policy's are few. */
const fewSteps = (made: Made) => apart(made, 24);

describe('a critic with a loop of its own', () => {
  it('leaves the value loss of the few steps of the policy untold', async () => {
    const found = await changed('healthy/stag-hunt-4', fewSteps);
    expect(status(found, 'finite')).toBe('pass');
    expect(first(found)).toEqual(['healthy', undefined]);
  });

  it('may lose its value loss all the same', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => {
      fewSteps(made);
      const value = numbers(made.tables.steps, 'value_loss');
      value[value.length - 2] = Number.NaN;
    });
    expect(first(found)).toEqual(['faulty', 'non-finite']);
  });

  it('goes on when the guard has stopped the policy too early', async () => {
    const found = await changed('kl-guard-too-tight/kl-guard-tight', (made) => apart(made, 8));
    expect(first(found)).toEqual(['faulty', 'kl-guard-too-tight']);
    const sound = await changed('healthy/stag-hunt-4', (made) => apart(made, 8));
    expect(status(sound, 'kl-guard')).not.toBe('fail');
  });
});

/** The others of these are slow: team-loops.slow.test.ts. */
describe('a team of agents', () => {
  it.each([
    ['value-scale-mismatch', 'value-beside'],
    ['advantage-group-demeaned', 'team-mean'],
    ['credit-formula-differs', 'team-mean'],
  ])('whose credit is another number of its own rows is told which: %s', async (cause, id) => {
    const found = await changed('healthy/stag-hunt-4', (made) => {
      const { samples, replays } = made.tables;
      const [advantage, value, episode, t] = ['advantage', 'value', 'episode', 't'].map((name) =>
        numbers(samples, name),
      );
      const teams = new Map<string, number[]>();
      const team = (row: number) => `${episode[row]} ${t[row]}`;
      advantage.forEach((own, row) => void teams.set(team(row), [...(teams.get(team(row)) ?? []), own]));
      const mean = (row: number) => spread(teams.get(team(row))!).mean;
      samples.advantage = advantage.map((own, row) => {
        if (id === 'value-beside') return own + 0.6 * value[row] + 0.1;
        return cause === 'credit-formula-differs' ? mean(row) : own - mean(row);
      });
      for (const name of ['advantage', 'return']) delete replays[name];
      delete samples.return;
      unheard(made);
    });
    expect(first(found)).toEqual(['faulty', cause]);
    expect(found.causes[0].transform).toMatchObject({ id });
  });

  it('whose update scores the actions of other rows is told so, not of candidate lists', async () => {
    const found = await changed('healthy/echo-2', (made) => {
      const { samples, replays } = made.tables;
      const action = numbers(samples, 'action');
      const [logits, legal] = [lists(replays, 'logits'), lists(replays, 'legal')];
      replays.new_logp = placesOf(made.tables).map((row, i) => {
        const allowed = logits[i].map((logit, k) => (legal[i][k] === 1 ? Math.exp(logit) : 0));
        // The next one that is allowed.
        let other = action[row];
        do other = (other + 1) % allowed.length;
        while (allowed[other] === 0);
        return Math.log(allowed[other] / allowed.reduce((sum, part) => sum + part, 0));
      });
      delete replays.again_logp;
      const kept = replays.logits;
      unheard(made);
      replays.logits = kept;
    });
    expect(first(found)).toEqual(['faulty', 'inputs-differ']);
    expect(found.causes[0].transform).toMatchObject({ id: 'other-action' });
  });
});
