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

/** Lists of which some candidates are illegal: drawn with the mask, or without it and the first legal one in place of illegal ones. */
async function maskedBy(fall: 'none' | 'first' | 'middle') {
  const made = await stored('healthy/echo-2');
  const { samples } = made.tables;
  const random = RandomStream.of(11);
  const rows = numbers(samples, 'action').map(() => {
    const logits = [0, 1, 2, 3, 4].map(() => 2 * random.uniform());
    const legal = logits.map((_, i) => (i > 0 && (i === 4 || random.uniform() < 0.6) ? 1 : 0));
    const weights = logits.map((logit, i) => (legal[i] === 1 ? Math.exp(logit) : 0));
    const free = drawn(logits.map(Math.exp), random);
    const places = legal.flatMap((is, i) => (is === 1 ? [i] : []));
    const instead = places[fall === 'first' ? 0 : places.length >> 1];
    const action = fall === 'none' ? drawn(weights, random) : legal[free] === 1 ? free : instead;
    return { logits, legal, action, logp: Math.log(weights[action] / weights.reduce((sum, one) => sum + one, 0)) };
  });
  for (const name of ['subset', 'num_actions', 'temperature']) delete samples[name];
  samples.logits = rows.map(({ logits }) => logits);
  samples.legal = rows.map(({ legal }) => legal);
  samples.action = rows.map(({ action }) => action);
  samples.old_logp = rows.map(({ logp }) => logp);
  return diagnose(await record(made), { only: ['drawn'] });
}

it('says nothing where the mask was there when actions were drawn', async () => {
  const { checks, causes } = await maskedBy('none');
  expect(checks[0]).toMatchObject({ id: 'drawn', status: 'pass' });
  expect(causes).toEqual([]);
});

it('names draws without the mask whose illegal ones become the first legal candidate', async () => {
  const { causes } = await maskedBy('first');
  expect(causes.map(({ id }) => id)).toEqual(['old-logp-wrong']);
  expect(causes[0].summary).toContain('illegal ones fell to the first legal candidate');
});

it('names no fall to a place that it was not', async () => {
  const { causes } = await maskedBy('middle');
  expect(causes).toEqual([]);
});
