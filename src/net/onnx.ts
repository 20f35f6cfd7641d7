/** A policy as an ONNX model: input `obs` (and `candidates` for a pointer head), output `logits`, before mask and temperature. With a fixed head the logits are the global ones, to be gathered by a row's subset. */
import type { Policy, PolicyShape } from './types.ts';

type Field = [number: number, value: number | string | Uint8Array | Field[]];

/** Protocol buffers, as far as ONNX needs them: whole numbers, texts, bytes and messages. */
function encode(fields: readonly Field[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [number, value] of fields) {
    if (typeof value === 'number') {
      parts.push(varint(number << 3), varint(value));
      continue;
    }
    const bytes =
      typeof value === 'string' ? new TextEncoder().encode(value) : value instanceof Uint8Array ? value : encode(value);
    parts.push(varint((number << 3) | 2), varint(bytes.length), bytes);
  }
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  do {
    bytes.push((rest % 128) | (rest >= 128 ? 128 : 0));
    rest = Math.floor(rest / 128);
  } while (rest > 0);
  return Uint8Array.from(bytes);
}

const float32 = 1;
const int64 = 7;

function node(type: string, inputs: string[], output: string): Field {
  return [1, [...inputs.map((name): Field => [1, name]), [2, output], [4, type]]];
}

function weights(name: string, dims: number[], values: Float32Array): Field {
  const raw = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return [5, [...dims.map((dim): Field => [1, dim]), [2, float32], [8, name], [9, raw]]];
}

function axis(name: string, value: number): Field {
  return [
    5,
    [
      [1, 1],
      [2, int64],
      [8, name],
      [9, new Uint8Array(BigInt64Array.of(BigInt(value)).buffer)],
    ],
  ];
}

/** A number is a fixed length, a text a free one. */
function tensor(field: 11 | 12, name: string, dims: (number | string)[]): Field {
  const shape: Field[] = dims.map((dim) => [1, typeof dim === 'number' ? [[1, dim]] : [[2, dim]]]);
  return [
    field,
    [
      [1, name],
      [
        2,
        [
          [
            1,
            [
              [1, float32],
              [2, shape],
            ],
          ],
        ],
      ],
    ],
  ];
}

/** [out][in] to [in][out], from input `first` on. */
function transposed(matrix: Float32Array, outputs: number, inputs: number, first: number, last: number): Float32Array {
  const out = new Float32Array((last - first) * outputs);
  for (let o = 0; o < outputs; o++)
    for (let i = first; i < last; i++) out[(i - first) * outputs + o] = matrix[o * inputs + i];
  return out;
}

/** `parameters` are the actor's tensors in the order of `Policy.parameters`: weight [out][in] and bias, layer by layer. */
export function policyToOnnx(shape: PolicyShape, parameters: readonly Float32Array[], producer: string): Uint8Array {
  const { actor, features, head } = shape;
  const sizes = [actor.inputs, ...actor.hidden, actor.outputs];
  const observation = actor.inputs - features;
  const graph: Field[] = [];
  let current = 'obs';
  for (let layer = 0; layer + 1 < sizes.length; layer++) {
    const [inputs, outputs] = [sizes[layer], sizes[layer + 1]];
    const [matrix, bias] = [parameters[2 * layer], parameters[2 * layer + 1]];
    const sum = `sum${layer}`;
    if (layer === 0 && head === 'pointer') {
      // The observation's share is the same for all candidates of a row.
      graph.push(weights('own', [observation, outputs], transposed(matrix, outputs, inputs, 0, observation)));
      graph.push(weights('each', [features, outputs], transposed(matrix, outputs, inputs, observation, inputs)));
      graph.push(
        axis('second', 1),
        node('MatMul', ['obs', 'own'], 'row'),
        node('Unsqueeze', ['row', 'second'], 'rows'),
      );
      graph.push(node('MatMul', ['candidates', 'each'], 'lists'), node('Add', ['lists', 'rows'], sum));
    } else {
      graph.push(weights(`weight${layer}`, [inputs, outputs], transposed(matrix, outputs, inputs, 0, inputs)));
      graph.push(node('MatMul', [current, `weight${layer}`], sum));
    }
    const last = layer + 2 === sizes.length;
    const flat = head === 'pointer' ? 'scores' : 'logits';
    graph.push(
      weights(`bias${layer}`, [outputs], bias),
      node('Add', [sum, `bias${layer}`], last ? flat : `linear${layer}`),
    );
    if (!last) graph.push(node(actor.activation === 'tanh' ? 'Tanh' : 'Relu', [`linear${layer}`], `hidden${layer}`));
    current = `hidden${layer}`;
  }
  if (head === 'pointer') graph.push(axis('third', 2), node('Squeeze', ['scores', 'third'], 'logits'));
  graph.push([2, 'policy'], tensor(11, 'obs', ['rows', observation]));
  if (head === 'pointer') graph.push(tensor(11, 'candidates', ['rows', 'candidates', features]));
  graph.push(tensor(12, 'logits', ['rows', head === 'pointer' ? 'candidates' : actor.outputs]));
  return encode([
    [1, 8],
    [2, producer],
    [7, graph],
    [
      8,
      [
        [1, ''],
        [2, 17],
      ],
    ],
  ]);
}

/** The actor of a policy as it is now. */
export function actorToOnnx(policy: Policy): Uint8Array {
  const actor = policy.parameters.flatMap(({ name }, i) => (name.startsWith('actor.') ? [policy.read(i)] : []));
  return policyToOnnx(policy.shape, actor, 'trueline');
}
