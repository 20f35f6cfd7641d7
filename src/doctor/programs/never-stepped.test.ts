import { describe, expect, it } from 'vitest';
import { numbers, record, stored } from '../../../test/support/tables.ts';
import { diagnose } from '../diagnose.ts';

type Made = Awaited<ReturnType<typeof stored>>;

/** As the recorder leaves it where the value loop steps another optimiser: nothing is measured of the critic, and its tensors are marked. */
async function unstepped(change: (made: Made) => void = () => {}) {
  const made = await stored('healthy/stag-hunt-4');
  const ours = made.manifest.tensors!.map(({ role }) => role === 'critic');
  const kept = numbers(made.tables.tensors, 'tensor').map((tensor) => !ours[tensor]);
  for (const [name, column] of Object.entries(made.tables.tensors))
    made.tables.tensors[name] = (column as number[]).filter((_, row) => kept[row]);
  for (const [at, tensor] of made.manifest.tensors!.entries()) if (ours[at]) tensor.never_stepped = true;
  change(made);
  return diagnose(await record(made));
}

describe('a critic whose optimiser was watched and never stepped', () => {
  it('is told, where value losses were reported', async () => {
    const found = await unstepped();
    expect([found.verdict, found.causes[0]?.id]).toEqual(['faulty', 'optimizer-unbound']);
    expect(found.causes[0].summary).toContain('never stepped');
  });

  it.each([
    ['no value loss was reported', ({ tables }: Made) => void delete tables.steps.value_loss],
    [
      'the critic is frozen on purpose',
      (made: Made) => {
        for (const tensor of made.manifest.tensors!) if (tensor.role === 'critic') tensor.frozen = true;
      },
    ],
    [
      'steps of one iteration were recorded',
      ({ tables: { tensors } }: Made) => {
        const first = numbers(tensors, 'iteration').map((iteration, _, all) => iteration === all[0]);
        for (const [name, column] of Object.entries(tensors))
          tensors[name] = (column as number[]).filter((_, row) => first[row]);
      },
    ],
  ])('is left alone, where %s', async (_, change) => {
    const { causes } = await unstepped(change);
    expect(causes.map(({ id }) => id)).not.toContain('optimizer-unbound');
  });
});
