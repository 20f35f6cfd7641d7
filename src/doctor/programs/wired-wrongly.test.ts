/** Programs whose loss, rate, optimiser or head is not what it says: each beside its sound twin. */
import { describe, expect, it } from 'vitest';
import { changed, changedTorch, first, type Made, unheard } from '../../../test/support/programs.ts';
import { lists, numbers } from '../../../test/support/tables.ts';

/** Policy losses made of their rows anew. */
function relossed({ tables: { steps, replays, tensors } }: Made, term: (ratio: number, advantage: number) => number) {
  const key = (table: Made['tables']['steps'], i: number) =>
    ['iteration', 'epoch', 'minibatch', 'policy'].map((name) => numbers(table, name)?.[i] ?? 0).join(' ');
  const sums = new Map<string, { sum: number; weight: number }>();
  const [fresh, old, advantage, weights] = ['new_logp', 'old_logp', 'advantage', 'weight'].map((name) =>
    numbers(replays, name),
  );
  fresh.forEach((logp, i) => {
    const own = sums.get(key(replays, i)) ?? { sum: 0, weight: 0 };
    sums.set(key(replays, i), own);
    own.sum -= weights[i] * term(Math.exp(logp - old[i]), advantage[i]);
    own.weight += weights[i];
  });
  steps.policy_loss = numbers(steps, 'policy_loss').map((loss, i) => {
    const own = sums.get(key(steps, i));
    return own ? own.sum / own.weight : loss;
  });
  for (const name of ['loss', 'clip_fraction']) delete steps[name];
  delete tensors.grad_norm;
}

const clipped = (ratio: number, clip: number) => Math.min(Math.max(ratio, 1 - clip), 1 + clip);
const surrogate = (clip: number) => (ratio: number, a: number) => Math.min(ratio * a, clipped(ratio, clip) * a);
const tellClip = ({ tables: { steps } }: Made, clip: number) => {
  steps.clip = numbers(steps, 'iteration').map(() => clip);
};

describe('a policy loss', () => {
  it('of the smaller ratio times the advantage is named, and the surrogate is not', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => {
      made.manifest.settings = { ...made.manifest.settings, clip: 0.005 };
      relossed(made, (ratio, a) => Math.min(ratio, clipped(ratio, 0.005)) * a);
    });
    expect(first(found)).toEqual(['faulty', 'loss-formula-differs']);
    expect(found.causes[0].transform).toMatchObject({ form: 'smaller-ratio' });
    const sound = await changed('healthy/stag-hunt-4', (made) => {
      made.manifest.settings = { ...made.manifest.settings, clip: 0.005 };
      relossed(made, surrogate(0.005));
    });
    expect(first(sound)).toEqual(['healthy', undefined]);
  });

  it('of the smaller of two means is named', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => {
      made.manifest.settings = { ...made.manifest.settings, clip: 0.005 };
      const means = [
        (ratio: number, a: number) => ratio * a,
        (ratio: number, a: number) => clipped(ratio, 0.005) * a,
      ].map((term) => {
        relossed(made, term);
        return numbers(made.tables.steps, 'policy_loss');
      });
      made.tables.steps.policy_loss = means[0].map((plain, step) => Math.max(plain, means[1][step]));
    });
    expect(first(found)).toEqual(['faulty', 'loss-formula-differs']);
    expect(found.causes[0].transform).toMatchObject({ form: 'smaller-mean' });
  });

  it('with another clip than its steps tell is named, and with that one it is not', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => {
      relossed(made, surrogate(0.01));
      tellClip(made, 0.003);
    });
    expect(first(found)).toEqual(['faulty', 'loss-formula-differs']);
    expect(found.causes[0].summary).toContain('clip of 0.01');
    const sound = await changed('healthy/stag-hunt-4', (made) => {
      relossed(made, surrogate(0.01));
      tellClip(made, 0.01);
    });
    expect(first(sound)).toEqual(['healthy', undefined]);
  });
});

