/** Programs whose critic has a loop of its own: its steps tell nothing of the policy, nor the policy's of the critic. */
import { describe, expect, it } from 'vitest';
import { changed, first, type Made, status } from '../../../test/support/programs.ts';
import { numbers } from '../../../test/support/tables.ts';

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
