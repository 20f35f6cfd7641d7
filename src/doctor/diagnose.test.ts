import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lists, numbers, openStored, record, stored } from '../../test/support/tables.ts';
import type { Manifest } from '../recording/manifest.ts';
import { checks } from './checks/index.ts';
import { diagnose } from './diagnose.ts';
import { type Diagnosis, leaving, type Outcome } from './diagnosis.ts';
import { Run } from './evidence/run.ts';
import { unexplained, verdictOf } from './verdict.ts';

const [healthy, late] = ['healthy/echo-2', 'advantage-time-shifted/advantage-late'];
const ids = (diagnosis: Diagnosis) => diagnosis.causes.map(({ id }) => id);
/** Columns without which a question that decides cannot be asked. This run moves so little that only its gradients show where it goes. */
const deciding = ['samples.reward', 'samples.value', 'samples.terminated', 'samples.advantage', 'tensors.grad_norm'];

type Made = Awaited<ReturnType<typeof stored>>;

async function afterSpoiling(name: string, spoil: (made: Made) => void, without: string[] = []): Promise<Diagnosis> {
  const made = await stored(name);
  spoil(made);
  return diagnose(await record(made, { without }));
}

describe('a verdict', () => {
  it('is never healthy over a check that warns, which has to say what it leaves open', () => {
    const told = { measured: {}, expected: {}, findings: [] };
    // @ts-expect-error: a warning without what it leaves open is no outcome.
    const silent: Outcome = { ...told, status: 'warn' };
    expect(silent.open).toBeUndefined();
    fc.assert(
      fc.property(fc.constantFrom(...checks), fc.integer({ min: 1, max: 9 }), (check, rows) => {
        const outcome: Outcome = { ...told, status: 'warn', open: leaving(rows, 100) };
        const report = { id: check.id, status: outcome.status, needs: [], measured: {}, expected: {} };
        const open = unexplained(new Run({ format: 'trueline/1' } as Manifest), [{ check, report, outcome }], [], []);
        expect(verdictOf(0, open, { rows: { replay: 99, credit: 99, gradient: 99 }, gaps: [] })).toBe('unexplained');
      }),
    );
  });

  it('is healthy only where replay, credit and gradient were looked at, and says on how many rows', async () => {
    const { verdict, coverage } = await diagnose(await openStored(healthy));
    expect(verdict).toBe('healthy');
    expect(coverage.gaps).toEqual([]);
    expect(Math.min(...Object.values(coverage.rows))).toBeGreaterThanOrEqual(32);
  });

  it.each([
    ['replays', /whether the update replays what was sampled: needs replays.new_logp/],
    ['reward', /advantages are what rewards, values and ends give: needs samples.reward/],
  ])('is not enough evidence without %s, and says what is not known', async (what, sentence) => {
    const diagnosis = await afterSpoiling(healthy, ({ tables }) => {
      if (what === 'reward') delete tables.samples.reward;
      else tables.replays = {};
    });
    expect(diagnosis.verdict).toBe('not-enough-evidence');
    expect(diagnosis.coverage.gaps.join()).toMatch(sentence);
  });

  it('is not enough evidence where the recorder stopped, or where the updates of an agent were not recorded', async () => {
    const stopped = await afterSpoiling(healthy, ({ manifest }) => {
      manifest.recorder = { stopped: { iteration: 2, reason: 'disk full' } };
    });
    expect([stopped.verdict, stopped.coverage.gaps]).toEqual([
      'not-enough-evidence',
      ['the recorder stopped in iteration 2 (disk full)'],
    ]);
    const half = await afterSpoiling(healthy, ({ tables }) => {
      const kept = numbers(tables.replays, 'policy').map((policy) => policy === 0);
      for (const name of Object.keys(tables.replays))
        tables.replays[name] = (tables.replays[name] as number[]).filter((_, row) => kept[row]);
    });
    expect(half.verdict).toBe('not-enough-evidence');
    expect(half.coverage.gaps.join()).toMatch(/the updates of .* were not recorded/);
  });

  it('is unexplained where rows disagree and nothing known accounts for them', async () => {
    const replayed = await afterSpoiling(healthy, ({ tables }) => {
      const fresh = numbers(tables.replays, 'new_logp');
      for (let i = 0; i < fresh.length; i++) fresh[i] -= 0.3 + 0.1 * Math.sin(i);
      tables.replays.again_logp = [...fresh];
    });
    expect([replayed.verdict, ids(replayed)]).toEqual(['unexplained', []]);
    const open = replayed.unexplained.find(({ check }) => check === 'replay')!;
    expect(open.onset).toBe(0);
    expect(open.share).toBeGreaterThan(0.5);
    expect(open.rows).toBeGreaterThan(32);
    expect(open.candidates).toContain('subset-not-replayed');
    const credited = await afterSpoiling(healthy, ({ tables }) => {
      tables.samples.advantage = numbers(tables.samples, 'advantage').map((value, i) => value + Math.sin(7 * i));
      delete tables.replays.advantage;
      delete tables.samples.return;
    });
    expect(credited.verdict).toBe('unexplained');
    expect(credited.unexplained.map(({ check }) => check)).toContain('credit');
  });

  it.each([
    ['shifted by one', (row: number, rows: number) => (row + 1) % rows, /all belong to the row 1 before it/],
    ['reversed', (row: number, rows: number) => rows - 1 - row, /by one permutation for all columns/],
  ])(
    'blames the recording call where every column of the update follows other rows together: %s',
    async (_, move, text) => {
      const diagnosis = await afterSpoiling('healthy/echo-1', ({ tables }) => {
        const [iteration, sample] = [numbers(tables.samples, 'iteration'), numbers(tables.replays, 'sample')];
        const at = numbers(tables.replays, 'iteration');
        tables.replays.sample = sample.map((row, i) => move(row, iteration.filter((one) => one === at[i]).length));
        delete tables.replays.source_iteration;
      });
      expect([diagnosis.verdict, ids(diagnosis), diagnosis.unexplained]).toEqual(['not-enough-evidence', [], []]);
      expect(diagnosis.coverage.gaps[0]).toMatch(text);
      expect(diagnosis.coverage.gaps[0]).toMatch(/The recording call is the likely mistake, not the program/);
    },
  );

  it('takes noise for the cause only where a second pass differs too', async () => {
    const name = 'stochastic-forward/noise-in-update';
    expect(ids(await diagnose(await openStored(name)))[0]).toBe('stochastic-forward');
    const unseen = await afterSpoiling(name, () => {}, ['replays.again_logp']);
    expect([unseen.verdict, ids(unseen)]).toEqual(['unexplained', []]);
    expect(unseen.unexplained[0].candidates).toContain('stochastic-forward');
    expect(unseen.unexplained[0].to_decide).toContain('replays.again_logp');
  });

  it('makes a reading that lies a remark, and a cause where it drives the training', async () => {
    const name = 'kl-estimator-cancels/kl-signed-mean';
    const printed = await afterSpoiling(name, ({ manifest }) => {
      manifest.settings = { ...manifest.settings, target_kl: null };
    });
    expect([printed.verdict, ids(printed), printed.remarks.map(({ id }) => id)]).toEqual([
      'healthy',
      [],
      ['kl-estimator-cancels'],
    ]);
    const driving = await afterSpoiling(name, ({ manifest }) => {
      manifest.settings = { ...manifest.settings, target_kl: 0.02 };
    });
    expect([driving.verdict, ids(driving)]).toEqual(['faulty', ['kl-estimator-cancels']]);
  });

  it('clears what people worry about where there is one step per batch', async () => {
    const { cleared } = await afterSpoiling(healthy, ({ tables }) => {
      for (const table of [tables.replays, tables.steps, tables.tensors]) {
        const [epoch, minibatch] = [numbers(table, 'epoch'), numbers(table, 'minibatch')];
        const kept = epoch.map((value, row) => value === 0 && minibatch[row] === 0);
        for (const name of Object.keys(table)) table[name] = (table[name] as number[]).filter((_, row) => kept[row]);
      }
    });
    expect(cleared.map(({ symptom }) => symptom)[0]).toMatch(/the ratio is 1, and KL and clip fraction are 0/);
  });
});

