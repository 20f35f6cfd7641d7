import { describe, expect, it } from 'vitest';
import { changed, first, type Made, status } from '../../../test/support/programs.ts';
import { numbers, stored } from '../../../test/support/tables.ts';
import { advantages, type EndRule, flow } from '../../math/advantages.ts';
import { buildChains } from '../../math/chains.ts';

/** What is computed of a sample's columns, in the rows of its iteration. */
function ofRows(table: Made['tables']['samples'], compute: (of: (name: string) => number[]) => ArrayLike<number>) {
  const iteration = numbers(table, 'iteration');
  const out = new Array<number>(iteration.length);
  for (const number of new Set(iteration)) {
    const rows = iteration.flatMap((at, row) => (at === number ? [row] : []));
    const found = compute((name) => rows.map((row) => numbers(table, name)[row]));
    rows.forEach((row, i) => {
      out[row] = found[i];
    });
  }
  return out;
}

/** The values after every step, as a program has them that asks its critic about the state that truly followed. */
function withEveryNextValue({ tables: { samples } }: Made): void {
  samples.next_value = ofRows(samples, (of) => {
    const chains = buildChains(of('episode'), of('t'), of('agent'), of('env'));
    const [value, known] = [of('value'), samples.next_value ? of('next_value') : []];
    return value.map((_, i) => (chains.next[i] >= 0 ? value[chains.next[i]] : known[i] || 0.25));
  });
}

/** Credit by a reading of ends; what time limits bootstrap may be another number than the value of what followed. */
function creditBy(made: Made, rule: EndRule, atLimits = (value: number, _row: number) => value): void {
  withEveryNextValue(made);
  const { samples, replays, steps } = made.tables;
  const { gamma, lambda } = made.manifest.settings as { gamma: number; lambda: number };
  samples.advantage = ofRows(samples, (of) => {
    const inputs = {
      chains: buildChains(of('episode'), of('t'), of('agent'), of('env')),
      reward: of('reward'),
      value: of('value'),
      terminated: of('terminated'),
      truncated: samples.truncated ? of('truncated') : null,
      nextValue: of('next_value'),
    };
    const { carry, boot } = flow(inputs, rule);
    const cut = boot.map((value, row) => (inputs.truncated?.[row] === 1 ? atLimits(value, row) : value));
    return advantages(inputs, { carry, boot: cut }, { gamma, lambda }, new Float64Array(inputs.reward.length));
  });
  for (const [table, names] of [
    [samples, ['return']],
    [replays, ['advantage', 'return']],
    [steps, ['policy_loss', 'loss', 'value_loss']],
  ] as const)
    for (const name of names) delete table[name];
  made.manifest.settings = { ...made.manifest.settings, advantage_normalisation: 'none' };
}

