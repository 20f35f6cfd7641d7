import { expect, it } from 'vitest';
import { changed, first, type Made, status, unheard } from '../../../test/support/programs.ts';
import { numbers } from '../../../test/support/tables.ts';

const parts = 4;
const places = ['iteration', 'epoch', 'minibatch', 'policy'];

/** By step, its rows in their order. */
function rowsOf({ tables: { replays } }: Made): Map<string, number[]> {
  const steps = new Map<string, number[]>();
  numbers(replays, 'sample').forEach((_, row) => {
    const key = places.map((name) => numbers(replays, name)[row]).join(' ');
    steps.set(key, [...(steps.get(key) ?? []), row]);
  });
  return steps;
}

const cut = (rows: number[], size: number) =>
  Array.from({ length: Math.ceil(rows.length / size) }, (_, k) => rows.slice(k * size, (k + 1) * size));
const mean = (rows: number[], of: (row: number) => number) => rows.reduce((sum, row) => sum + of(row), 0) / rows.length;

/** Gradients of the critic's bias as they come out where the parts of a step are brought together in some way. */
function gathered(together: (rows: number[], of: (row: number) => number) => number) {
  return (made: Made) => {
    const { replays, tensors } = made.tables;
    Object.assign(made.manifest.settings!, { gradient_accumulation: parts, value_coefficient: 0.5 });
    delete (made.manifest.settings as Record<string, unknown>).max_grad_norm;
    unheard(made, 'grad_norm');
    delete made.tables.steps.grad_norm;
    const about = made.manifest.tensors!;
    const [value, target] = ['value', 'return'].map((name) => numbers(replays, name));
    const steps = rowsOf(made);
    numbers(tensors, 'tensor').forEach((tensor, i) => {
      const { role, size, name, policy } = about[tensor];
      const key = [...places.slice(0, 3).map((place) => numbers(tensors, place)[i]), policy].join(' ');
      const rows = steps.get(key);
      if (role === 'critic' && size === 1 && /bias/.test(name) && rows)
        numbers(tensors, 'grad_norm')[i] = Math.abs(together(rows, (row) => value[row] - target[row]));
    });
  };
}

const evenly = (rows: number[]) => cut(rows, Math.ceil(rows.length / parts));
const added = (cuts: number[][], of: (row: number) => number) => cuts.reduce((sum, part) => sum + mean(part, of), 0);
const ragged = (rows: number[]) => cut(rows, Math.floor((rows.length - 2) / (parts - 1)));

it.each([
  ['mean over all rows', mean],
  [
    'mean of the means of parts of one size',
    (rows: number[], of: (row: number) => number) => added(evenly(rows), of) / parts,
  ],
] as const)('the %s is right', async (_, together) => {
  const found = await changed('healthy/echo-2', gathered(together));
  expect(status(found, 'critic-gradient')).toBe('pass');
});

it.each([
  [
    'added up undivided',
    'loss-normaliser-wrong',
    (rows: number[], of: (row: number) => number) => added(evenly(rows), of),
  ],
  [
    'weighed alike with a small last one',
    'loss-normaliser-wrong',
    (rows: number[], of: (row: number) => number) => added(ragged(rows), of) / parts,
  ],
  [
    'cleared before the last one',
    'loss-formula-differs',
    (rows: number[], of: (row: number) => number) => mean(evenly(rows)[parts - 1], of) / parts,
  ],
] as const)('micro-batches that are %s are named', async (_, cause, together) => {
  const found = await changed('healthy/echo-2', gathered(together));
  expect(first(found)).toEqual(['faulty', cause]);
});

it.each([
  [1, ['healthy', undefined]],
  [parts, ['faulty', 'loss-normaliser-wrong']],
])(
  'gradients of the head that are %i times those of the mean are told where the critic is not known',
  async (times, expected) => {
    const found = await changed('healthy/echo-2', (made) => {
      const { replays, steps, tensors } = made.tables;
      Object.assign(made.manifest.settings!, { gradient_accumulation: parts });
      const limit = Number(made.manifest.settings!.max_grad_norm);
      const placeOf = (table: typeof steps, row: number, policy: number) =>
        [...places.slice(0, 3).map((name) => numbers(table, name)[row]), policy].join(' ');
      const lengths = numbers(steps, 'grad_norm');
      const before = new Map(
        lengths.map((length, row) => [placeOf(steps, row, numbers(steps, 'policy')[row]), length]),
      );
      const shortened = (length: number) => Math.min(1, limit / length);
      tensors.grad_norm = numbers(tensors, 'grad_norm').map((norm, row) => {
        const length = before.get(
          placeOf(tensors, row, made.manifest.tensors![numbers(tensors, 'tensor')[row]].policy!),
        )!;
        return ((norm * times) / shortened(length)) * shortened(times * length);
      });
      steps.grad_norm = lengths.map((length) => times * length);
      delete replays.value;
    });
    expect(first(found)).toEqual(expected);
  },
);

/** The policy loss of all pairs within each of the parts, and within the rows themselves. */
it.each([
  ['pairs of a micro-batch', true],
  ['rows', false],
])('losses of the %s are told apart', async (_, paired) => {
  const found = await changed('healthy/echo-2', (made) => {
    const { replays, steps } = made.tables;
    Object.assign(made.manifest.settings!, { gradient_accumulation: parts });
    const [fresh, old, used] = ['new_logp', 'old_logp', 'advantage'].map((name) => numbers(replays, name));
    const all = rowsOf(made);
    const clip = Number(made.manifest.settings!.clip);
    const loss = (ratio: number, a: number) => -Math.min(ratio * a, Math.min(1 + clip, Math.max(1 - clip, ratio)) * a);
    unheard(made, 'policy_loss');
    steps.policy_loss = numbers(steps, 'epoch').map((_, step) => {
      const rows = all.get(places.map((name) => numbers(steps, name)[step]).join(' '))!;
      const within = (part: number[]) =>
        mean(part, (row) => {
          const ratio = Math.exp(fresh[row] - old[row]);
          return paired ? mean(part, (other) => loss(ratio, used[other])) : loss(ratio, used[row]);
        });
      return evenly(rows).reduce((sum, part) => sum + (within(part) * part.length) / rows.length, 0);
    });
  });
  expect(paired ? first(found) : status(found, 'loss')).toEqual(paired ? ['faulty', 'broadcast-mismatch'] : 'pass');
});

it.each([
  ['twice', 'not-checked'],
  ['once', 'pass'],
])('rows of a place where the actor was moved %s', async (often, expected) => {
  const found = await changed('healthy/echo-2', (made) => {
    const { tensors } = made.tables;
    const rows = numbers(tensors, 'tensor').flatMap((_, i) =>
      often === 'once' || numbers(tensors, 'epoch')[i] + numbers(tensors, 'minibatch')[i] > 0 ? [i] : [i, i],
    );
    for (const name of Object.keys(tensors))
      (tensors as Record<string, unknown>)[name] = rows.map((i) => (tensors[name] as number[])[i]);
  });
  expect(status(found, 'replay')).toBe(expected);
});
