/** What the engine writes into memory for the kernels. Every field is four bytes, in the order of the tables in `src/net/wasm/structs.ts`. */

/** Rows of a minibatch that go through the whole network before the next; small enough for the second-level cache. */
export const BLOCK: i32 = 64;
/** Candidates that go through a pointer head together; a row with more goes alone. */
export const ITEMS: i32 = 128;
/** Rows fall into this many parts, each with a gradient of its own, added in this order. */
export const LANES: i32 = 4;
/** A row of mostly zero inputs may have one in so many that is not. */
export const SPARSITY: i32 = 4;
/** From this many rows of a minibatch on there are twice as many, so that a thread that is held up leaves more of them to the other. */
export const MANY_ROWS: i32 = 2048;

/**
 * One layer of weights. `weight` is [outputs / 4][inputs][4]: four outputs side by side for each input, both sizes rounded up to
 * four with zeros. `transposed` is [inputs / 4][outputs][4].
 */
@unmanaged
export class Layer {
  inputs: i32;
  outputs: i32;
  inputs4: i32;
  outputs4: i32;
  weight: usize;
  bias: usize;
  transposed: usize;
  /** Where the layer's input lies, from the start of the activations. */
  input: usize;
  /** 0 none, 1 tanh, 2 ReLU: what follows this layer. */
  activation: i32;
}
export const LAYER_BYTES: usize = offsetof<Layer>();

@unmanaged
export class Net {
  /** Array of layers. */
  layers: usize;
  count: i32;
  /** 1 for a pointer head: then `features` is the layer that adds the candidates' part to the first layer. */
  pointer: i32;
  features: usize;
  /** First parameter; a lane's gradients lie at the same distance from its start. */
  parameters: usize;
  floats: i32;
  /** Array of tensors. */
  tensors: usize;
  tensorCount: i32;
  /** Places in the activations. */
  output: usize;
  /** Places in a thread's scratch memory. */
  deltaA: usize;
  deltaB: usize;
  panel: usize;
  rowPart: usize;
  rowPanel: usize;
  local: usize;
  localProbability: usize;
  rowFigures: usize;
  rowOfItem: usize;
  /** Inputs of the first layer that are not zero, and where each row's begin; for inputs that are mostly zero. */
  entries: usize;
  starts: usize;
}

@unmanaged
export class Tensor {
  parameters: usize;
  floats: i32;
  /** 0 trunk, 1 head, 2 critic. */
  role: i32;
  /** Six doubles: squared norm of the gradient; then of a measured step the nonzero gradients, absolute and squared change, squared norm. */
  results: usize;
}
export const TENSOR_BYTES: usize = offsetof<Tensor>();

@unmanaged
export class Job {
  actor: Net;
  critic: Net;
  rows: i32;
  /** Row numbers, or 0 for the rows as they lie. */
  order: usize;
  /** Where a row's figures go, or 0 for the order in which rows are visited. */
  place: usize;
  obs: usize;
  state: usize;
  offsets: usize;
  subset: usize;
  legal: usize;
  features: usize;
  action: usize;
  oldLogp: usize;
  advantage: usize;
  returns: usize;
  oldValue: usize;
  weight: usize;
  /** Present when actions are to be sampled. */
  uniforms: usize;
  outAction: usize;
  outLogp: usize;
  outEntropy: usize;
  outValue: usize;
  outLogits: usize;
  /** Where each row's logits begin in `outLogits`. */
  outOffsets: usize;
  inverseTemperature: f32;
  clip: f32;
  valueCoefficient: f32;
  entropyCoefficient: f32;
  huber: i32;
  huberDelta: f32;
  /** Negative for none. */
  valueClip: f32;
  advantageScale: f32;
  inverseWeight: f32;
  /** Start of the policy's parameters, of their gradients and moments, and of the lanes' gradients. */
  parameters: usize;
  gradient: usize;
  firstMoment: usize;
  secondMoment: usize;
  lanes: usize;
  laneBytes: i32;
  /** Doubles: for each lane the sums of `STATISTICS` figures. */
  statistics: usize;
  beta1: f32;
  beta2: f32;
  oneLessBeta1: f32;
  oneLessBeta2: f32;
  eps: f32;
  inverseRootCorrection: f32;
  /** By role. */
  stepSize0: f32;
  stepSize1: f32;
  stepSize2: f32;
  decay0: f32;
  decay1: f32;
  decay2: f32;
  scale0: f32;
  scale1: f32;
  scale2: f32;
  measure: i32;
  /** Only native kernels look at ids while they work. */
  wrong: i32;
}
export const STATISTICS: i32 = 9;

/** A network by itself: `x`, `y` and the gradients are row-major; the activations stay in memory from forward to backward. */
@unmanaged
export class Pass {
  net: Net;
  rows: i32;
  x: usize;
  y: usize;
  activations: usize;
  /** Of one block of rows. */
  activationBytes: i32;
  gradOut: usize;
  gradIn: usize;
  lanes: usize;
  laneBytes: i32;
  gradient: usize;
  /** 1 where the lanes are added to the gradients that are there. */
  add: i32;
  /** What is taught: 1 Bernoulli, 2 Gaussian, 3 a choice; its targets, legal choices as bits by row, and one row's share. */
  loss: i32;
  targets: usize;
  legal: usize;
  share: f32;
  /** A double for each lane. */
  losses: usize;
  /** Where probabilities go, or 0; and from one row's to the next in floats. */
  shares: usize;
  stride: i32;
}

/** Rows to be copied: row i of `into` becomes row list[i] of `from`. */
@unmanaged
export class Copy {
  into: usize;
  from: usize;
  list: usize;
  rows: i32;
  /** Of one row. */
  bytes: i32;
}
