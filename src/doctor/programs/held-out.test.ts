/** Customs and slips of programs that nobody here had seen: what was wrongly accused, wrongly named or missed in them. */
import { describe, expect, it } from 'vitest';
import { changed, first, type Made, placesOf, status, unheard } from '../../../test/support/programs.ts';
import { lists, numbers } from '../../../test/support/tables.ts';

describe('rows that are never drawn', () => {
  const left = (made: Made, credit: number) => {
    const { samples, replays } = made.tables;
    const out = numbers(samples, 't').map((t) => t === 1);
    for (const [row, gone] of out.entries())
      if (gone) {
        numbers(samples, 'advantage')[row] = credit;
        numbers(samples, 'return')[row] = numbers(samples, 'value')[row] + credit;
      }
    const places = placesOf(made.tables);
    for (const [name, values] of Object.entries(replays))
      replays[name] = (values as number[]).filter((_, i) => !out[places[i]]);
    unheard(made);
  };

  it('may have no credit, as those of agents who have left', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => left(made, 0));
    expect(found.causes).toEqual([]);
    expect(found.unexplained).toEqual([]);
  });

  it('are compared where they have some', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => left(made, 0.25));
    expect(['warn', 'fail']).toContain(status(found, 'credit'));
  });
});

describe('a whole loss with a term that is neither policy, value nor entropy', () => {
  it('is not taken for an entropy bonus with the wrong sign where the term stays as even as entropy does', async () => {
    const found = await changed('healthy/echo-1', ({ tables: { steps } }) => {
      const mean = numbers(steps, 'entropy').reduce((sum, value) => sum + value, 0) / steps.entropy.length;
      steps.entropy = numbers(steps, 'entropy').map((_, i) => mean * (1 + 1e-3 * Math.cos(7 * i)));
      steps.loss = numbers(steps, 'policy_loss').map(
        (policy, i) => policy + 0.5 * numbers(steps, 'value_loss')[i] + 0.09 * mean * (1 + 2e-3 * Math.sin(3 * i)),
      );
    });
    expect(status(found, 'whole-loss')).toBe('not-checked');
    expect(found.causes.map(({ id }) => id)).not.toContain('entropy-sign-flipped');
  });
});

