/** What a program may rightly report as its KL, where a rate or a stop follows it. */
import { describe, expect, it } from 'vitest';
import { changed, type Made, placesOf, status, unheard } from '../../../test/support/programs.ts';
import { lists, numbers } from '../../../test/support/tables.ts';

/** Replays without logits have those of their samples, moved a little further by every step; what is reported is the mean over a step's rows. */
function reporting(made: Made, kl: (old: number[], fresh: number[]) => number): void {
  const { samples, replays, steps } = made.tables;
  unheard(made);
  for (const table of [samples, replays]) {
    delete table.temperature;
    delete table.legal;
  }
  const logs = (logits: number[]) => {
    const sum = Math.log(logits.reduce((all, logit) => all + Math.exp(logit), 0));
    return logits.map((logit) => logit - sum);
  };
  const places = placesOf(made.tables);
  const [epoch, minibatch] = ['epoch', 'minibatch'].map((name) => numbers(replays, name));
  const logits = numbers(samples, 'num_actions').map((count, row) =>
    Array.from({ length: count }, (_, i) => Math.sin(5 * row + 3 * i)),
  );
  samples.logits = logits;
  replays.logits = places.map((place, row) =>
    logits[place].map((logit, i) => logit + 0.05 * (4 * epoch[row] + minibatch[row]) * Math.cos(place + 2 * i)),
  );
  samples.old_logp = logits.map((own, row) => logs(own)[numbers(samples, 'action')[row]]);
  const scored = (row: number) => logs(lists(replays, 'logits')[row])[numbers(samples, 'action')[places[row]]];
  replays.new_logp = places.map((_, row) => scored(row));
  replays.old_logp = places.map((place) => numbers(samples, 'old_logp')[place]);
  delete replays.entropy;
  delete replays.again_logp;
  const key = (table: typeof steps, row: number) =>
    ['iteration', 'epoch', 'minibatch', 'policy'].map((name) => numbers(table, name)[row]).join(' ');
  const sums = new Map<string, [number, number]>();
  places.forEach((place, row) => {
    const [sum, count] = sums.get(key(replays, row)) ?? [0, 0];
    const own = kl(logs(logits[place]), logs(lists(replays, 'logits')[row]));
    sums.set(key(replays, row), [sum + own, count + 1]);
  });
  steps.approx_kl = numbers(steps, 'epoch').map((_, row) => {
    const [sum, count] = sums.get(key(steps, row)) ?? [Number.NaN, 1];
    return sum / count;
  });
  made.manifest.settings = { ...made.manifest.settings, learning_rate_schedule: 'adaptive-kl' };
}

const between = (one: number[], other: number[]) =>
  one.reduce((sum, log, i) => sum + Math.exp(log) * (log - other[i]), 0);

describe('a KL that the rate follows', () => {
  it('may be that of the distributions themselves, either way about', async () => {
    for (const kl of [between, (old: number[], fresh: number[]) => between(fresh, old)]) {
      const found = await changed('healthy/echo-2', (made) => reporting(made, kl));
      expect(status(found, 'metrics')).toBe('pass');
    }
  });

  it('is told where it is neither that nor an estimate', async () => {
    const found = await changed('healthy/echo-2', (made) => reporting(made, (old, fresh) => 2.5 * between(old, fresh)));
    expect(status(found, 'metrics')).toBe('fail');
    expect(found.causes.map(({ id }) => id)).toContain('metric-misreported');
  });

  it('is not told where distributions were not recorded and the estimates allow it', async () => {
    const found = await changed('healthy/echo-2', (made) => {
      reporting(made, between);
      for (const table of [made.tables.samples, made.tables.replays]) delete table.logits;
    });
    expect(status(found, 'metrics')).toBe('pass');
  });
});
