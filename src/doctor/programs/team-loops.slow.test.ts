import { describe, expect, it } from 'vitest';
import {
  changed as changedFrom,
  credited,
  first,
  type Made,
  placesOf,
  unheard,
} from '../../../test/support/programs.ts';
import { lists, numbers } from '../../../test/support/tables.ts';
import { spread } from '../../math/statistics.ts';

interface Settings {
  gamma: number;
  lambda: number;
  value_coefficient: number;
}

const changed = (change: (made: Made) => void, name = 'healthy/stag-hunt-4') => changedFrom(name, change);
const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);

/** Changes the rows of the tensors of a role. */
function tensorsOf({ tables: { tensors }, manifest }: Made, role: string, change: (row: number) => void): void {
  numbers(tensors, 'tensor').forEach((tensor, row) => {
    if (manifest.tensors![tensor].role === role) change(row);
  });
}

function still({ tensors }: Made['tables'], row: number): void {
  for (const name of ['delta', 'delta_norm']) if (tensors[name]) numbers(tensors, name)[row] = 0;
  numbers(tensors, 'norm')[row] = 1;
}

describe('a team of agents', () => {
  it('may leave rows out of its loss and give them no credit', async () => {
    const found = await changed((made) => {
      const { samples, replays } = made.tables;
      const left = numbers(samples, 't').map((t) => t === 1);
      for (const [row, out] of left.entries())
        if (out) {
          numbers(samples, 'advantage')[row] = 0;
          numbers(samples, 'return')[row] = numbers(samples, 'value')[row];
        }
      replays.weight = placesOf(made.tables).map((row) => (left[row] ? 0 : 1));
      unheard(made);
    });
    expect(found.causes).toEqual([]);
    expect(found.unexplained).toEqual([]);
  });

  it.each([['with what was paid'], ['without']])(
    'may add what follows a time limit to the reward, %s',
    async (paid) => {
      const found = await changed((made) => {
        const { samples } = made.tables;
        const { gamma } = made.manifest.settings as unknown as Settings;
        const next = numbers(samples, 'next_value');
        const truncated = numbers(samples, 'truncated');
        samples.reward = numbers(samples, 'reward').map((r, row) => r + (truncated[row] === 1 ? gamma * next[row] : 0));
        if (paid === 'without') delete samples.env_reward;
      });
      expect(found.causes).toEqual([]);
      expect(found.unexplained).toEqual([]);
      expect(ids(found.remarks)).toContain('bootstrap-in-reward');
    },
  );

  it('and may not where no time limit is', async () => {
    const found = await changed((made) => {
      const { samples } = made.tables;
      const { gamma } = made.manifest.settings as unknown as Settings;
      const [next, t, truncated] = ['next_value', 't', 'truncated'].map((name) => numbers(samples, name));
      samples.reward = numbers(samples, 'reward').map((reward, row) =>
        t[row] === 2 && truncated[row] !== 1 ? reward + gamma * next[row] : reward,
      );
      credited(made);
    });
    expect(first(found)).toEqual(['faulty', 'credit-formula-differs']);
    expect(found.causes[0].summary).toContain('twice');
  });

  it('whose rewards have a factor of their own for one agent is told so', async () => {
    const found = await changed((made) => {
      const { samples } = made.tables;
      const agent = numbers(samples, 'agent');
      samples.reward = numbers(samples, 'reward').map((reward, row) => reward * (agent[row] === 0 ? 0.1 : 1));
      credited(made);
    }, 'healthy/echo-2');
    expect(first(found)).toEqual(['faulty', 'reward-bookkeeping']);
    expect(found.causes[0].summary).toContain('factor');
  });

  it('has a critic that no optimiser holds told, and hidden layers or a critic that no gradient reaches', async () => {
    const unheld = await changed((made) =>
      tensorsOf(made, 'critic', (row) => {
        still(made.tables, row);
        numbers(made.tables.tensors, 'bound')[row] = 0;
      }),
    );
    expect(first(unheld)).toEqual(['faulty', 'optimizer-unbound']);
    const cut = (role: string) => (made: Made) =>
      tensorsOf(made, role, (row) => {
        still(made.tables, row);
        numbers(made.tables.tensors, 'grad_norm')[row] = 0;
      });
    expect(first(await changed(cut('trunk')))).toEqual(['faulty', 'policy-detached']);
    const dull = await changed(cut('critic'));
    expect(dull.verdict).toBe('unexplained');
    expect(dull.unexplained[0].summary).toContain('critic');
    const frozen = await changed((made) => {
      cut('critic')(made);
      for (const tensor of made.manifest.tensors!) if (tensor.role === 'critic') tensor.frozen = true;
    });
    expect(frozen.verdict).toBe('healthy');
  });

  it.each([
    ['variance', (mean: number, std: number) => (value: number) => (value - mean) / (std * std)],
    ['deviation', (mean: number, std: number) => (value: number) => value - mean / std],
  ])('that normalises by a slip is told by what: %s', async (word, form) => {
    const found = await changed((made) => {
      const { samples, replays } = made.tables;
      const places = placesOf(made.tables);
      const own = (row: number) => 20 * numbers(samples, 'advantage')[row] + 1;
      samples.advantage = numbers(samples, 'advantage').map((_, row) => own(row));
      for (const name of ['reward', 'value', 'next_value', 'return']) delete samples[name];
      const cells = new Map<string, number[]>();
      const keys = ['iteration', 'epoch', 'minibatch', 'policy'].map((name) => numbers(replays, name));
      places.forEach((_, i) => {
        const key = keys.map((column) => column[i]).join(' ');
        cells.set(key, [...(cells.get(key) ?? []), i]);
      });
      for (const rows of cells.values()) {
        const values = rows.map((i) => numbers(samples, 'advantage')[places[i]]);
        const { mean, std } = spread(values);
        rows.forEach((i, k) => {
          numbers(replays, 'advantage')[i] = form(mean, std)(values[k]);
        });
      }
      unheard(made);
    });
    expect(ids(found.causes)).toContain('advantage-not-normalised');
    expect(found.causes.find(({ id }) => id === 'advantage-not-normalised')!.summary).toContain(word);
  });

  it('whose policy loss counts rows that have no weight is told so, and one whose value loss does is not', async () => {
    const weigh = (loss: string) => (made: Made) => {
      made.tables.replays.weight = placesOf(made.tables).map((row) => (row % 3 === 0 ? 0 : 1));
      unheard(made, loss);
    };
    expect(first(await changed(weigh('policy_loss')))).toEqual(['faulty', 'padding-trained']);
    expect((await changed(weigh('value_loss'))).causes).toEqual([]);
  });

  it('that subtracts its value loss is told so', async () => {
    const found = await changed(({ tables: { steps, tensors }, manifest }) => {
      const { value_coefficient: weight } = manifest.settings as unknown as Settings;
      const value = numbers(steps, 'value_loss');
      steps.loss = numbers(steps, 'loss').map((loss, i) => loss - 2 * weight * value[i]);
      delete tensors.grad_norm;
    });
    expect(first(found)).toEqual(['faulty', 'loss-formula-differs']);
    expect(found.causes[0].transform).toMatchObject({ id: 'loss-is', form: 'negated', of: 'value' });
  });

  it('whose updates end after one step for no KL is told so where it declares a guard', async () => {
    const once = (target: number | null) => (made: Made) => {
      for (const table of ['replays', 'steps', 'tensors'] as const) {
        const content = made.tables[table];
        const [epoch, minibatch] = [numbers(content, 'epoch'), numbers(content, 'minibatch')];
        for (const [name, column] of Object.entries(content))
          content[name] = (column as number[]).filter((_, i) => epoch[i] === 0 && minibatch[i] === 0);
      }
      delete made.tables.steps.stopped;
      made.manifest.settings = { ...made.manifest.settings, target_kl: target };
    };
    expect(ids((await changed(once(0.02))).causes)).toContain('kl-guard-too-tight');
    expect(ids((await changed(once(null))).causes)).not.toContain('kl-guard-too-tight');
  });

  it('that clips other gradients than those it steps with is told so, and of a reading only if none is clipped', async () => {
    const short = (limit: number) => (made: Made) => {
      made.tables.steps.grad_norm = numbers(made.tables.steps, 'loss').map(() => 0);
      made.manifest.settings = { ...made.manifest.settings, max_grad_norm: limit };
    };
    const found = await changed(short(1e-6));
    expect(ids(found.causes)).toContain('metric-misreported');
    const loose = await changed(short(1e6));
    expect(ids(loose.causes)).not.toContain('metric-misreported');
    expect(ids(loose.remarks)).toContain('metric-misreported');
  });

  it('whose old log-probabilities are those of other rows is not told of an earlier policy', async () => {
    const found = await changed((made) => {
      const { samples, replays } = made.tables;
      const places = placesOf(made.tables);
      const old = numbers(samples, 'old_logp');
      replays.old_logp = places.map((row) => old[(row + 5) % old.length]);
      unheard(made);
    });
    expect(ids(found.causes)).not.toContain('stale-samples');
    expect(found.verdict).not.toBe('healthy');
  });

  it.each([['twice'], ['never'], ['once']])(
    'that brings its values back to the units of the rewards %s',
    async (times) => {
      const found = await changed((made) => {
        const { samples, replays, steps } = made.tables;
        const places = placesOf(made.tables);
        const at = numbers(replays, 'iteration');
        const factor = (iteration: number) => 2 + 0.2 * iteration;
        const returns = numbers(samples, 'return');
        replays.return = places.map((row, i) => factor(at[i]) * returns[row] + 0.3);
        const earlier = (i: number) => factor(at[i] - 1) ** (times === 'twice' ? 2 : times === 'once' ? 1 : 0);
        replays.value = numbers(replays, 'value').map((value, i) => earlier(i) * value);
        unheard(made);
        const key = (table: Made['tables']['steps'], i: number) =>
          ['iteration', 'epoch', 'minibatch', 'policy'].map((name) => numbers(table, name)[i]).join(' ');
        const squares = new Map<string, number[]>();
        places.forEach((_, i) => {
          const error = numbers(replays, 'value')[i] - numbers(replays, 'return')[i];
          squares.set(key(replays, i), [...(squares.get(key(replays, i)) ?? []), error * error]);
        });
        steps.value_loss = numbers(steps, 'iteration').map((_, i) => spread(squares.get(key(steps, i)) ?? []).mean);
      });
      if (times === 'once') expect(found.causes).toEqual([]);
      else expect(ids(found.causes)).toEqual(['value-scale-mismatch']);
    },
  );

  it('whose entropy forgets the mask that its log-probabilities have is told so', async () => {
    const found = await changed((made) => {
      const { replays } = made.tables;
      const kept = lists(replays, 'logits');
      unheard(made);
      replays.logits = kept;
      replays.entropy = kept.map((logits) => {
        const all = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
        return -logits.reduce((sum, logit) => sum + (Math.exp(logit) / all) * (logit - Math.log(all)), 0);
      });
    }, 'healthy/echo-2');
    expect(first(found)).toEqual(['faulty', 'entropy-of-another-distribution']);
  });

  it('whose time limits bootstrap from the state before the last action hears of it', async () => {
    const found = await changed((made) => {
      const { samples } = made.tables;
      const [value, truncated] = ['value', 'truncated'].map((name) => numbers(samples, name));
      samples.next_value = numbers(samples, 'next_value').map((next, row) =>
        truncated[row] === 1 ? value[row] : next,
      );
      credited(made);
    });
    expect([found.causes, ids(found.remarks)]).toEqual([[], expect.arrayContaining(['time-limit-before'])]);
  });
});
