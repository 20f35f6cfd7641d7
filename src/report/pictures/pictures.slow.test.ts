import { describe, expect, it } from 'vitest';
import { examine, provesWhatItSays, shownAlike } from '../../../test/support/proves.ts';
import { numbers, openStored, stored, storedNames, type TestTables } from '../../../test/support/tables.ts';
import { causeById } from '../../doctor/causes.ts';
import type { Lines, Pictures, Scatter } from './picture.ts';

async function look(name = 'healthy/echo-2') {
  return { ...(await stored(name)), ...(await examine(await openStored(name))) };
}

const lines = (pictures: Pictures, id: string) => pictures.run.find((picture) => picture.id === id) as Lines;
const series = (picture: Lines, name: string) => picture.lines.find((line) => line.name === name)!;

/** Means of a figure over the rows of each iteration. */
function meanByIteration(table: TestTables['replays'], value: (row: number) => number): number[] {
  const sums: number[] = [];
  const counts: number[] = [];
  numbers(table, 'iteration').forEach((iteration, row) => {
    sums[iteration] = (sums[iteration] ?? 0) + value(row);
    counts[iteration] = (counts[iteration] ?? 0) + 1;
  });
  return sums.map((sum, i) => sum / counts[i]);
}

const agree = (a: readonly number[], b: readonly number[]) => {
  expect(a.length).toBe(b.length);
  for (let i = 0; i < a.length; i++) expect(a[i]).toBeCloseTo(b[i], 5);
};

describe('the pictures of a run hold', () => {
  it('k1, k2 and k3 as plain means over the rows give them', async () => {
    const { tables, pictures } = await look();
    const { replays } = tables;
    const log = (row: number) => numbers(replays, 'new_logp')[row] - numbers(replays, 'old_logp')[row];
    const kl = lines(pictures, 'kl');
    agree(
      series(kl, 'k1').y,
      meanByIteration(replays, (row) => -log(row)),
    );
    agree(
      series(kl, 'k2').y,
      meanByIteration(replays, (row) => 0.5 * log(row) ** 2),
    );
    agree(
      series(kl, 'k3').y,
      meanByIteration(replays, (row) => Math.exp(log(row)) - 1 - log(row)),
    );
  });

  it('entropy by policy, and the mean of log K over the rows', async () => {
    const { tables, pictures, manifest } = await look();
    const { replays, samples } = tables;
    const picture = lines(pictures, 'entropy');
    const policy = 1;
    const own = numbers(replays, 'policy').flatMap((item, row) => (item === policy ? [row] : []));
    const part = Object.fromEntries(
      ['iteration', 'entropy'].map((name) => [name, own.map((row) => numbers(replays, name)[row])]),
    );
    agree(
      series(picture, manifest.policies![policy].name).y,
      meanByIteration(part, (row) => part.entropy[row]),
    );
    const first = new Map<number, number>();
    numbers(samples, 'iteration').forEach((iteration, row) => {
      if (!first.has(iteration)) first.set(iteration, row);
    });
    const legal = samples.legal as number[][];
    agree(
      series(picture, 'log K').y,
      meanByIteration(replays, (row) => {
        const sample = first.get(numbers(replays, 'iteration')[row])! + numbers(replays, 'sample')[row];
        return Math.log(legal[sample].filter((item) => item === 1).length);
      }),
    );
  });

  it('the length of gradients and changes by role', async () => {
    const { tables, pictures, manifest } = await look();
    const { tensors } = tables;
    for (const [id, column] of [
      ['gradients', 'grad_norm'],
      ['changes', 'delta_norm'],
    ]) {
      const picture = lines(pictures, id);
      const roles = [...new Set(manifest.tensors!.map(({ role }) => role!))];
      expect(picture.lines.map(({ name }) => name).sort()).toEqual([...roles].sort());
      for (const role of roles) {
        const squares = new Map<string, number>();
        numbers(tensors, 'tensor').forEach((tensor, row) => {
          const info = manifest.tensors![tensor];
          if (info.role !== role) return;
          const at = ['iteration', 'epoch', 'minibatch'].map((name) => numbers(tensors, name)[row]);
          const key = [...at, info.policy].join(' ');
          squares.set(key, (squares.get(key) ?? 0) + numbers(tensors, column)[row] ** 2);
        });
        const sums: number[] = [];
        const counts: number[] = [];
        for (const [key, sum] of squares) {
          const iteration = Number(key.split(' ')[0]);
          sums[iteration] = (sums[iteration] ?? 0) + Math.sqrt(sum);
          counts[iteration] = (counts[iteration] ?? 0) + 1;
        }
        agree(
          series(picture, role).y,
          sums.map((sum, i) => sum / counts[i]),
        );
      }
    }
  });

  it('reported metrics on the diagonal of recomputed ones where a trainer is honest', async () => {
    const { pictures } = await look();
    const picture = pictures.run.find(({ id }) => id === 'reported-policy_loss') as Scatter;
    const [{ x, y }] = picture.panels;
    expect(x.length).toBeGreaterThan(8);
    for (let i = 0; i < x.length; i++) expect(y[i]).toBeCloseTo(x[i], 4);
  });

  it('readings with the same names and bands as the table of readings', async () => {
    const { pictures } = await look();
    const k3 = pictures.readings.find(({ name }) => name === 'k3')!;
    expect(k3.band).toEqual([0.01, 0.03]);
    expect(k3.lines.length).toBe(2);
    const inside = (value: number) => (value < 0.01 ? 'below' : value > 0.03 ? 'above' : 'inside');
    for (const line of k3.lines) expect(line.place).toBe(inside(line.latest));
  });
});

describe('a stored run with a fault', () => {
  const faulty = storedNames.filter((name) => !name.startsWith('healthy/'));

  it.each(faulty)('is shown by the one picture of its cause: %s', async (name) => {
    const [id] = name.split('/');
    const examined = await examine(await openStored(name));
    const [lead] = examined.diagnosis.causes;
    // A reading that misleads is a remark, and shows among the run's pictures.
    if (causeById(id)?.group === 'E' && lead === undefined) return;
    expect(lead.id).toBe(id);
    if (provesWhatItSays(lead, examined)) await shownAlike(lead, examined);
    const drawn = examined.pictures.proofs.filter(({ cause }) => cause === id).flatMap(({ pictures }) => pictures);
    expect(drawn.length).toBe(1);
    const wanted: readonly string[] = causeById(id)!.pictures ?? [];
    expect([`proof-${id}`, ...wanted]).toContain(drawn[0].id);
  });
});
