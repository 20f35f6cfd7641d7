/** The output arrays of a game, laid out as the interface asks. A place that is not acting has no candidates: its count is 0. */
import { told } from '../language/language.ts';
import { RandomStream } from '../math/random.ts';
import type { GameShape } from './game.ts';
import { GameRefusal } from './refusal.ts';

export class GameArrays {
  readonly acting: Uint8Array;
  readonly obs: Float32Array;
  readonly numActions: Int32Array;
  readonly subset: Int32Array;
  readonly legal: Uint8Array;
  readonly candidateFeatures: Float32Array;
  readonly reward: Float32Array;
  readonly terminated: Uint8Array;
  readonly truncated: Uint8Array;
  readonly state: Float32Array;
  readonly over: Uint8Array;

  constructor(
    readonly shape: GameShape,
    readonly worlds: number,
  ) {
    if (!Number.isInteger(worlds) || worlds < 1) {
      throw new GameRefusal(
        told(
          `A game was asked for with ${worlds} worlds; give a whole number of at least 1.`,
          `要求的世界数为 ${worlds}；请给出至少为 1 的整数。`,
        ),
      );
    }
    const places = worlds * shape.seats;
    this.acting = new Uint8Array(places);
    this.obs = new Float32Array(places * shape.observation);
    this.numActions = new Int32Array(places);
    this.subset = new Int32Array(places * shape.candidates);
    this.legal = new Uint8Array(places * shape.candidates);
    this.candidateFeatures = new Float32Array(places * shape.candidates * shape.features);
    this.reward = new Float32Array(places);
    this.terminated = new Uint8Array(places);
    this.truncated = new Uint8Array(places);
    this.state = new Float32Array(worlds * shape.state);
    // A world that was never reset has nothing to step.
    this.over = new Uint8Array(worlds).fill(1);
  }

  /** The same action list for every place, for games whose candidates never change. */
  protected fillCandidates(): void {
    const { candidates } = this.shape;
    for (let i = 0; i < this.subset.length; i++) this.subset[i] = i % candidates;
  }
}

/** A stream of its own, drawn from another; two draws name it. */
export function split(stream: RandomStream): RandomStream {
  const first = stream.int32();
  return RandomStream.of(first, 'split', stream.int32());
}

/** Block i becomes what block `permutation[i]` was, for blocks of `width` values; the blocks of one world begin at `base`. */
export function permuteBlocks(
  array: { [index: number]: number },
  base: number,
  width: number,
  permutation: readonly number[],
): void {
  const was = new Float64Array(permutation.length * width);
  for (let i = 0; i < was.length; i++) was[i] = array[base + i];
  for (let i = 0; i < permutation.length; i++) {
    for (let j = 0; j < width; j++) array[base + i * width + j] = was[permutation[i] * width + j];
  }
}

/** Throws unless `permutation` holds each of 0 .. seats - 1 once. */
export function requirePermutation(permutation: readonly number[], seats: number): void {
  const seen = new Set(permutation);
  const inRange = permutation.every((p) => Number.isInteger(p) && p >= 0 && p < seats);
  if (permutation.length !== seats || seen.size !== seats || !inRange) {
    throw new RangeError(
      `Got [${permutation.join(', ')}] as a permutation of ${seats} seats; it must hold each of 0 to ${seats - 1} once.`,
    );
  }
}

/** The numbers of one world's block of an array, appended to `saved`. */
export function saveBlock(saved: number[], array: ArrayLike<number>, base: number, width: number): void {
  for (let i = 0; i < width; i++) saved.push(array[base + i]);
}

/** Reads blocks back in the order in which they were saved. */
export class SavedNumbers {
  private next = 0;
  constructor(private readonly saved: readonly number[]) {}

  block(array: { [index: number]: number }, base: number, width: number): void {
    for (let i = 0; i < width; i++) array[base + i] = this.saved[this.next++];
  }

  take(): number {
    return this.saved[this.next++];
  }

  stream(): RandomStream {
    this.next += 4;
    return RandomStream.fromState(this.saved.slice(this.next - 4, this.next));
  }

  /** Throws unless everything saved was read: a state of other settings must not be half loaded. */
  end(game: string): void {
    if (this.next !== this.saved.length) {
      throw new RangeError(
        `A saved world of ${this.saved.length} numbers was loaded into ${game}, which reads ${this.next}; load it into a game with the settings it was saved with.`,
      );
    }
  }
}

/** Block `into` of an array becomes what block `from` of another is; a few values are quicker one by one. */
export function copyBlock(
  source: { readonly [index: number]: number },
  from: number,
  target: { [index: number]: number },
  into: number,
  width: number,
): void {
  for (let i = 0; i < width; i++) target[into * width + i] = source[from * width + i];
}

export function copyFloatBlock(
  source: Float32Array,
  from: number,
  target: Float32Array,
  into: number,
  width: number,
): void {
  target.set(source.subarray(from * width, (from + 1) * width), into * width);
}
