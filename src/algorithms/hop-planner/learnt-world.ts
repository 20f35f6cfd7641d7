/** A game as HOP+'s world model believes it to be: worlds that a search can copy and step, without the game's rules. A state is kept as one seat sees it, the first unless it is told otherwise. How long an episode may last is not known here. */
import { GameArrays } from '../../games/arrays.ts';
import type { Game } from '../../games/game.ts';
import { RandomStream } from '../../math/random.ts';
import type { Engine, PolicySave } from '../../net/types.ts';
import { legalBits } from '../hop/companion.ts';
import { Planes, type StateArray } from '../hop/modules/planes.ts';
import { bytes, copyRow, floats, ints, Ring } from '../hop/modules/ring.ts';
import { emptyPrediction } from '../hop/modules/world-columns.ts';
import { WorldModel } from '../hop/modules/world-model.ts';
import type { HopSettings } from '../hop/settings.ts';
import type { Play } from '../play.ts';

/** What the planners of a run have learnt of the game's rules, from what happened to anybody. */
export class LearntRules {
  readonly planes: Planes;
  readonly model: WorldModel;
  private readonly steps;
  /** Per world: the row of the step under way; -1 where there is none. */
  private readonly open: Int32Array;

  constructor(
    engine: Engine,
    game: Game,
    private readonly settings: HopSettings,
    private readonly seed: number,
  ) {
    this.planes = new Planes(game.planes!, game.shape.actions);
    this.model = new WorldModel(engine, this.planes, settings, seed, 'planner');
    const { players, stateWidth } = this.planes;
    const state = (this.planes.cells < 256 ? bytes : ints) as (size: number) => StateArray;
    this.steps = new Ring(settings.worldModel.capacity, {
      state: { make: state, width: stateWidth },
      next: { make: state, width: stateWidth },
      action: { make: ints, width: players },
      mask: { make: ints, width: players },
      nextMask: { make: ints, width: players },
      reward: { make: floats, width: players },
      end: { make: bytes, width: 1 },
    });
    this.open = new Int32Array(game.worlds).fill(-1);
  }

  /** More worlds of the game as it is believed to be. */
  make(game: Game): (worlds: number) => Game {
    return (worlds) => new LearntWorlds(game, worlds, this) as unknown as Game;
  }

  /** Everybody has chosen. */
  decided({ game, actions }: Play): void {
    const { columns } = this.steps;
    const { players, stateWidth } = this.planes;
    const { seats, observation } = game.shape;
    for (let world = 0; world < game.worlds; world++) {
      this.open[world] = -1;
      const first = world * seats;
      if (game.over[world] === 1) continue;
      const row = this.steps.push();
      this.open[world] = row;
      this.planes.parse(game.obs, first * observation, columns.state, row * stateWidth);
      for (let seat = 0; seat < seats; seat++) {
        const acts = game.acting[first + seat] === 1;
        columns.action[row * players + seat] = acts ? actions[first + seat] : -1;
        columns.mask[row * players + seat] = acts ? legalBits(game, first + seat) : 0;
      }
    }
  }

  stepped({ game }: Play): void {
    const { columns } = this.steps;
    const { players, stateWidth } = this.planes;
    const { seats, observation } = game.shape;
    for (let world = 0; world < game.worlds; world++) {
      const row = this.open[world];
      if (row < 0) continue;
      const first = world * seats;
      this.planes.parse(game.obs, first * observation, columns.next, row * stateWidth);
      let cut = false;
      for (let seat = 0; seat < seats; seat++) {
        columns.nextMask[row * players + seat] = game.acting[first + seat] === 1 ? legalBits(game, first + seat) : 0;
        columns.reward[row * players + seat] = game.reward[first + seat];
        if (game.truncated[first + seat] === 1) cut = true;
      }
      columns.end[row] = game.over[world] === 1 && !cut ? 1 : 0;
    }
  }

  /** The mean loss; NaN where too little was seen. */
  learn(iteration: number): number {
    const { updates, members, batch, early } = this.settings.worldModel;
    if (this.steps.size < batch) return Number.NaN;
    const stream = RandomStream.of(this.seed, 'hop-planner', 'world-model', iteration);
    const wanted = iteration < early ? updates : Math.ceil(updates / 4);
    let sum = 0;
    for (let update = 0; update < wanted; update++)
      for (let member = 0; member < members; member++)
        sum += this.model.learn(member, this.steps.columns, () => this.pick(stream), stream);
    return sum / (wanted * members);
  }

  /** Every other row is one in which somebody was paid, if a few draws find one. */
  private pick(stream: RandomStream): number {
    const { reward } = this.steps.columns;
    const { players } = this.planes;
    let row = stream.below(this.steps.size);
    if (stream.int32() < 0) return row;
    for (let draw = 0; draw < 4; draw++) {
      for (let p = 0; p < players; p++) if (reward[row * players + p] !== 0) return row;
      row = stream.below(this.steps.size);
    }
    return row;
  }