describe('a loop that records little', () => {
  it('has its masks where it recorded them only while sampling, so that its gradients can be recomputed', async () => {
    const bare = ({ tables: { replays } }: Made) => {
      delete replays.legal;
    };
    const healthy = await changed('healthy/echo-2', bare);
    expect(first(healthy)).toEqual(['healthy', undefined]);
    expect(status(healthy, 'head-gradient')).toBe('pass');
    const detached = await changed('policy-detached/policy-detached', bare);
    expect(first(detached)).toEqual(['faulty', 'policy-detached']);
  });

  it('is not excused from a mask that the update forgot', async () => {
    const found = await changed('mask-not-replayed/mask-ignored', ({ tables: { replays } }) => {
      delete replays.legal;
    });
    expect(first(found)).toEqual(['faulty', 'mask-not-replayed']);
  });

  it('has its entropy in its rows where it does not report it', async () => {
    const found = await changed(
      'entropy-sign-flipped/entropy-sign-flipped',
      ({ tables: { steps, replays, tensors } }) => {
        delete steps.entropy;
        delete replays.logits;
        delete tensors.grad_norm;
      },
    );
    expect(first(found)).toEqual(['faulty', 'entropy-sign-flipped']);
  });

  it('and whose whole loss is a sum is told so by its parts', async () => {
    const summed = await changed('healthy/echo-2', ({ tables: { steps, replays, tensors } }) => {
      const key = (table: Made['tables']['samples'], i: number) =>
        ['iteration', 'epoch', 'minibatch', 'policy'].map((name) => numbers(table, name)[i]).join(' ');
      const rows = new Map<string, number>();
      numbers(replays, 'new_logp').forEach(
        (_, i) => void rows.set(key(replays, i), (rows.get(key(replays, i)) ?? 0) + 1),
      );
      steps.loss = numbers(steps, 'loss').map((loss, i) => loss * (rows.get(key(steps, i)) ?? 1));
      delete tensors.grad_norm;
    });
    expect(first(summed)).toEqual(['faulty', 'loss-summed']);
  });

  it('and whose critic learns its own old values is told so', async () => {
    const found = await changed('healthy/echo-2', ({ tables: { samples, replays, steps } }) => {
      const start = new Map<number, number>();
      numbers(samples, 'iteration').forEach((number, row) => void (start.has(number) || start.set(number, row)));
      const value = numbers(samples, 'value');
      const at = numbers(replays, 'iteration');
      replays.return = numbers(replays, 'sample').map((row, i) => value[start.get(at[i])! + row]);
      delete steps.value_loss;
      delete steps.loss;
    });
    expect(first(found)).toEqual(['faulty', 'return-inconsistent']);
    expect(found.causes[0].transform).toMatchObject({ id: 'in-place-of', column: 'value' });
  });

  it('and whose critic learns what nothing gives is not called healthy', async () => {
    const found = await changed('healthy/echo-2', ({ tables: { replays, steps } }) => {
      replays.return = numbers(replays, 'return').map((_, i) => Math.sin(12.9898 * i) * 7);
      delete steps.value_loss;
      delete steps.loss;
    });
    expect(found.verdict).toBe('unexplained');
  });

  it.each([
    ['ignoredAfterOwn', 'return-crosses-episodes'],
    ['carryEarly', 'done-time-shifted'],
    ['carryLate', 'done-time-shifted'],
  ] as const)(
    'and bootstraps from every state that followed has its ends told as they were read: %s',
    async (rule, cause) => {
      const found = await changed('healthy/echo-2', (made) => creditBy(made, rule));
      expect(first(found)).toEqual(['faulty', cause]);
      expect(found.causes[0].transform).toMatchObject({ id: 'ends', rule });
      const right = await changed('healthy/echo-2', (made) => creditBy(made, 'asRecorded'));
      expect(right.causes).toEqual([]);
    },
  );

  it('that comes to rest early on, with something left to decide, is told since when', async () => {
    const still = (from: number) => (made: Made) => {
      const { samples, replays } = made.tables;
      const start = new Map<number, number>();
      numbers(samples, 'iteration').forEach((number, row) => void (start.has(number) || start.set(number, row)));
      const old = numbers(samples, 'old_logp');
      const [at, sample] = [numbers(replays, 'iteration'), numbers(replays, 'sample')];
      replays.new_logp = numbers(replays, 'new_logp').map((logp, i) =>
        at[i] < from ? logp : old[start.get(at[i])! + sample[i]],
      );
      for (const name of ['after_logp', 'again_logp', 'logits']) delete replays[name];
      for (const name of ['policy_loss', 'loss', 'approx_kl', 'clip_fraction', 'delta_logits', 'kl_after'])
        delete made.tables.steps[name];
    };
    const last = Math.max(...numbers((await stored('healthy/stag-hunt-4')).tables.samples, 'iteration'));
    const early = await changed('healthy/stag-hunt-4', still(1));
    expect(first(early)).toEqual(['faulty', 'learning-rate-too-small']);
    expect(early.causes[0].onset).toBe(1);
    // The end of a schedule is no fault.
    expect((await changed('healthy/stag-hunt-4', still(last))).causes.map(({ id }) => id)).not.toContain(
      'learning-rate-too-small',
    );
  });

  it('and does not tell how long gradients were before clipping is doubted where the few steps that tell were added up', async () => {
    const found = await changed('gradients-accumulate/pytorch-without-zero-grad', ({ tables: { steps, replays } }) => {
      delete steps.grad_norm;
      delete replays.logits;
    });
    expect(found.verdict).not.toBe('healthy');
    const [id] = [
      ...found.causes.map((cause) => cause.id),
      ...found.unexplained.flatMap(({ candidates }) => candidates),
    ];
    expect(id).toBe('gradients-accumulate');
  });

  it('is not asked about Gaussians where it only chooses, nor about beliefs where it plans nothing', async () => {
    const { checks } = await changed('healthy/echo-2', () => {});
    const asked = checks.map(({ id }) => id);
    for (const id of ['density', 'beliefs', 'search']) expect(asked).not.toContain(id);
  });
});

describe('credit that is wrong from time limits on', () => {
  it('is read off the rows where they bootstrap another multiple of the value', async () => {
    const found = await changed('healthy/stag-hunt-3', (made) =>
      creditBy(made, 'asRecorded', (value) => value / (made.manifest.settings as { gamma: number }).gamma ** 8),
    );
    expect(first(found)).toEqual(['faulty', 'credit-formula-differs']);
    expect(found.causes[0].transform).toMatchObject({ id: 'cut-formula', rollouts: null });
    expect(found.causes[0].summary).toMatch(
      /at time limits 1\.0\d+ V\(final\) is bootstrapped, where 0\.99 V\(final\) is declared/,
    );
  });

  it('is said to begin there where nothing reproduces it, and its causes come first', async () => {
    const found = await changed('healthy/stag-hunt-3', (made) =>
      creditBy(made, 'asRecorded', (value, row) => value + Math.sin(37 * row)),
    );
    expect(found.verdict).toBe('unexplained');
    const open = found.unexplained.find(({ check }) => check === 'credit')!;
    expect(open.summary).toContain('all of it begins at rows that a time limit cut off');
    expect(open.candidates.slice(0, 2)).toEqual(['final-observation-lost', 'inputs-differ']);
  });
});
