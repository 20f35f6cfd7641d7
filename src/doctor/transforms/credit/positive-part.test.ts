import { describe, expect, it } from 'vitest';
import { changed, first, type Made, placesOf } from '../../../../test/support/programs.ts';
import { numbers } from '../../../../test/support/tables.ts';

/** The loss gets what `use` makes of the advantages that it got. */
const using = (use: (advantage: number, row: number) => number) => (made: Made) => {
  const { replays, steps, tensors } = made.tables;
  const places = placesOf(made.tables);
  replays.advantage = numbers(replays, 'advantage').map((advantage, i) => use(advantage, places[i]));
  delete steps.policy_loss;
  delete steps.loss;
  delete tensors.grad_norm;
  for (const name of ['after_logp', 'logits']) delete replays[name];
};

describe('credit of which only the positive part is left', () => {
  it('is named by what undoes it', async () => {
    const found = await changed(
      'healthy/stag-hunt-4',
      using((advantage) => Math.max(0, advantage)),
    );
    expect(first(found)).toEqual(['faulty', 'advantage-degenerate']);
    expect(found.causes[0].transform?.id).toBe('positive-part');
  });

  it('is not seen where zeros stand in the place of others', async () => {
    const found = await changed(
      'healthy/stag-hunt-4',
      using((advantage, row) => (row % 3 === 0 ? 0 : Math.abs(advantage))),
    );
    expect(found.causes.map(({ transform }) => transform?.id)).not.toContain('positive-part');
    expect(found.verdict).not.toBe('healthy');
  });
});
