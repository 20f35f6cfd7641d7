/** A network as the kernels see it. Weights lie in quads of outputs, [out / 4][in][4], padded with zeros that every step leaves at zero. */
import { widths } from '../parameters.ts';
import type { MlpShape, Parameter } from '../types.ts';
import type { Kernels } from './kernels.ts';
import type { KernelMemory } from './memory.ts';
import { BLOCK, ITEMS, layerFields, netFields, SPARSITY, tensorFields } from './structs.ts';

const up4 = (n: number) => (n + 3) & ~3;
const up = (n: number, whole: number) => Math.ceil(n / whole) * whole;
export const roleNumbers = { trunk: 0, head: 1, critic: 2 } as const;
/** Doubles kept for each tensor. */
export const RESULTS = 6;

/** A part of a parameter that lies together in memory: columns [from, from + inputs) of a weight, or a bias. */
interface Piece {
  parameter: number;
  /** Floats from the network's first. */
  offset: number;
  floats: number;
  outputs: number;
  inputs: number;
  from: number;
  bias: boolean;
}

export class KernelNetwork {
  readonly parameters: readonly Parameter[];
  readonly pieces: Piece[] = [];
  /** Floats of all parameters, padding included. */
  readonly floats: number;
  /** Floats of the gradients in one lane, where native kernels have them in whole vectors. */
  readonly laneFloats: number;
  /** Address of the structure. */
  at = 0;
  scratchBytes = 0;
  activationBytes = 0;
  /** Address of `RESULTS` doubles for each piece. */
  results = 0;
  private readonly memory: KernelMemory;
  private readonly native: boolean;
  private readonly width: number;
  private readonly sizes: number[];
  private readonly activation: number;
  private readonly features: number;
  private layersAt = 0;
  private featuresAt = 0;
  private base = 0;
  private candidates = 0;

  constructor({ memory, engine, width }: Kernels, shape: MlpShape, parameters: readonly Parameter[], features = 0) {
    this.memory = memory;
    this.native = engine === 'native';
    this.width = width;
    this.parameters = parameters;
    this.features = features;
    this.sizes = widths(shape);
    this.activation = shape.activation === 'tanh' ? 1 : 2;
    let offset = 0;
    const piece = (parameter: number, outputs: number, inputs: number, from: number, bias: boolean) => {
      const floats = bias ? up4(outputs) : up4(outputs) * up4(inputs);
      this.pieces.push({ parameter, offset, floats, outputs, inputs, from, bias });
      offset += floats;
    };
    for (let layer = 0; layer + 1 < this.sizes.length; layer++) {
      const rowInputs = layer === 0 ? this.sizes[0] - features : this.sizes[layer];
      piece(2 * layer, this.sizes[layer + 1], rowInputs, 0, false);
      piece(2 * layer + 1, this.sizes[layer + 1], 1, 0, true);
      if (layer === 0 && features > 0) piece(0, this.sizes[1], features, rowInputs, false);
    }
    this.floats = offset;
    this.laneFloats = this.pieces.reduce(
      (sum, { outputs, inputs, bias }) => sum + up(outputs, width) * (bias ? 1 : up4(inputs)),
      0,
    );
  }

  /** Room for a layer's weights as the kernels want them a second time: in WASM for the way back, in native kernels for both ways. */
  private packed({ inputs, outputs }: Piece): number {
    const { native, width } = this;
    const floats = native
      ? up(outputs, width) * (inputs + 1) + up(inputs, width) * outputs
      : up4(inputs) * up4(outputs);
    return this.memory.allocate(floats * 4);
  }

  /** Writes the structures for parameters at `base`. */
  place(base: number): void {
    const { memory, pieces } = this;
    this.base = base;
    const count = this.sizes.length - 1;
    this.at = memory.allocate(netFields.words * 4);
    this.layersAt = memory.allocate(count * layerFields.words * 4);
    this.featuresAt = memory.allocate(layerFields.words * 4);
    this.results = memory.allocate(pieces.length * RESULTS * 8);
    const tensors = memory.allocate(pieces.length * tensorFields.words * 4);
    const weights = Array.from({ length: count }, (_, layer) => pieces.find((one) => one.parameter === 2 * layer)!);
    const part = pieces.find((piece) => piece.from > 0);
    const transposed = weights.map((weight) => this.packed(weight));
    const partPacked = part && this.native ? this.packed(part) : 0;
    const words = memory.i32;
    const writeLayer = (at: number, weight: Piece, bias: Piece | null, back: number, activation: number) => {
      const word = at >> 2;
      words[word + layerFields.inputs] = weight.inputs;
      words[word + layerFields.outputs] = weight.outputs;
      words[word + layerFields.inputs4] = up4(weight.inputs);
      words[word + layerFields.outputs4] = up4(weight.outputs);
      words[word + layerFields.weight] = base + weight.offset * 4;
      words[word + layerFields.bias] = bias ? base + bias.offset * 4 : 0;
      words[word + layerFields.transposed] = back;
      words[word + layerFields.activation] = activation;
    };
    for (let layer = 0; layer < count; layer++) {
      const bias = pieces.find((piece) => piece.parameter === 2 * layer + 1)!;
      const activation = layer + 1 < count ? this.activation : 0;
      writeLayer(this.layersAt + layer * layerFields.words * 4, weights[layer], bias, transposed[layer], activation);
    }
    if (part) writeLayer(this.featuresAt, part, null, partPacked, 0);
    pieces.forEach((piece, index) => {
      const word = (tensors >> 2) + index * tensorFields.words;
      words[word + tensorFields.parameters] = base + piece.offset * 4;
      words[word + tensorFields.floats] = piece.floats;
      words[word + tensorFields.role] = roleNumbers[this.parameters[piece.parameter].role];
      words[word + tensorFields.results] = this.results + index * RESULTS * 8;
    });
    const word = this.at >> 2;
    words[word + netFields.layers] = this.layersAt;
    words[word + netFields.count] = count;
    words[word + netFields.pointer] = this.features > 0 ? 1 : 0;
    words[word + netFields.features] = this.featuresAt;
    words[word + netFields.parameters] = base;
    words[word + netFields.floats] = this.floats;
    words[word + netFields.tensors] = tensors;
    words[word + netFields.tensorCount] = pieces.length;
    this.ensureCandidates(32);
  }

