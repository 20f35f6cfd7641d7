/** Explicit random streams. A stream is named by a seed and a path of words and numbers; equal names give equal draws, and nothing else does. */
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';
import type { JumpableRandomGenerator } from 'pure-rand/types/JumpableRandomGenerator';

/**
 * Random numbers named by a seed and a path of words and numbers.
 *
 * @example
 * const stream = RandomStream.of(7, 'player', 2);
 * console.log(stream.uniform(), stream.below(6));
 */
export class RandomStream {
  private constructor(private readonly generator: JumpableRandomGenerator) {}

  /** The stream of `seed` for one purpose: `RandomStream.of(3, 'collect', world, episode)`. */
  static of(seed: number, ...path: (string | number)[]): RandomStream {
    // Two independent 32-bit mixes of the whole name make the generator's state.
    let a = mix(0x9e3779b9 ^ seed, Math.floor(seed / 2 ** 32));
    let b = mix(0x85ebca6b ^ a, seed);
    for (const part of path) {
      if (typeof part === 'number') {
        a = mix(a ^ 0x27d4eb2f, part);
        b = mix(b ^ 0x165667b1, part);
      } else {
        for (let i = 0; i < part.length; i++) {
          a = mix(a ^ 0x2545f491, part.charCodeAt(i));
          b = mix(b ^ 0x3c6ef372, part.charCodeAt(i));
        }
        // The end of a word counts, so that ('ab', 'c') and ('a', 'bc') differ.
        a = mix(a, 0x7fffffff);
        b = mix(b, 0x7ffffffe);
      }
    }
    const state = [a, b, mix(a, b), mix(b, a) | 1];
    return new RandomStream(xoroshiro128plusFromState(state));
  }

  static fromState(state: readonly number[]): RandomStream {
    return new RandomStream(xoroshiro128plusFromState([...state]));
  }

  /** What `fromState` needs to go on from here. */
  state(): number[] {
    return [...this.generator.getState()];
  }

  /** A signed 32-bit integer, every value equally likely. */
  int32(): number {
    return this.generator.next();
  }

  /** Uniform in [0, 1), a multiple of 2^-32. */
  uniform(): number {
    return (this.generator.next() >>> 0) / 4294967296;
  }

  /** A whole number in [0, bound), exactly uniform for bounds up to 2^32. */
  below(bound: number): number {
    // Dividing keeps the high bits, which are the generator's best.
    const share = Math.floor(4294967296 / bound);
    for (;;) {
      const draw = Math.floor((this.generator.next() >>> 0) / share);
      if (draw < bound) return draw;
    }
  }

  /** Standard normal by Box and Muller; two uniforms a draw, so that the count of draws never depends on the values. */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    return radius * Math.cos(2 * Math.PI * this.uniform());
  }

  /** Shuffles the first `length` entries in place. */
  shuffle<T extends { [index: number]: number; length: number }>(array: T, length = array.length): T {
    for (let i = length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      const kept = array[i];
      array[i] = array[j];
      array[j] = kept;
    }
    return array;
  }
}

function mix(state: number, value: number): number {
  let h = state ^ Math.imul(value | 0, 0xcc9e2d51);
  h = Math.imul(h ^ (h >>> 16), 0x21f0aaad);
  h = Math.imul(h ^ (h >>> 15), 0x735a2d97);
  return h ^ (h >>> 15);
}
