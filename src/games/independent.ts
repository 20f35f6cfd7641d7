/** Games whose seats do not touch each other: every seat has its own stream, memory and end. A game says only how one place begins and goes on. */
import type { RandomStream } from '../math/random.ts';
import { GameArrays, permuteBlocks, requirePermutation, SavedNumbers, saveBlock, split } from './arrays.ts';
import type { Game, GameShape } from './game.ts';

export abstract class IndependentSeats extends GameArrays implements Game {
  /** What one place is, `words` numbers each. */
  protected readonly memory: Float64Array;
  private readonly streams: (RandomStream | undefined)[];

  constructor(
    readonly name: string,
    readonly settings: Readonly<Record<string, unknown>>,
    shape: Omit<GameShape, 'state'>,
    worlds: number,
    protected readonly words: number,
  ) {
    super({ ...shape, state: shape.seats * shape.observation }, worlds);
    this.memory = new Float64Array(worlds * shape.seats * words);
    this.streams = new Array(worlds * shape.seats);
    this.fillCandidates();
  }

  /** Begins an episode at a place and shows its first decision. */
  protected abstract begin(place: number, stream: RandomStream): void;
  /** Takes the decision: sets the reward, and an end or the next decision. */
  protected abstract play(place: number, choice: number, stream: RandomStream): void;

  reset(world: number, stream: RandomStream): void {
    const { seats, observation, candidates } = this.shape;
    const first = world * seats;
    this.obs.fill(0, first * observation, (first + seats) * observation);
    this.memory.fill(0, first * this.words, (first + seats) * this.words);
    for (let place = first; place < first + seats; place++) {
      const own = split(stream);
      this.streams[place] = own;
      this.acting[place] = 1;
      this.reward[place] = 0;
      this.terminated[place] = 0;
      this.truncated[place] = 0;
      this.numActions[place] = candidates;
      this.legal.fill(1, place * candidates, (place + 1) * candidates);
      this.begin(place, own);
    }
    this.over[world] = 0;
    this.showState(world);
  }

  step(actions: Int32Array): void {
    const { seats, candidates } = this.shape;
    for (let world = 0; world < this.worlds; world++) {
      if (this.over[world] === 1) continue;
      let left = 0;
      for (let place = world * seats; place < (world + 1) * seats; place++) {
        this.reward[place] = 0;
        this.terminated[place] = 0;
        this.truncated[place] = 0;
        if (this.acting[place] === 0) continue;
        this.play(place, actions[place], this.streams[place]!);
        if (this.terminated[place] === 1 || this.truncated[place] === 1) {
          this.acting[place] = 0;
          this.numActions[place] = 0;
          this.legal.fill(0, place * candidates, (place + 1) * candidates);
        } else left++;
      }
      if (left === 0) this.over[world] = 1;
      this.showState(world);
    }
  }

  save(world: number): number[] {
    const saved: number[] = [this.over[world]];
    const { seats } = this.shape;
    for (const [array, width] of this.perPlace()) saveBlock(saved, array, world * seats * width, seats * width);
    for (let seat = 0; seat < seats; seat++) {
      const stream = this.streams[world * seats + seat];
      if (!stream) throw new Error(`World ${world} of ${this.name} was saved before its first reset; reset it first.`);
      saved.push(...stream.state());
    }
    return saved;
  }

  load(world: number, saved: readonly number[]): void {
    const read = new SavedNumbers(saved);
    const { seats } = this.shape;
    this.over[world] = read.take();
    for (const [array, width] of this.perPlace()) read.block(array, world * seats * width, seats * width);
    for (let seat = 0; seat < seats; seat++) this.streams[world * seats + seat] = read.stream();
    read.end(this.name);
    this.showState(world);
  }

  relabel(world: number, permutation: readonly number[]): void {
    const { seats } = this.shape;
    requirePermutation(permutation, seats);
    for (const [array, width] of this.perPlace()) permuteBlocks(array, world * seats * width, width, permutation);
    const were = this.streams.slice(world * seats, (world + 1) * seats);
    for (let seat = 0; seat < seats; seat++) this.streams[world * seats + seat] = were[permutation[seat]];
    this.showState(world);
  }

  relabelObservation(observation: Float32Array): Float32Array {
    // A seat sees nothing of the others.
    return observation.slice();
  }

  private perPlace(): [Float64Array | Float32Array | Int32Array | Uint8Array, number][] {
    const { observation, candidates, features } = this.shape;
    return [
      [this.memory, this.words],
      [this.acting, 1],
      [this.obs, observation],
      [this.numActions, 1],
      [this.subset, candidates],
      [this.legal, candidates],
      [this.candidateFeatures, candidates * features],
      [this.reward, 1],
      [this.terminated, 1],
      [this.truncated, 1],
    ];
  }

  private showState(world: number): void {
    const width = this.shape.seats * this.shape.observation;
    for (let i = world * width; i < (world + 1) * width; i++) this.state[i] = this.obs[i];
  }
}
