import { describe, expect, it } from 'vitest';
import { Recording } from '../../recording/recording.ts';
import { memoryStore } from '../../recording/source.ts';
import { RecordingWriter } from '../../recording/writer.ts';
import { style } from '../style.ts';
import { firstMinibatches } from './first-minibatch.ts';
import { summariseTensors } from './tensors.ts';
import { firstText, tensorsText } from './text.ts';

const f = (values: number[]) => Float64Array.from(values);

async function recorded(): Promise<Recording> {
  const store = memoryStore('run');
  const writer = await RecordingWriter.create(store, {
    format: 'trueline/1',
    policies: [{ name: 'IND' }],
    tensors: [
      { name: 'actor.weight', policy: 0, role: 'trunk', size: 10 },
      { name: 'actor.head', policy: 0, role: 'head', size: 4 },
    ],
  });
  await writer.append('samples', {
    iteration: f([3, 3]),
    episode: f([0, 0]),
    t: f([0, 1]),
    agent: f([0, 0]),
    old_logp: f([-1, -2]),
  });
  await writer.append('replays', {
    iteration: f([3, 3, 3]),
    epoch: f([0, 0, 0]),
    minibatch: f([0, 0, 1]),
    sample: f([1, 0, 0]),
    new_logp: f([-2, -1.5, -9]),
    entropy: f([0.5, 0.7, 9]),
  });
  await writer.append('tensors', {
    iteration: f([3, 3, 3, 3]),
    epoch: f([0, 0, 0, 0]),
    minibatch: f([0, 0, 1, 1]),
    tensor: f([0, 1, 0, 1]),
    grad_norm: f([1, 2, 3, 2]),
    grad_nonzero: f([10, 4, 8, 4]),
    delta_norm: f([0.1, 0, 0.3, 0]),
    norm: f([5, 6, 5.5, 6]),
    learning_rate: f([1e-3, 1e-3, 1e-3, 1e-3]),
    weight_decay: f([0, 0, 0, 0]),
    bound: f([1, 0, 1, 0]),
  });
  await writer.close();
  return Recording.open(store);
}

const plain = style(false);

describe('the first minibatch', () => {
  it('shows old beside new, with old taken from the samples where the update has none', async () => {
    const [first] = await firstMinibatches(await recorded());
    expect(first).toMatchObject({ policy: 'IND', iteration: 3, rows: 2, valid: 1, entropy: 0.6, k1: 0.25, k2: 0.0625 });
    expect(first.first[1]).toEqual({ sample: 0, old_logp: -1, new_logp: -1.5, difference: -0.5 });
    expect(first.k3).toBeCloseTo((Math.exp(-0.5) - 1 + 0.5) / 2, 12);
    expect([first.ratio_least, first.ratio_greatest]).toEqual([Math.exp(-0.5), 1]);
    const mean = (1 + Math.exp(-0.5)) / 2;
    expect(first.ratio_mean).toBeCloseTo(mean, 12);
    expect(first.ratio_std).toBeCloseTo(Math.SQRT2 * (1 - mean), 12);
    expect(firstText(first, plain)).toContain('valid rows  1 of 2');
  });
});

describe("the optimiser's tensors", () => {
  it('tell a tensor that no group holds from those that move', async () => {
    const { groups, roles, tensors } = await summariseTensors(await recorded());
    expect(roles).toEqual([
      {
        policy: 'IND',
        role: 'trunk',
        tensors: 1,
        size: 10,
        bound: [1, 1],
        grad_norm: 2,
        grad_nonzero: 9,
        delta_per_step: 0.2,
      },
      {
        policy: 'IND',
        role: 'head',
        tensors: 1,
        size: 4,
        bound: [0, 0],
        grad_norm: 2,
        grad_nonzero: 4,
        delta_per_step: 0,
      },
    ]);
    expect(groups).toEqual([{ learning_rate: 1e-3, weight_decay: 0, tensors: 1, size: 10 }]);
    expect(tensors[0]).toMatchObject({ bound: [1, 1], grad_norm: 2, grad_nonzero: 9, delta_per_step: 0.2, norm: 5.5 });
    expect(tensors[1]).toMatchObject({ name: 'actor.head', bound: [0, 0], grad_norm: 2, delta_per_step: 0 });
    expect(tensorsText({ groups, roles, tensors }, plain)).toMatch(/actor\.head +head +4 +0 +2 +4 +0 +6/);
  });
});