  /** Lays out the working memory for rows of up to `candidates` candidates. */
  ensureCandidates(candidates: number): void {
    if (candidates <= this.candidates) return;
    this.candidates = up(Math.max(candidates, 2 * this.candidates), 8);
    const { sizes, features, width } = this;
    const words = this.memory.i32;
    const net = this.at >> 2;
    const count = sizes.length - 1;
    const rows = features > 0 ? Math.max(ITEMS, this.candidates) : BLOCK;
    let offset = 0;
    const reserve = (floats: number) => {
      const at = offset;
      offset += Math.ceil(floats / 16) * 64;
      return at;
    };
    const layer = (index: number) => (this.layersAt >> 2) + index * layerFields.words;
    words[layer(0) + layerFields.input] = reserve(BLOCK * up(sizes[0] - features, width));
    if (features > 0) words[(this.featuresAt >> 2) + layerFields.input] = reserve(rows * up(features, width));
    for (let index = 1; index < count; index++)
      words[layer(index) + layerFields.input] = reserve(rows * up(sizes[index], width));
    words[net + netFields.output] = reserve(rows * up(sizes[count], width));
    // The last bytes say whether the first layer's inputs are a list.
    this.activationBytes = offset + 64;
    const panel = Math.max(8, width);
    const widest = up(Math.max(...sizes), panel);
    words[net + netFields.deltaA] = reserve(rows * widest);
    words[net + netFields.deltaB] = reserve(rows * widest);
    words[net + netFields.panel] = reserve(rows * widest);
    words[net + netFields.rowPart] = reserve(features > 0 ? BLOCK * up(sizes[1], panel) : 0);
    words[net + netFields.rowPanel] = reserve(features > 0 ? BLOCK * up(sizes[1], panel) : 0);
    // Four rows at a time.
    words[net + netFields.local] = reserve(4 * this.candidates);
    words[net + netFields.localProbability] = reserve(4 * this.candidates);
    words[net + netFields.rowFigures] = reserve(16);
    words[net + netFields.rowOfItem] = reserve(rows + 8);
    // Eight bytes an entry; a row with more than a quarter of its inputs has no list.
    words[net + netFields.entries] = reserve(BLOCK * 2 * Math.floor(sizes[0] / SPARSITY));
    words[net + netFields.starts] = reserve(BLOCK + 1);
    this.scratchBytes = offset;
  }

  /** Copies one parameter out of a buffer laid out like the parameters: the values, their gradients or their moments. */
  read(parameter: number, buffer = this.base): Float32Array {
    const columns = this.parameters[parameter].shape[1] ?? 1;
    const out = new Float32Array(this.parameters[parameter].size);
    const floats = this.memory.f32;
    this.each(parameter, buffer, (at, output, input) => {
      out[output * columns + input] = floats[at];
    });
    return out;
  }

  /** The caller packs the weights for the way back afterwards. */
  write(parameter: number, values: ArrayLike<number>, buffer = this.base): void {
    const { name, size } = this.parameters[parameter];
    if (values.length !== size) throw new RangeError(`${name} has ${size} values; got ${values.length}.`);
    const columns = this.parameters[parameter].shape[1] ?? 1;
    const floats = this.memory.f32;
    this.each(parameter, buffer, (at, output, input) => {
      floats[at] = values[output * columns + input];
    });
  }

  private each(parameter: number, buffer: number, visit: (at: number, output: number, input: number) => void): void {
    for (const piece of this.pieces) {
      if (piece.parameter !== parameter) continue;
      const start = (buffer >> 2) + piece.offset;
      if (piece.bias) {
        for (let output = 0; output < piece.outputs; output++) visit(start + output, output, 0);
        continue;
      }
      const stride = up4(piece.inputs) * 4;
      for (let output = 0; output < piece.outputs; output++) {
        for (let input = 0; input < piece.inputs; input++) {
          visit(start + (output >> 2) * stride + input * 4 + (output & 3), output, piece.from + input);
        }
      }
    }
  }
}
