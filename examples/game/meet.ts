/** A game of your own: two players on a line see how far apart they are, move at the same time, and are paid when they meet or pass. */
import type { RandomStream } from 'trueline';
import { assertGame, type Game, GameArrays, SavedNumbers } from 'trueline/games';
import { trainInto } from 'trueline/training/node';

const [cells, horizon] = [9, 16];

class Meet extends GameArrays implements Game {
  readonly name = 'meet';
  readonly settings = {};
  /** Per world: steps taken, where the two stand, whether they have met. */
  private readonly memory = new Float64Array(this.worlds * 4);
  private readonly streams: RandomStream[] = [];
  constructor(worlds: number) {
    super({ seats: 2, observation: 2, state: 3, actions: 3, candidates: 3, features: 0, horizon }, worlds);
    this.fillCandidates();
  }
  reset(world: number, stream: RandomStream): void {
    this.streams[world] = stream;
    const first = stream.below(cells);
    this.show(world, 0, first, (first + 1 + stream.below(cells - 1)) % cells, 0);
  }
  step(actions: Int32Array): void {
    for (let world = 0; world < this.worlds; world++) {
      if (this.over[world]) continue;
      const [steps, ...at] = this.memory.subarray(world * 4, world * 4 + 3);
      const to = at.map((cell, seat) => Math.min(cells - 1, Math.max(0, cell + actions[world * 2 + seat] - 1)));
      this.show(world, steps + 1, to[0], to[1], Number((at[1] - at[0]) * (to[1] - to[0]) <= 0));
    }
  }
  private show(world: number, steps: number, a: number, b: number, met: number): void {
    this.memory.set([steps, a, b, met], world * 4);
    this.state.set([a / cells, b / cells, steps / horizon], world * 3);
    this.over[world] = Number(met || steps === horizon);
    for (let place = world * 2; place < world * 2 + 2; place++) {
      const [own, other] = place % 2 ? [b, a] : [a, b];
      this.obs.set([own / cells, (other - own) / cells], place * 2);
      this.reward[place] = steps === 0 ? 0 : met ? 1 : -0.05;
      this.terminated[place] = met;
      this.truncated[place] = this.over[world] - met;
      this.acting[place] = 1 - this.over[world];
      this.numActions[place] = 3 * this.acting[place];
      this.legal.fill(this.acting[place], place * 3, place * 3 + 3);
    }
  }
  save(world: number): number[] {
    return [...this.streams[world].state(), ...this.memory.subarray(world * 4, world * 4 + 4)];
  }
  load(world: number, saved: readonly number[]): void {
    const read = new SavedNumbers(saved);
    this.streams[world] = read.stream();
    this.show(world, read.take(), read.take(), read.take(), read.take());
  }
}

const game = (worlds: number) => new Meet(worlds);
assertGame(game);
const run = await trainInto(process.argv[2], { game: 'meet', seed: 1, steps: 60_000, worlds: 32 }, { game });
for (const [agent, { mean }] of run.evaluate(2000, 2).entries()) console.log(`agent ${agent}: ${mean.toFixed(2)}`);
run.dispose();
