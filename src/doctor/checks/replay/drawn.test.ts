import { expect, it } from 'vitest';
import { numbers, record, stored } from '../../../../test/support/tables.ts';
import { RandomStream } from '../../../math/random.ts';
import { diagnose } from '../../diagnose.ts';

type Choose = (probabilities: readonly number[], random: RandomStream) => number;

const drawn: Choose = (probabilities, random) => {
  let left = random.uniform() * probabilities.reduce((sum, p) => sum + p, 0);
  return Math.max(
    0,
    probabilities.findIndex((p) => {
      left -= p;
      return left < 0;
    }),
  );
};

/** Actions chosen anew among random logits, and scored at a temperature of 1. */
async function chosenBy(choose: Choose) {
  const made = await stored('healthy/echo-2');
  const { samples } = made.tables;
  const random = RandomStream.of(7);
  const rows = numbers(samples, 'action').map(() => {
    const logits = [0, 1, 2, 3].map(() => 4 * random.uniform());
    const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
    const action = choose(
      logits.map((logit) => Math.exp(logit) / total),
      random,
    );
    return { logits, action, logp: logits[action] - Math.log(total) };
  });
  for (const name of ['legal', 'subset', 'num_actions', 'temperature']) delete samples[name];
  samples.logits = rows.map(({ logits }) => logits);
  samples.action = rows.map(({ action }) => action);
  samples.old_logp = rows.map(({ logp }) => logp);
  return diagnose(await record(made), { only: ['drawn'] });
}

it('says nothing where actions were drawn as they were scored', async () => {
  const { checks, causes } = await chosenBy(drawn);
  expect(checks[0]).toMatchObject({ id: 'drawn', status: 'pass' });
  expect(causes).toEqual([]);
});

it.each([0.5, 2])('names a temperature of %s that only drawing used', async (temperature) => {
  const { causes } = await chosenBy((probabilities, random) =>
    drawn(
      probabilities.map((p) => p ** (1 / temperature)),
      random,
    ),
  );
  expect(causes.map(({ id }) => id)).toEqual(['temperature-mismatch']);
  const { divisor } = causes[0].transform as unknown as { divisor: number };
  expect(Math.abs(Math.log(divisor / temperature))).toBeLessThan(0.2);
});

it('leaves open what no temperature gives', async () => {
  const { causes, unexplained } = await chosenBy((probabilities, random) =>
    random.uniform() < 0.3 ? probabilities.indexOf(Math.min(...probabilities)) : drawn(probabilities, random),
  );
  expect(causes).toEqual([]);
  expect(unexplained[0]?.check).toBe('drawn');
});
