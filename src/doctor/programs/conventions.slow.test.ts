import { describe, expect, it } from 'vitest';
import { numbers, record, stored } from '../../../test/support/tables.ts';
import { advantages, flow } from '../../math/advantages.ts';
import { buildChains } from '../../math/chains.ts';
import { diagnose } from '../diagnose.ts';
import type { Diagnosis } from '../diagnosis.ts';
import { grainOf } from '../evidence/grain.ts';

type Made = Awaited<ReturnType<typeof stored>>;
const healthy = 'healthy/echo-2';
const told = ({ verdict, causes, remarks }: Diagnosis) => [
  verdict,
  causes.map(({ id }) => id),
  remarks.map(({ id }) => id),
];

async function changed(change: (made: Made) => void, name = healthy): Promise<Diagnosis> {
  const made = await stored(name);
  change(made);
  return diagnose(await record(made));
}

/** To the nearest number of half precision, 11 bits of fraction. */
function half(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(value))) - 10);
  return Math.round(value / unit) * unit;
}

/** Advantages of four steps in place of the recorded ones, and what the loss then got: the same, not normalised. */
function fourSteps(
  { tables, manifest }: Made,
  end: 'asRecorded' | 'truncationTerminates' | 'late' = 'asRecorded',
): void {
  const { samples, replays } = tables;
  const iteration = numbers(samples, 'iteration');
  const gamma = manifest.settings!.gamma as number;
  const out = new Array<number>(iteration.length);
  for (const number of new Set(iteration)) {
    const rows = iteration.flatMap((at, row) => (at === number ? [row] : []));
    const of = (name: string) => rows.map((row) => numbers(samples, name)[row]);
    const inputs = {
      chains: buildChains(of('episode'), of('t'), of('agent'), samples.env ? of('env') : null),
      reward: of('reward'),
      value: of('value'),
      terminated: of('terminated'),
      truncated: samples.truncated ? of('truncated') : null,
      nextValue: samples.next_value ? of('next_value') : null,
    };
    const found = advantages(inputs, flow(inputs, end), { gamma, lambda: 1, steps: 4 }, new Float64Array(rows.length));
    rows.forEach((row, i) => {
      out[row] = found[i];
    });
  }
  samples.advantage = out;
  delete samples.return;
  delete replays.advantage;
  delete replays.return;
  delete tables.steps.policy_loss;
  delete tables.steps.loss;
  const { lambda: _, ...settings } = manifest.settings!;
  manifest.settings = { ...settings, advantage_normalisation: 'none' };
}

