import { expect, it } from 'vitest';
import { lists, numbers, record, stored } from '../../../../test/support/tables.ts';
import { RandomStream } from '../../../math/random.ts';
import { diagnose } from '../../diagnose.ts';

const probabilities = (logits: readonly number[], legal: readonly number[]) => {
  const weights = logits.map((logit, i) => (legal[i] === 1 ? Math.exp(logit) : 0));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
};

/** A run of three choices of which one is illegal in most rows; `update` gives the probabilities that the update scores by. */
async function replayedBy(
  update: (logits: readonly number[], legal: readonly number[], next: readonly number[]) => number[],
  sampledMasked = true,
) {
  const made = await stored('healthy/echo-2');
  const { samples, replays } = made.tables;
  const random = RandomStream.of(3);
  const [iteration, agent, env] = ['iteration', 'agent', 'env'].map((name) => numbers(samples, name));
  const rows = iteration.map((_, row) => {
    const logits = [0, 1, 2].map(() => 2 * random.uniform());
    const legal = [1, 1, 1];
    // In every fourth row all are legal.
    const illegal = random.below(4);
    if (illegal < 3) legal[illegal] = 0;
    const p = probabilities(logits, sampledMasked ? legal : [1, 1, 1]);
    const draw = random.uniform();
    const action = draw < p[0] ? 0 : draw < p[0] + p[1] ? 1 : 2;
    return { logits, legal, action, old: Math.log(p[action]), row };
  });
  const first = new Map<number, number>();
  for (const [row, number] of iteration.entries()) if (!first.has(number)) first.set(number, row);
  for (const name of ['subset', 'num_actions', 'temperature']) delete samples[name];
  for (const name of ['subset', 'legal', 'temperature', 'after_logp', 'again_logp', 'entropy', 'old_logp'])
    delete replays[name];
  samples.logits = rows.map(({ logits }) => logits);
  samples.legal = rows.map(({ legal }) => legal);
  samples.action = rows.map(({ action }) => action);
  samples.old_logp = rows.map(({ old }) => old);
  const own = numbers(replays, 'sample').map((at, i) => rows[first.get(numbers(replays, 'iteration')[i])! + at]);
  const beside = ({ row }: (typeof rows)[number]) =>
    rows.find(
      (_, at) => at > row && iteration[at] === iteration[row] && agent[at] === agent[row] && env[at] === env[row],
    );
  replays.logits = own.map(({ logits }) => logits);
  replays.new_logp = own.map((one) =>
    Math.max(-1e9, Math.log(update(one.logits, one.legal, beside(one)?.legal ?? one.legal)[one.action])),
  );
  expect(lists(samples, 'legal').length).toBe(rows.length);
  return diagnose(await record(made), { only: ['replay'] });
}

it.each([
  [
    'next',
    (logits: readonly number[], _: readonly number[], next: readonly number[]) => probabilities(logits, next),
    true,
  ],
  [
    'multiplied',
    (logits: readonly number[], legal: readonly number[]) =>
      probabilities(
        logits.map((logit, i) => logit * legal[i]),
        [1, 1, 1],
      ),
    true,
  ],
  [
    'inverted',
    (logits: readonly number[], legal: readonly number[]) =>
      legal.every((flag) => flag === 1)
        ? [1 / 3, 1 / 3, 1 / 3]
        : probabilities(
            logits,
            legal.map((flag) => 1 - flag),
          ),
    true,
  ],
  ['sampling', (logits: readonly number[], legal: readonly number[]) => probabilities(logits, legal), false],
] as const)('names the mask where it is %s', async (of, update, masked) => {
  const { causes } = await replayedBy(update, masked);
  expect(causes.map(({ id, transform }) => [id, (transform as unknown as { of: string }).of])).toEqual([
    ['mask-not-replayed', of],
  ]);
});

it('says nothing where both passes have the same', async () => {
  const { checks } = await replayedBy((logits, legal) => probabilities(logits, legal));
  expect(checks[0].status).toBe('pass');
});