describe('a slip is called by its name', () => {
  it('gradients that are cleared before the step: nothing moves, though every parameter is held', async () => {
    const found = await changed('optimizer-unbound/optimizer-unbound', ({ tables: { tensors } }) => {
      for (const name of ['grad_norm', 'grad_nonzero', 'delta', 'delta_norm'])
        tensors[name] = numbers(tensors, name).map(() => 0);
      tensors.bound = numbers(tensors, 'bound').map(() => 1);
    });
    expect(first(found)).toEqual(['faulty', 'policy-detached']);
    expect(found.causes[0].summary).toContain('gradients are cleared, or cut off, before the optimiser steps');
  });

  it('a return that takes the value off is no value in other units', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => {
      const { samples, replays } = made.tables;
      samples.return = numbers(samples, 'advantage').map((credit, row) => credit - numbers(samples, 'value')[row]);
      delete replays.return;
      unheard(made);
    });
    expect(first(found)).toEqual(['faulty', 'return-inconsistent']);
  });

  it('an entropy of sharper logits than those that score the action', async () => {
    const sharper = 1 / 3;
    const found = await changed('healthy/echo-1', (made) => {
      const { replays, steps } = made.tables;
      replays.entropy = lists(replays, 'logits').map((logits, row) => {
        const legal = lists(replays, 'legal')[row];
        const weights = logits.map((logit, i) => (legal[i] === 1 ? Math.exp(logit / sharper) : 0));
        const sum = weights.reduce((all, weight) => all + weight, 0);
        return -weights.reduce((all, weight) => all + (weight > 0 ? (weight / sum) * Math.log(weight / sum) : 0), 0);
      });
      for (const name of ['entropy', 'loss']) delete steps[name];
    });
    const named = found.causes.find(({ id }) => id === 'entropy-of-another-distribution');
    expect(named?.summary).toMatch(/logits divided by 0\.333/);
    expect(named?.transform).toMatchObject({ id: 'temperature', of: 'update' });
  });

  it('means of the row before: the update was given its observation', async () => {
    const found = await changed('healthy/continuous-healthy', (made) => {
      const { samples, replays } = made.tables;
      const key = (row: number) =>
        ['episode', 'agent', 't'].map((name) => numbers(samples, name)[row]).join() as `${number},${number},${number}`;
      const rows = new Map(samples.t.map((_, row) => [key(row), row]));
      const before = (row: number) => {
        const [episode, agent, t] = key(row).split(',').map(Number);
        return rows.get(`${episode},${agent},${t - 1}`) ?? row;
      };
      const gaussian = (action: number[], mean: number[], deviation: number[]) =>
        action.reduce((sum, value, d) => {
          const z = (value - mean[d]) / Math.exp(deviation[d]);
          return sum - (z * z) / 2 - deviation[d];
        }, 0);
      const law = (row: number) => [lists(samples, 'mean')[row], lists(samples, 'log_std')[row]] as const;
      for (const [i, row] of placesOf(made.tables).entries()) {
        const other = before(row);
        [lists(replays, 'mean')[i], lists(replays, 'log_std')[i]] = law(other);
        // What squashing adds depends on the action alone.
        const action = lists(samples, 'action_values')[row];
        const change = gaussian(action, ...law(other)) - gaussian(action, ...law(row));
        for (const name of ['new_logp', 'again_logp'])
          numbers(replays, name)[i] = numbers(samples, 'old_logp')[row] + change;
      }
      unheard(made);
    });
    expect(first(found)).toEqual(['faulty', 'inputs-differ']);
    expect(found.causes[0].summary).toContain('that of the row before them in their episode');
    expect(found.causes[0].transform).toMatchObject({ id: 'input-of', steps: -1 });
  });

  it('a list whose length nobody recorded is not said to be cut to a fixed one', async () => {
    const name = 'temperature-mismatch/temperature-in-update';
    const found = await changed(name, ({ tables: { samples } }) => {
      for (const column of ['logits', 'subset', 'legal', 'num_actions']) delete samples[column];
    });
    expect(found.causes.map(({ id }) => id)).not.toContain('num-actions-defaulted');
  });
});

describe('an entropy of the rows', () => {
  const given = (entropy: (weights: number[], logp: number) => number) =>
    changed('healthy/echo-1', ({ tables: { replays, steps } }) => {
      replays.entropy = lists(replays, 'logits').map((logits, row) => {
        const weights = logits.map((logit, i) => (lists(replays, 'legal')[row][i] === 1 ? Math.exp(logit) : 0));
        const sum = weights.reduce((all, weight) => all + weight, 0);
        const likely = weights.flatMap((weight) => (weight > 0 ? [weight / sum] : []));
        return entropy(likely, numbers(replays, 'new_logp')[row]);
      });
      for (const name of ['entropy', 'loss']) delete steps[name];
    });

  it('that nothing known gives is said, and no cause is named for it', async () => {
    const found = await given((weights) => -weights.reduce((sum, weight) => sum + weight * weight, 0));
    expect(found.verdict).toBe('unexplained');
    expect(found.unexplained[0].candidates[0]).toBe('entropy-of-another-distribution');
  });

  it.each([
    ['minus the log-probability', (_: number[], logp: number) => -logp],
    ['in bits', (weights: number[]) => -weights.reduce((sum, weight) => sum + weight * Math.log2(weight), 0)],
    ['one number for all', () => 0.7],
  ] as const)('may be told otherwise: %s', async (_, entropy) => {
    expect((await given(entropy)).unexplained).toEqual([]);
  });
});

describe('two value streams, of which one reward and one value cannot tell', () => {
  it('are recorded by their advantages alone: credit is not known, and nothing is accused', async () => {
    const found = await changed('healthy/echo-1', (made) => {
      const { samples, replays } = made.tables;
      for (const name of ['reward', 'value', 'next_value', 'return']) delete samples[name];
      for (const name of ['value', 'return']) delete replays[name];
      unheard(made, 'policy_loss', 'approx_kl', 'clip_fraction', 'entropy');
    });
    expect([found.verdict, found.causes, found.unexplained]).toEqual(['not-enough-evidence', [], []]);
    expect(found.coverage.gaps.join()).toContain('whether advantages are what rewards, values and ends give');
  });
});