  save(): { model: PolicySave[]; steps: ReturnType<LearntRules['steps']['save']> } {
    return { model: this.model.save(), steps: this.steps.save() };
  }

  load(saved: ReturnType<LearntRules['save']>): void {
    this.model.load(saved.model);
    this.steps.load(saved.steps);
  }
}

/** Worlds that go on as the model says; each is one member's from its first step on. */
export class LearntWorlds extends GameArrays {
  /** Per world: the seat through whose eyes it is known. */
  readonly eye: Int32Array;
  private readonly states: StateArray;
  private readonly mask: Int32Array;
  private readonly turned: StateArray;
  private readonly asked: StateArray;
  private readonly actions: Int32Array;
  private readonly which: Int32Array;
  private readonly predicted = emptyPrediction();
  readonly name: string;

  constructor(
    game: Game,
    worlds: number,
    private readonly rules: Pick<LearntRules, 'planes' | 'model'>,
  ) {
    super(game.shape, worlds);
    this.name = game.name;
    const { planes } = rules;
    this.eye = new Int32Array(worlds);
    this.states = planes.states(worlds);
    this.mask = new Int32Array(worlds * planes.players);
    this.turned = planes.states(1);
    this.asked = planes.states(worlds);
    this.actions = new Int32Array(worlds * planes.players);
    this.which = new Int32Array(worlds);
  }

  take(from: Game | LearntWorlds, world: number, into: number): void {
    const { planes } = this.rules;
    const { players, stateWidth } = planes;
    if (from instanceof LearntWorlds) {
      copyRow(from.states, world, this.states, into, stateWidth);
      copyRow(from.mask, world, this.mask, into, players);
      this.eye[into] = from.eye[world];
    } else {
      const eye = world * players + this.eye[into];
      planes.parse(from.obs, eye * this.shape.observation, this.states, into * stateWidth);
      for (let seat = 0; seat < players; seat++)
        this.mask[into * players + seat] =
          from.acting[world * players + seat] === 1 ? legalBits(from, world * players + seat) : 0;
    }
    this.over[into] = 0;
    this.show(into);
  }

  /** Steps every world that is not over, with one member each, so that what one is wrong about is not wrong in every tree. */
  step(actions: ArrayLike<number>): void {
    const { planes, model } = this.rules;
    const { players, stateWidth } = planes;
    for (let member = 0; member < model.members.length; member++) {
      let count = 0;
      for (let world = member; world < this.worlds; world += model.members.length) {
        if (this.over[world] === 1) continue;
        this.which[count] = world;
        copyRow(this.states, world, this.asked, count, stateWidth);
        for (let p = 0; p < players; p++) {
          const place = world * players + ((this.eye[world] + p) % players);
          this.actions[count * players + p] = this.acting[place] === 1 ? actions[place] : -1;
        }
        count++;
      }
      if (count === 0) continue;
      model.step(member, this.asked, count, this.actions, this.predicted);
      for (let i = 0; i < count; i++) this.enter(this.which[i], i);
    }
  }

  private enter(world: number, i: number): void {
    const { planes } = this.rules;
    const { players, stateWidth } = planes;
    const { predicted } = this;
    const ended = predicted.end[i] === 1;
    for (let p = 0; p < players; p++) {
      const place = world * players + ((this.eye[world] + p) % players);
      const was = this.acting[place] === 1;
      const left = predicted.next[i * stateWidth + players + p] === 0;
      this.reward[place] = predicted.reward[i * players + p];
      this.terminated[place] = was && (left || ended) ? 1 : 0;
      // Who can do nothing goes no further, and is worth what the critic says.
      this.truncated[place] = was && !left && !ended && predicted.nextMask[i * players + p] === 0 ? 1 : 0;
      this.mask[place] = left || ended ? 0 : predicted.nextMask[i * players + p];
    }
    copyRow(predicted.next, i, this.states, world, stateWidth);
    this.show(world);
  }

  /** What every seat sees: the same state with the players numbered from it on. */
  private show(world: number): void {
    const { planes } = this.rules;
    const { players, stateWidth } = planes;
    const { actions, observation } = this.shape;
    this.turned.set(this.states.subarray(world * stateWidth, (world + 1) * stateWidth));
    for (let seat = 0; seat < players; seat++) {
      const place = world * players + seat;
      for (let p = 0; p < players; p++) {
        const other = (seat + p - this.eye[world] + players) % players;
        this.turned[p] = this.states[world * stateWidth + other];
        this.turned[players + p] = this.states[world * stateWidth + players + other];
      }
      planes.write(this.turned, 0, this.obs, place * observation);
      this.acting[place] = this.mask[place] === 0 ? 0 : 1;
      for (let a = 0; a < actions; a++) this.legal[place * actions + a] = (this.mask[place] >> a) & 1;
    }
  }
}