describe('customs of a program', () => {
  it('returns of so many steps are found without being declared, and are a remark', async () => {
    const found = await changed(fourSteps);
    expect(found.checks.find(({ id }) => id === 'credit')!.measured).toMatchObject({ steps: 4, disagreeing: 0 });
    expect(told(found)).toEqual(['healthy', [], ['n-step-credit']]);
  });

  it('returns of so many steps with a misread end are still a fault', async () => {
    const found = await changed((made) => {
      fourSteps(made, 'late');
      made.manifest.settings = { ...made.manifest.settings, advantage_estimator: 'n-step', n_steps: 4 };
    });
    expect(told(found).slice(0, 2)).toEqual(['faulty', ['done-time-shifted']]);
  });

  it('a time limit that is declared to be an end is one, which is a remark', async () => {
    const declared = await changed((made) => {
      made.manifest.settings = { ...made.manifest.settings, truncation_bootstraps: false };
    }, 'truncation-treated-as-termination/truncation-as-termination');
    expect(told(declared).slice(0, 2)).toEqual(['healthy', []]);
    expect(declared.remarks.map(({ id }) => id)).toContain('time-limit-ends');
  });

  it('targets that are those of other rows are not the critic’s own', async () => {
    const found = await changed(({ tables: { replays } }) => {
      const iteration = numbers(replays, 'iteration');
      const target = numbers(replays, 'return');
      const rows = new Map<number, number[]>();
      iteration.forEach((at, row) => void rows.set(at, [...(rows.get(at) ?? []), row]));
      replays.return = target.map((_, row) => {
        const own = rows.get(iteration[row])!;
        return target[own[(own.indexOf(row) * 7 + 3) % own.length]];
      });
      delete replays.value;
    });
    expect(told(found)[1]).toEqual(['critic-context-misaligned']);
  });

  it('credit in half precision is compared as exactly as it was told, and a lag in it is still found', async () => {
    const narrow = ({ tables }: Made) => {
      for (const table of [tables.samples, tables.replays])
        for (const name of ['reward', 'value', 'next_value', 'advantage', 'return'])
          if (table[name]) table[name] = numbers(table, name).map(half);
    };
    expect(told(await changed(narrow))).toEqual(['healthy', [], ['narrow-columns']]);
    const late = await changed(narrow, 'advantage-time-shifted/advantage-late');
    expect(told(late)[1]).toEqual(['advantage-time-shifted']);
  });

  it('advantages that later passes compute anew are compared in the first pass alone, where that is declared', async () => {
    const anew = ({ tables: { replays } }: Made) => {
      const epoch = numbers(replays, 'epoch');
      replays.advantage = numbers(replays, 'advantage').map((value, i) =>
        epoch[i] === 0 ? value : value + 0.1 * Math.sin(i),
      );
    };
    expect((await changed(anew)).verdict).toBe('unexplained');
    const declared = await changed((made) => {
      anew(made);
      delete made.tables.steps.policy_loss;
      made.manifest.settings = { ...made.manifest.settings, advantages_recomputed: 'epoch' };
    });
    expect(declared.checks.find(({ id }) => id === 'pairing')!.status).toBe('pass');
    expect(told(declared)).toEqual(['healthy', [], ['advantages-recomputed']]);
  });

  it('a critic that is rescaled between updates and says the same was not overwritten', async () => {
    const rescaled = (affine: boolean) => (made: Made) => {
      const { tensors, replays, samples } = made.tables;
      const roles = made.manifest.tensors!.map(({ role }) => role);
      const [tensor, iteration] = [numbers(tensors, 'tensor'), numbers(tensors, 'iteration')];
      tensors.norm = numbers(tensors, 'norm').map((norm, i) =>
        roles[tensor[i]] === 'critic' ? norm + 3 * iteration[i] : norm,
      );
      // Half the critic's units, or none that any line gives.
      const value = numbers(samples, 'value');
      const at = numbers(replays, 'iteration');
      const starts = new Map<number, number>();
      numbers(samples, 'iteration').forEach((number, row) => {
        if (!starts.has(number)) starts.set(number, row);
      });
      const sample = numbers(replays, 'sample');
      replays.value = sample.map((row, i) => {
        const own = value[starts.get(at[i])! + row];
        return affine ? 0.5 * own - 1 : Math.sin(100 * own);
      });
      if (replays.return) replays.return = numbers(replays, 'return').map((target) => 0.5 * target - 1);
      delete made.tables.steps.value_loss;
      delete made.tables.steps.loss;
    };
    const popart = await changed(rescaled(true));
    expect(popart.causes.map(({ id }) => id)).not.toContain('parameters-overwritten');
    expect(popart.remarks.map(({ id }) => id)).toContain('critic-rescaled');
    const other = await changed(rescaled(false));
    expect(other.causes.map(({ id }) => id)).toContain('parameters-overwritten');
  });
});

/** Per row of `replays`: its log-ratio and the advantage in the loss, by step. */
function stepsOf({ tables: { replays, samples } }: Made): Map<string, { ratio: number; advantage: number }[]> {
  const first = new Map<number, number>();
  numbers(samples, 'iteration').forEach((number, row) => {
    if (!first.has(number)) first.set(number, row);
  });
  const [old, fresh, used] = [
    numbers(samples, 'old_logp'),
    numbers(replays, 'new_logp'),
    numbers(replays, 'advantage'),
  ];
  const at = ['iteration', 'epoch', 'minibatch', 'policy'].map((name) => numbers(replays, name));
  const sample = numbers(replays, 'sample');
  const steps = new Map<string, { ratio: number; advantage: number }[]>();
  fresh.forEach((logp, i) => {
    const key = at.map((column) => column[i]).join(' ');
    const list = steps.get(key) ?? [];
    steps.set(key, list);
    list.push({ ratio: Math.exp(logp - old[first.get(at[0][i])! + sample[i]]), advantage: used[i] });
  });
  return steps;
}

