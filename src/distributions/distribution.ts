/** What a policy's outputs say about an action: sample, log-probability, entropy and gradient. One distribution, one folder; the kernels are its fast path. */

/** A column of actions, `width` numbers a row: indices into a row's candidates are Int32, numbers of a continuous action Float32. */
export type Actions = Int32Array | Float32Array;

export type Floats = Float32Array | Float64Array;

/** What a column of actions is made of. */
export interface ActionKind {
  /** Names it in a policy's shape and in the recording's manifest. */
  readonly name: string;
  /** Numbers in one action, and uniform draws that sampling one takes. */
  readonly width: number;
  readonly draws: number;
  readonly array: Int32ArrayConstructor | Float32ArrayConstructor;
}

/** One row at a time: `look` at its outputs first, and everything else speaks of that row. */
export interface Distribution extends ActionKind {
  /** `outputs` are the row's own, as the head gave them; `legal` rules some of them out, where the distribution knows such a thing. */
  look(outputs: Floats, legal: Uint8Array | null, temperature: number): void;
  readonly entropy: number;
  /** Writes the action of `row` that the draws from `at` on, each in [0, 1), choose. */
  sample(draws: ArrayLike<number>, at: number, actions: Actions, row: number): void;
  /** Of the action of `row`; minus infinity where it is not possible. */
  logp(actions: Actions, row: number): number;
  /** Fills the derivative by each output of byLogp x log-probability + byEntropy x entropy. */
  gradient(actions: Actions, row: number, byLogp: number, byEntropy: number, out: Float64Array): void;
}
