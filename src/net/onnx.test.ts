import * as ort from 'onnxruntime-web';
import { describe, expect, it } from 'vitest';
import { RandomStream } from '../math/random.ts';
import { createEngine } from './engine.ts';
import { policyToOnnx } from './onnx.ts';
import type { PolicyShape } from './types.ts';

ort.env.wasm.numThreads = 1;

describe('a policy exported as ONNX', () => {
  it.each<[string, PolicyShape]>([
    [
      'fixed head, tanh',
      {
        head: 'fixed',
        features: 0,
        actor: { inputs: 5, hidden: [16, 8], outputs: 7, activation: 'tanh', outputGain: 1 },
        critic: { inputs: 5, hidden: [8], outputs: 1, activation: 'tanh', outputGain: 1 },
      },
    ],
    [
      'fixed head without hidden layers',
      {
        head: 'fixed',
        features: 0,
        actor: { inputs: 5, hidden: [], outputs: 4, activation: 'relu', outputGain: 1 },
        critic: { inputs: 5, hidden: [8], outputs: 1, activation: 'relu', outputGain: 1 },
      },
    ],
    [
      'pointer head, ReLU',
      {
        head: 'pointer',
        features: 3,
        actor: { inputs: 8, hidden: [16, 8, 4], outputs: 1, activation: 'relu', outputGain: 1 },
        critic: { inputs: 5, hidden: [8], outputs: 1, activation: 'relu', outputGain: 1 },
      },
    ],
  ])('gives the same logits in onnxruntime-web: %s', async (_, shape) => {
    const stream = RandomStream.of(4, 'onnx');
    const engine = await createEngine({ threads: 1 });
    const policy = engine.policy(shape, stream);
    const [rows, candidates] = [6, shape.head === 'fixed' ? shape.actor.outputs : 5];
    const observation = shape.actor.inputs - shape.features;
    const numbers = (length: number) => Float32Array.from({ length }, () => stream.normal());
    // Biases start at zero; others show that they are carried over.
    policy.parameters.forEach((parameter, i) => {
      if (parameter.name.endsWith('bias')) policy.write(i, numbers(parameter.size));
    });
    const obs = numbers(rows * observation);
    const features = numbers(rows * candidates * shape.features);
    const total = rows * candidates;
    const out = {
      action: new Int32Array(rows),
      logp: new Float32Array(rows),
      entropy: new Float32Array(rows),
      value: new Float32Array(rows),
      logits: new Float32Array(total),
    };
    policy.act(
      {
        length: rows,
        obs,
        state: obs,
        offsets: Int32Array.from({ length: rows + 1 }, (_, i) => i * candidates),
        subset: Int32Array.from({ length: total }, (_, i) => i % candidates),
        legal: new Uint8Array(total).fill(1),
        candidateFeatures: features,
      },
      new Float32Array(rows),
      1,
      out,
    );
    const actor = policy.parameters.flatMap(({ name }, i) => (name.startsWith('actor.') ? [policy.read(i)] : []));
    engine.dispose();
    const session = await ort.InferenceSession.create(policyToOnnx(shape, actor, 'test'));
    expect(session.inputNames).toEqual(shape.head === 'fixed' ? ['obs'] : ['obs', 'candidates']);
    const feeds: Record<string, ort.Tensor> = { obs: new ort.Tensor('float32', obs, [rows, observation]) };
    if (shape.head === 'pointer')
      feeds.candidates = new ort.Tensor('float32', features, [rows, candidates, shape.features]);
    const { logits } = await session.run(feeds);
    expect(logits.dims).toEqual([rows, candidates]);
    const largest = Math.max(...out.logits.map(Math.abs));
    (logits.data as Float32Array).forEach((value, i) => {
      expect(Math.abs(value - out.logits[i])).toBeLessThan(1e-5 * largest);
    });
  });
});
