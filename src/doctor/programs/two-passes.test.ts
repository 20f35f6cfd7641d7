import { expect, it } from 'vitest';
import { changed, type Made, placesOf, status, unheard } from '../../../test/support/programs.ts';
import { lists, numbers } from '../../../test/support/tables.ts';

const clip = 0.1;

/** Some rows weigh nothing, more of them in the first half of a step, and what is reported are means of two halves' means, with another clip than the declared one. */
function inTwoPasses(made: Made): void {
  const { steps, replays } = made.tables;
  const [fresh, old, used] = ['new_logp', 'old_logp', 'advantage'].map((name) => numbers(replays, name));
  const weight: number[] = new Array(fresh.length).fill(1);
  const keys = ['iteration', 'epoch', 'minibatch', 'policy'];
  const keyOf = (table: Record<string, unknown>, row: number) =>
    keys.map((name) => (table[name] as number[])[row]).join(' ');
  const rows = new Map<string, number[]>();
  for (let row = 0; row < fresh.length; row++) {
    // Before the first step every ratio is 1; later ones a clip of 0.1 and one of 0.2 cut at different rows.
    if (numbers(replays, 'epoch')[row] + numbers(replays, 'minibatch')[row] > 0)
      fresh[row] = old[row] + 0.25 * Math.sin(7 * row);
    const key = keyOf(replays, row);
    rows.set(key, [...(rows.get(key) ?? []), row]);
  }
  for (const own of rows.values())
    own.forEach((row, i) => {
      if (i % (i < own.length / 2 ? 3 : 8) === 0) weight[row] = 0;
    });
  const mean = (part: number[], of: (row: number) => number) =>
    part.reduce((sum, row) => sum + weight[row] * of(row), 0) / part.reduce((sum, row) => sum + weight[row], 0);
  const halved = (own: number[], of: (row: number) => number) => {
    const middle = Math.ceil(own.length / 2);
    return (mean(own.slice(0, middle), of) + mean(own.slice(middle), of)) / 2;
  };
  const ratio = (row: number) => Math.exp(fresh[row] - old[row]);
  const loss = (row: number) =>
    -Math.min(ratio(row) * used[row], Math.min(1 + clip, Math.max(1 - clip, ratio(row))) * used[row]);
  const told = (of: (row: number) => number) =>
    numbers(steps, 'epoch').map((_, step) => halved(rows.get(keyOf(steps, step))!, of));
  steps.policy_loss = told(loss);
  steps.clip_fraction = told((row) => Number(Math.abs(ratio(row) - 1) > clip));
  replays.weight = weight;
  unheard(made, 'policy_loss', 'clip_fraction');
}

it('a clip in use is found where losses are means of two passes and some rows weigh nothing', async () => {
  const found = await changed('healthy/echo-2', inTwoPasses);
  expect(status(found, 'loss')).toBe('pass');
  expect(status(found, 'metrics')).not.toBe('fail');
});

it('entropies tell nothing where only a few rows were scored by the logits beside them', async () => {
  const found = await changed('healthy/echo-2', (made) => {
    unheard(made);
    const { samples, replays } = made.tables;
    const counts = numbers(samples, 'num_actions');
    const logits = counts.map((count, row) => Array.from({ length: count }, (_, i) => Math.sin(5 * row + 3 * i)));
    const logs = (row: number, by: number) => {
      const sum = Math.log(logits[row].reduce((all, l) => all + Math.exp(l / by), 0));
      return logits[row].map((l) => l / by - sum);
    };
    // One row in thirty has the score that its logits give.
    const scored = counts.map(
      (_, row) => logs(row, 1)[numbers(samples, 'action')[row]] - (row % 30 === 0 ? 0 : 0.3 + (row % 7) / 10),
    );
    const entropies = counts.map((_, row) => -logs(row, 0.7).reduce((sum, log) => sum + log * Math.exp(log), 0));
    samples.logits = logits;
    samples.legal = counts.map((count) => new Array(count).fill(1));
    samples.old_logp = scored;
    const places = placesOf(made.tables);
    replays.logits = places.map((place) => logits[place]);
    replays.legal = places.map((place) => lists(samples, 'legal')[place]);
    replays.new_logp = places.map((place) => scored[place]);
    replays.old_logp = replays.new_logp;
    replays.entropy = places.map((place) => entropies[place]);
    for (const table of [samples, replays]) delete table.temperature;
    delete replays.again_logp;
  });
  expect(status(found, 'metrics')).toBeDefined();
  expect(found.causes.map(({ id }) => id)).not.toContain('entropy-of-another-distribution');
});

it('a batch of two minibatches with nearly the same line is normalised by each of them', async () => {
  const found = await changed('healthy/echo-2', (made) => {
    unheard(made);
    const { replays } = made.tables;
    const minibatch = numbers(replays, 'minibatch');
    // One line for both is off by more than rounding only where credit is largest.
    replays.advantage = numbers(replays, 'advantage').map((used, row) => used * (minibatch[row] === 0 ? 1 : 1.0009));
    made.manifest.settings = { ...made.manifest.settings, advantage_normalisation: 'minibatch' };
  });
  expect(status(found, 'pairing')).toBe('pass');
  expect(found.checks.find(({ id }) => id === 'pairing')!.measured).toMatchObject({ disagreeing: 0 });
});

it("the critic's word on rows that enter no loss is not compared", async () => {
  const found = await changed('healthy/stag-hunt-4', (made) => {
    unheard(made);
    const { samples, replays } = made.tables;
    const places = placesOf(made.tables);
    const absent = (row: number) => row % 3 === 0;
    replays.value = places.map((place) => numbers(samples, 'value')[place]);
    replays.weight = places.map((place) => Number(!absent(place)));
    samples.value = numbers(samples, 'value').map((value, row) => (absent(row) ? 0 : value));
    for (const name of ['advantage', 'return']) delete samples[name];
    delete replays.return;
  });
  expect(status(found, 'critic')).toBe('pass');
});