describe('a clip that is declared', () => {
  /** Clips by iteration; ratios above and below 1 may have their own. */
  const lossOf = (clipOf: (iteration: number) => [low: number, high: number]) => (made: Made) => {
    const { steps, replays } = made.tables;
    replays.weight = numbers(replays, 'sample').map(() => 1);
    delete replays.coef;
    made.manifest.settings = { ...made.manifest.settings, clip: 0.01 };
    const iteration = numbers(replays, 'iteration');
    let row = 0;
    relossed(made, (ratio, a) => {
      const [low, high] = clipOf(iteration[row++]);
      return Math.min(ratio * a, Math.min(Math.max(ratio, 1 - low), 1 + high) * a);
    });
    const [policy, value, entropy] = ['policy_loss', 'value_loss', 'entropy'].map((name) => numbers(steps, name));
    const { value_coefficient: v, entropy_coefficient: e } = made.manifest.settings as Record<string, number>;
    steps.loss = policy.map((loss, i) => loss + v * value[i] - e * entropy[i]);
  };

  it('and is not in the loss, or another one is, is told by the losses of the whole run', async () => {
    const free = await changedTorch(lossOf(() => [100, 100]));
    expect(first(free)).toEqual(['faulty', 'loss-formula-differs']);
    expect(free.causes[0].transform).toMatchObject({ form: 'unclipped' });
    const wider = await changedTorch(lossOf(() => [0.02, 0.02]));
    expect(first(wider)).toEqual(['faulty', 'loss-formula-differs']);
    expect(wider.causes[0].summary).toMatch(/clip of 0\.(019|02)/);
  });

  it('may follow a schedule, change once, or be wider above', async () => {
    const customs: ((iteration: number) => [number, number])[] = [
      (iteration) => [0.01 * 0.8 ** iteration, 0.01 * 0.8 ** iteration],
      (iteration) => (iteration < 1 ? [0.01, 0.01] : [0.005, 0.005]),
      () => [0.01, 0.02],
    ];
    for (const custom of customs) expect((await changedTorch(lossOf(custom))).causes).toEqual([]);
  });
});

describe('a whole loss', () => {
  const wholeOf =
    (whole: (parts: { policy: number; value: number; entropy: number; rows: number }) => number, settings = {}) =>
    (made: Made) => {
      const { steps, replays, tensors } = made.tables;
      made.manifest.settings = {
        ...{ ...made.manifest.settings, value_coefficient: 0.5, entropy_coefficient: 0.01 },
        ...settings,
      };
      const rows = numbers(replays, 'sample').length / numbers(steps, 'epoch').length;
      const [policy, value, entropy] = ['policy_loss', 'value_loss', 'entropy'].map((name) => numbers(steps, name));
      steps.loss = policy.map((_, i) => whole({ policy: policy[i], value: value[i], entropy: entropy[i], rows }));
      delete tensors.grad_norm;
      delete replays.coef;
    };

  it('whose declared coefficients are swapped, or whose entropies are added up, is read off its parts', async () => {
    const swapped = await changedTorch(wholeOf(({ policy, value, entropy }) => policy + 0.01 * value - 0.5 * entropy));
    expect(first(swapped)).toEqual(['faulty', 'loss-formula-differs']);
    expect(swapped.causes[0].summary).toContain('are swapped');
    const added = await changedTorch(
      wholeOf(({ policy, value, entropy, rows }) => policy + 0.5 * value - 0.01 * rows * entropy),
    );
    expect(first(added)).toEqual(['faulty', 'loss-summed']);
    expect(added.causes[0].transform).toMatchObject({ id: 'loss-is', form: 'sum', of: 'entropy' });
  });

  it('with declared coefficients, with a scheduled one, or with another term beside them is not accused', async () => {
    let step = 0;
    const customs = [
      wholeOf(({ policy, value, entropy }) => policy + 0.5 * value - 0.01 * entropy),
      wholeOf(({ policy, value, entropy }) => policy + value - 0.01 * entropy),
      wholeOf(({ policy, value, entropy }) => policy + 0.5 * value - 0.02 * 0.99 ** step++ * entropy, {
        entropy_coefficient: undefined,
      }),
      wholeOf(({ policy, value, entropy }) => policy + 0.5 * value - 0.01 * entropy + 0.3 + Math.sin(step++)),
    ];
    for (const custom of customs) expect((await changedTorch(custom)).causes).toEqual([]);
  });
});

