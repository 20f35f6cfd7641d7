/** Ways to spoil what steps, tensors and reports of an honest simulation say, each with the cause that a diagnosis must name first. */
import type { SimulationOptions } from './testing.ts';
import type { Spoil } from './testing-faults.ts';
import { numbers, type TestTables } from './testing-tables.ts';

export const gradientFaults: [string, string, Spoil, SimulationOptions?][] = [
  [
    'optimizer-unbound',
    'nothing moves',
    (tables) => {
      const tensor = numbers(tables.tensors, 'tensor');
      for (const name of ['delta', 'delta_norm', 'bound'])
        tables.tensors[name] = numbers(tables.tensors, name).map((value, row) => (tensor[row] % 2 === 0 ? 0 : value));
    },
  ],
  [
    'policy-detached',
    'no gradient',
    (tables) => {
      const tensor = numbers(tables.tensors, 'tensor');
      tables.tensors.grad_norm = numbers(tables.tensors, 'grad_norm').map((value, row) =>
        tensor[row] % 2 === 0 ? 0 : value,
      );
    },
  ],
  ['learning-rate-too-small', 'a rate of 1e-9', () => {}, { learningRate: 1e-9 }],
  ['learning-rate-too-large', 'a rate of 1', () => {}, { learningRate: 1, epochs: 6, iterations: 2 }],
  [
    'loss-summed',
    'a sum reported',
    (tables) => {
      const rows = new Map<string, number>();
      const key = (table: TestTables['steps'], row: number) =>
        ['iteration', 'epoch', 'minibatch', 'policy'].map((name) => numbers(table, name)[row]).join(' ');
      numbers(tables.replays, 'sample').forEach((_, row) => {
        rows.set(key(tables.replays, row), (rows.get(key(tables.replays, row)) ?? 0) + 1);
      });
      tables.steps.policy_loss = numbers(tables.steps, 'policy_loss').map(
        (value, row) => value * rows.get(key(tables.steps, row))!,
      );
      delete tables.steps.loss;
    },
  ],
  [
    'parameters-overwritten',
    'a jump between steps',
    (tables) => {
      tables.tensors.norm = numbers(tables.tensors, 'norm').map((value, row) => (row % 7 === 0 ? value + 3 : value));
    },
  ],
  [
    'entropy-sign-flipped',
    'plus entropy',
    (tables) => {
      tables.steps.loss = numbers(tables.steps, 'loss').map(
        (value, row) => value + 0.02 * numbers(tables.steps, 'entropy')[row],
      );
    },
  ],
  ['entropy-bonus-dominates', 'a coefficient of 5', () => {}, { entropyCoefficient: 5 }],
  [
    'kl-guard-too-tight',
    'one step per update',
    (tables) => {
      tables.tensors = {};
      for (const table of [tables.steps, tables.replays]) {
        const keep = numbers(table, 'epoch').map((epoch, row) => epoch === 0 && numbers(table, 'minibatch')[row] === 0);
        for (const name of Object.keys(table)) table[name] = (table[name] as number[]).filter((_, row) => keep[row]);
      }
      tables.steps.stopped = numbers(tables.steps, 'stopped').map(() => 1);
    },
  ],
  [
    'non-finite',
    'NaN in the loss',
    (tables) => {
      numbers(tables.steps, 'loss')[3] = Number.NaN;
      numbers(tables.steps, 'policy_loss')[3] = Number.NaN;
    },
  ],
  [
    'metric-misreported',
    'entropy in bits',
    (tables) => {
      tables.steps.entropy = numbers(tables.steps, 'entropy').map((value) => value / Math.LN2);
      delete tables.steps.loss;
    },
  ],
  [
    'kl-estimator-cancels',
    'the mean of old - new',
    (tables) => {
      const sums = new Map<string, number[]>();
      const key = (table: TestTables['steps'], row: number) =>
        ['iteration', 'epoch', 'minibatch', 'policy'].map((name) => numbers(table, name)[row]).join(' ');
      numbers(tables.replays, 'new_logp').forEach((fresh, row) => {
        const own = sums.get(key(tables.replays, row)) ?? [];
        sums.set(key(tables.replays, row), own);
        own.push(numbers(tables.replays, 'old_logp')[row] - fresh);
      });
      tables.steps.approx_kl = numbers(tables.steps, 'approx_kl').map((_, row) => {
        const own = sums.get(key(tables.steps, row))!;
        return own.reduce((sum, value) => sum + value, 0) / own.length;
      });
    },
    { learningRate: 0.005 },
  ],
];