describe('units', () => {
  it('of a critic that normalises its returns are no fault where the returns were not recorded', async () => {
    const normal = (made: Made) => {
      const { replays, steps } = made.tables;
      replays.value = numbers(replays, 'value').map((value) => 0.2 * value - 3);
      delete replays.return;
      delete steps.value_loss;
      delete steps.loss;
    };
    expect(told(await changed(normal))).toEqual(['healthy', [], []]);
  });

  it('of the critic alone are a fault where the returns stand beside it in their own', async () => {
    const mixed = await changed(({ tables: { replays, steps } }) => {
      replays.value = numbers(replays, 'value').map((value) => 0.2 * value - 3);
      delete steps.value_loss;
      delete steps.loss;
    });
    expect(told(mixed)[1]).toEqual(['value-scale-mismatch']);
  });

  it('steps are not called too large where the ratio was off before the first of them', async () => {
    const off = await changed(({ tables: { replays, steps } }) => {
      replays.new_logp = numbers(replays, 'new_logp').map((logp, i) => logp - 3 - Math.sin(i));
      replays.again_logp = [...numbers(replays, 'new_logp')];
      for (const name of ['policy_loss', 'loss', 'approx_kl', 'clip_fraction']) delete steps[name];
    });
    expect(told(off)[1]).not.toContain('learning-rate-too-large');
  });
});

describe('readings of other customs', () => {
  it('a clip range that follows a schedule is read off the losses and clip fractions', async () => {
    const scheduled = (share: (iteration: number) => number) => (made: Made) => {
      const { steps } = made.tables;
      const rows = stepsOf(made);
      const keys = ['iteration', 'epoch', 'minibatch', 'policy'].map((name) => numbers(steps, name));
      const of = (i: number) => rows.get(keys.map((column) => column[i]).join(' '))!;
      const clip = (i: number) => share(keys[0][i]);
      const mean = (list: number[]) => list.reduce((sum, value) => sum + value, 0) / list.length;
      steps.policy_loss = keys[0].map((_, i) =>
        mean(
          of(i).map(
            ({ ratio, advantage: a }) => -Math.min(ratio * a, Math.min(Math.max(ratio, 1 - clip(i)), 1 + clip(i)) * a),
          ),
        ),
      );
      steps.clip_fraction = keys[0].map((_, i) =>
        mean(of(i).map(({ ratio }) => Number(Math.abs(ratio - 1) > clip(i)))),
      );
      delete steps.loss;
    };
    const found = await changed(scheduled((iteration) => 0.02 / (1 + iteration)));
    expect(told(found)).toEqual(['healthy', [], ['clip-scheduled']]);
    // A ratio without its exponential is off before the first step, where no clip tells.
    const formula = await changed((made) => {
      const rows = stepsOf(made);
      const { steps } = made.tables;
      const keys = ['iteration', 'epoch', 'minibatch', 'policy'].map((name) => numbers(steps, name));
      steps.policy_loss = keys[0].map((_, i) => {
        const own = rows.get(keys.map((column) => column[i]).join(' '))!;
        return own.reduce((sum, { ratio, advantage }) => sum - (Math.log(ratio) * advantage) / own.length, 0);
      });
      delete steps.clip_fraction;
      delete steps.loss;
    });
    expect(told(formula)[2]).not.toContain('clip-scheduled');
    // Another range in every step is no schedule.
    let step = 0;
    const wild = await changed(scheduled(() => 0.002 * (1 + (step++ % 7))));
    expect(told(wild)[2]).toContain('metric-misreported');
    expect(told(wild)[2]).not.toContain('clip-scheduled');
  });

  it('rewards that are clipped are a remark, and clipped rewards that came late a fault', async () => {
    const paid = ({ tables: { samples } }: Made) => {
      const greatest = Math.max(...numbers(samples, 'reward'));
      samples.env_reward = numbers(samples, 'reward').map((reward, i) =>
        reward === greatest ? reward * (1 + (i % 3)) : reward,
      );
    };
    expect(told(await changed(paid))).toEqual(['healthy', [], ['rewards-treated']]);
    const late = await changed((made) => {
      paid(made);
      const { samples } = made.tables;
      const [reward, t] = [numbers(samples, 'env_reward'), numbers(samples, 't')];
      samples.env_reward = reward.map((value, i) => (t[i] === 0 ? 0.25 + (i % 5) : -value));
    });
    expect(late.verdict).not.toBe('healthy');
  });
});

describe('the grain of a column', () => {
  const some = Float32Array.from({ length: 64 }, (_, i) => Math.sin(i + 1) * 3);

  it('is half a spacing of half precision where every number is of it, and 0 in single precision', () => {
    expect(grainOf(some.map(half))).toBe(2 ** -11);
    expect(grainOf(some)).toBe(0);
  });

  it('is 0 where few different numbers tell nothing', () => {
    expect(grainOf(Float32Array.from({ length: 64 }, (_, i) => i % 3))).toBe(0);
  });

  it('is never less than what rounding did', () => {
    const grain = grainOf(some.map(half));
    for (const value of some) expect(Math.abs(half(value) - value)).toBeLessThanOrEqual(grain * Math.abs(value));
  });
});