it('a rate that is 0 long before the run ends is too small, and one that ends with it is not', async () => {
  const zeroFrom = (share: number) => (made: Made) => {
    const { steps, tensors } = made.tables;
    const rows = numbers(steps, 'iteration').length;
    steps.learning_rate = numbers(steps, 'iteration').map((_, i) => (i >= share * rows ? 0 : 1e-3));
    delete tensors.learning_rate;
  };
  const early = await changed('healthy/stag-hunt-4', zeroFrom(0.2));
  expect(early.causes.map(({ id }) => id)).toContain('learning-rate-too-small');
  const late = await changed('healthy/stag-hunt-4', zeroFrom(0.9));
  expect(late.causes.map(({ id }) => id)).not.toContain('learning-rate-too-small');
});

it('a critic that nobody holds is told though its gradients come in some steps only', async () => {
  const critic = (still: boolean) => (made: Made) => {
    const { tensors } = made.tables;
    const ours = made.manifest.tensors!.map(({ role }) => role === 'critic');
    const norms = new Map<number, number>();
    numbers(tensors, 'tensor').forEach((tensor, i) => {
      if (!ours[tensor]) return;
      if (i % 3 === 0) numbers(tensors, 'grad_norm')[i] = 0;
      if (tensors.bound) numbers(tensors, 'bound')[i] = 0;
      norms.set(tensor, norms.get(tensor) ?? numbers(tensors, 'norm')[i]);
      if (!still) return;
      numbers(tensors, 'norm')[i] = norms.get(tensor)!;
      for (const name of ['delta', 'delta_norm']) if (tensors[name]) numbers(tensors, name)[i] = 0;
    });
    tensors.bound ??= numbers(tensors, 'tensor').map((tensor) => (ours[tensor] ? 0 : 1));
  };
  expect((await changed('healthy/stag-hunt-4', critic(true))).causes.map(({ id }) => id)).toContain(
    'optimizer-unbound',
  );
  expect((await changed('healthy/stag-hunt-4', critic(false))).causes.map(({ id }) => id)).not.toContain(
    'optimizer-unbound',
  );
});

it('probabilities that are taken for logits are a flat head, and their logarithms are none', async () => {
  const soft = (logits: number[]) => {
    const powers = logits.map((logit) => Math.exp(logit - Math.max(...logits)));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((power) => power / sum);
  };
  const scored = (twice: boolean) => (made: Made) => {
    const { samples } = made.tables;
    unheard(made);
    samples.logits = lists(samples, 'logits').map((row) => (twice ? soft(row) : soft(row).map(Math.log)));
    if (samples.temperature) numbers(samples, 'temperature').fill(1);
    samples.old_logp = lists(samples, 'logits').map((row, i) => Math.log(soft(row)[numbers(samples, 'action')[i]]));
    for (const name of ['legal', 'mask']) delete samples[name];
  };
  const found = await changed('healthy/stag-hunt-4', scored(true));
  expect(found.causes.map(({ id }) => id)).toContain('policy-head-flat');
  const sound = await changed('healthy/stag-hunt-4', scored(false));
  expect(sound.causes.map(({ id }) => id)).not.toContain('policy-head-flat');
});

it('a policy loss that does not reach the actor is told beside a bonus of undeclared weight, and a sound run with one is not accused', async () => {
  const undeclared = ({ manifest: { settings } }: Made) => {
    delete settings!.entropy_coefficient;
  };
  const found = await changed('policy-detached/policy-detached', undeclared);
  expect(first(found)).toEqual(['faulty', 'policy-detached']);
  expect(found.causes[0].transform?.id).toBe('entropy-alone');
  expect(first(await changed('healthy/stag-hunt-4', undeclared))).toEqual(['healthy', undefined]);
});