describe('a diagnosis', () => {
  it('tells symptoms that were measured in this run', async () => {
    const { causes } = await diagnose(await openStored('old-logp-wrong/old-logp-zero'));
    expect(causes[0].symptoms.join()).toMatch(/before the first step k2 was already [\d.]+ \(median of/);
  });

  it('proves a lag by the transform that undoes it, with the residual before and after', async () => {
    const [first] = (await diagnose(await openStored(late))).causes;
    expect(first.transform).toMatchObject({ id: 'lag' });
    expect(first.residual_before).toBeGreaterThan(0.3);
    expect(first.residual_after).toBeLessThan(0.05);
  });

  it('takes an old_logp that is not known in some rows for unknown, not for equal', async () => {
    const made = await stored(healthy);
    const epoch = numbers(made.tables.replays, 'epoch');
    made.tables.replays.old_logp = numbers(made.tables.replays, 'old_logp').map((value, i) =>
      epoch[i] > 0 ? Number.NaN : value,
    );
    const { causes } = await diagnose(await record(made), { only: ['old-logp-kept'] });
    expect(causes).toEqual([]);
  });

  it('names no cause when a column that decides is missing, and says that a question cannot be asked; the others are left out in causes/left-out.slow.test.ts', async () => {
    const made = await stored('healthy/echo-1');
    for (const without of deciding) {
      const { verdict, causes } = await diagnose(await record(made, { without: [without] }));
      expect({ without, verdict, causes }).toEqual({ without, verdict: 'not-enough-evidence', causes: [] });
    }
  });

  it('calls a recording full of NaN not finite, and nothing else', async () => {
    const diagnosis = await afterSpoiling(healthy, ({ tables }) => {
      for (const table of [tables.samples, tables.replays])
        for (const name of ['old_logp', 'new_logp', 'reward', 'value', 'advantage', 'return'])
          if (table[name]) table[name] = numbers(table, name).map(() => Number.NaN);
      tables.steps = {};
      tables.tensors = {};
    });
    expect(ids(diagnosis)).toEqual(['non-finite']);
  });

  it('calls log-probabilities of 1e20 not finite, whatever follows from them', async () => {
    const diagnosis = await afterSpoiling(healthy, ({ tables }) => {
      for (const table of [tables.samples, tables.replays])
        table.old_logp = numbers(table, 'old_logp').map((value) => value * 1e20);
    });
    expect(ids(diagnosis)[0]).toBe('non-finite');
  });

  it('keeps what the caller accepted visible, and out of the verdict', async () => {
    const diagnosis = await diagnose(await openStored(late), { ignore: ['advantage-time-shifted'] });
    expect(diagnosis.ignored?.map(({ id }) => id)).toEqual(['advantage-time-shifted']);
    expect(ids(diagnosis)).not.toContain('advantage-time-shifted');
    expect(diagnosis.verdict).not.toBe('unexplained');
  });

  it('refuses a check, an agent or a cause that does not exist, and lists what does', async () => {
    const recording = await openStored(healthy);
    await expect(diagnose(recording, { only: ['nothing'] })).rejects.toThrow(/the checks are finite, replay/);
    await expect(diagnose(recording, { agent: 'nobody' })).rejects.toThrow(/it has \w+/);
    await expect(diagnose(recording, { ignore: ['nothing'] })).rejects.toThrow(/no cause "nothing"/);
  });

  it('does not depend on where chunks end', async () => {
    const made = await stored(late);
    const whole = await diagnose(await record(made));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 7, max: 500 }), async (chunkRows) => {
        expect(await diagnose(await record(made, { chunkRows }))).toEqual(whole);
      }),
      { numRuns: 4, seed: 1 },
    );
  });

  it("does not take a row's few candidates for the head's outputs where their ids are not recorded", async () => {
    const made = await stored(healthy);
    expect(lists(made.tables.replays, 'logits').length).toBeGreaterThan(0);
    const diagnosis = await diagnose(await record(made, { without: ['replays.subset'] }));
    expect(diagnosis.verdict).toBe('healthy');
    expect(diagnosis.checks.find(({ id }) => id === 'head-gradient')?.status).toBe('not-checked');
  });
});
