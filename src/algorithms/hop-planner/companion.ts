/** Agents that plan, at play: they search for their moves, and everybody's moves and goals become beliefs and rows for the models. Beliefs are about agents, wherever they sit. */
import type { Batch } from '../../batch/batch.ts';
import type { Game } from '../../games/game.ts';
import { RandomStream } from '../../math/random.ts';
import { legalBits } from '../hop/companion.ts';
import type { Learner } from '../learner.ts';
import type { Asked, AskedPlaces, Companion, Play } from '../play.ts';
import { Beliefs } from './beliefs.ts';
import { RationalChoice, rationalityOf } from './choice.ts';
import type { LearntRules } from './learnt-world.ts';
import { type GoalModel, type MovesRing, neverImpossible, OpenMoves } from './models.ts';
import { PlannerNotes, type SearchNotes } from './notes.ts';
import { Search } from './search.ts';
import type { PlannerSettings } from './settings.ts';
import type { PlannerStages } from './stages.ts';

/** What a companion needs of its crew. */
export interface Planners {
  readonly settings: PlannerSettings;
  readonly gamma: number;
  readonly seed: number;
  readonly names: readonly string[];
  readonly stages: PlannerStages;
  /** The iteration under way. */
  readonly iteration: number;
  /** Worlds to try moves out in. */
  readonly make: (worlds: number) => Game;
  /** What is learnt of the rules, where they are not known. */
  readonly rules: LearntRules | null;
  /** The model of a learner's others; null where they are taken to choose at random, undefined where the learner is another crew's. */
  modelOf(learner: number): GoalModel | null | undefined;
  /** The agents that plan, with their learners. */
  readonly observers: readonly { readonly agent: number; readonly learner: number }[];
}

export class PlannerCompanion implements Companion {
  readonly beliefs: Beliefs;
  private readonly search: Search;
  private readonly open: OpenMoves | null;
  /** Per place: the stream of its searches. */
  private readonly streams: (RandomStream | null)[];
  private readonly begun: Int32Array;
  private values = new Float64Array(0);
  private readonly choice: RationalChoice;
  private readonly likelihood: Float64Array;
  /** What is recorded beside the rows; null where nothing is learnt. */
  private readonly noted: PlannerNotes | null;
  /** The notes of the step before were copied into their rows. */
  private copied = false;
  /** Of the latest search of each place: the chances that it gave to the others' next moves. */
  private readonly chances: Float64Array;
  private readonly drawnGoals: Int32Array;
  private searchNotes: SearchNotes = {
    root: new Float64Array(0),
    goals: new Int32Array(0),
    chances: new Float64Array(0),
  };
  /** Per world: whether the episode is played to be judged. Per agent: what such episodes paid, and how many began. */
  private readonly judged: Uint8Array;
  private readonly paid: Float64Array;
  private readonly episodes: Int32Array;
  /** The learner of every agent that was asked for a decision. */
  private readonly learners: (Learner | undefined)[] = [];
  /** Of the latest iteration: moves that were searched for, and the sum of the entropies of what was chosen from. */
  searched = 0;
  entropy = 0;

  /** `moves` takes what the models learn from; null where nothing is learnt. */
  constructor(
    private readonly crew: Planners,
    game: Game,
    private readonly moves: MovesRing | null,
  ) {
    const { seats, observation, actions } = game.shape;
    const { settings, names } = crew;
    this.beliefs = new Beliefs(game.worlds, names.length, game.goals!.length, settings.horizonWeight);
    this.search = new Search(crew.make, settings);
    this.open = moves ? new OpenMoves(game.worlds * seats, observation, settings.models.window) : null;
    this.streams = new Array<RandomStream | null>(game.worlds * seats).fill(null);
    this.begun = new Int32Array(game.worlds);
    this.choice = new RationalChoice(actions);
    const places = game.worlds * seats;
    const goals = game.goals!.length;
    this.likelihood = new Float64Array(goals);
    this.noted = moves ? new PlannerNotes(places, names.length, goals, actions) : null;
    this.chances = new Float64Array(places * seats * actions);
    this.drawnGoals = new Int32Array(places * seats);
    this.judged = new Uint8Array(game.worlds);
    this.paid = new Float64Array(names.length);
    this.episodes = new Int32Array(names.length);
  }

  get notes() {
    return this.noted?.columns;
  }

  /** Mean return of the episodes in which an agent drew no move at random, since this was last asked; NaN where there were none. */
  judgedReturn(agent: number): number {
    const mean = this.episodes[agent] > 0 ? this.paid[agent] / this.episodes[agent] : Number.NaN;
    this.paid[agent] = this.episodes[agent] = 0;
    return mean;
  }

  widthOf(): number {
    return 0;
  }

  extend(): void {}

  begin(play: Play, world: number): void {
    const { seats } = play.game.shape;
    const { seed, names, stages } = this.crew;
    stages.begin(this.beliefs, world);
    const number = this.begun[world]++;
    // What was begun in an earlier iteration is counted with it, so that a mean is over whole episodes as far as they have come.
    this.judged[world] = RandomStream.of(seed, 'judged', world, number).uniform() < this.crew.settings.judged ? 1 : 0;
    for (let place = world * seats; place < (world + 1) * seats; place++) {
      const name = names[play.agentAt[place]];
      this.streams[place] = RandomStream.of(seed, 'search', name, this.moves ? 'train' : 'play', world, number);
      if (this.open) this.open.count[place] = 0;
      if (this.judged[world] === 1) this.episodes[play.agentAt[place]]++;
    }
  }

  decide(play: Play, asked: Asked & AskedPlaces): void {
    const { crew, beliefs } = this;
    const { stages } = crew;
    const model = crew.modelOf(asked.learner.index);
    if (model === undefined || !asked.learner.searches || asked.length === 0) return;
    if (this.copied) this.noted?.clear();
    this.copied = false;
    const { game, agentAt } = play;
    const { seats, actions } = game.shape;
    const uniform = crew.settings.without.includes('beliefs');
    if (this.values.length < asked.length * actions) {
      this.values = new Float64Array(asked.length * actions);
      this.searchNotes = {
        root: new Float64Array(asked.length),
        goals: new Int32Array(asked.length * seats),
        chances: new Float64Array(asked.length * seats * actions),
      };
    }
    for (let i = 0; i < asked.length; i++) this.learners[agentAt[asked.place[i]]] = asked.learner;
    const by = (place: number) => stages.valuedBy(agentAt[place]);
    this.search.run({
      game,
      places: asked.place,
      count: asked.length,
      learner: this.learners[by(asked.place[0])] ?? asked.learner,
      eyes: (place) => seatOf(agentAt, place - (place % seats), seats, by(place)) ?? place % seats,
      model: model && stages.model(model, crew.iteration),
      ...(this.noted ? { notes: this.searchNotes } : {}),
      gamma: crew.gamma,
      values: this.values,
      agentAt: (place) => agentAt[place],
      stream: (place) => this.streams[place]!,
      drawGoal: (place, seat, chance) => {
        if (uniform) return Math.floor(chance * beliefs.goals);
        const world = Math.floor(place / seats);
        const other = agentAt[world * seats + seat];
        return beliefs.draw(stages.belief(beliefs, world, agentAt[place], other), chance);
      },
    });
    if (this.noted) this.note(play, asked, this.noted);
    this.choose(asked, game);
  }

  private note({ agentAt, game }: Play, asked: AskedPlaces, noted: PlannerNotes): void {
    const { crew, beliefs, searchNotes } = this;
    const { seats, actions } = game.shape;
    for (let i = 0; i < asked.length; i++) {
      const place = asked.place[i];
      const world = Math.floor(place / seats);
      const agent = agentAt[place];
      noted.row('judged', place, this.judged[world]);
      noted.row('search_root', place, searchNotes.root[i]);
      noted.moves(place, this.values, i * actions);
      noted.planned(place, agent, beliefs, world, (other) => crew.stages.belief(beliefs, world, agent, other));
      const chances = searchNotes.chances.subarray(i * seats * actions, (i + 1) * seats * actions);
      this.chances.set(chances, place * seats * actions);
      this.drawnGoals.set(searchNotes.goals.subarray(i * seats, (i + 1) * seats), place * seats);
    }
  }

  private choose(asked: Asked & AskedPlaces, game: Game): void {
    const { rationality, noise } = this.crew.settings;
    const scale = rationalityOf(rationality, asked.learner);
    for (let i = 0; i < asked.length; i++) {
      const judged = this.judged[Math.floor(asked.place[i] / game.shape.seats)] === 1;
      const share = this.crew.stages.explores(this.moves !== null, judged) ? noise : 0;
      this.noted?.row('rationality', asked.place[i], scale);
      this.entropy += this.choice.draw(this.values, i, scale, share, asked);
      this.searched++;
    }
  }

  decided(play: Play, _batch: Batch): void {
    const { game, actions, agentAt } = play;
    if (this.open) {
      this.crew.rules?.decided(play);
      const { observation } = game.shape;
      for (let place = 0; place < play.places; place++)
        if (game.acting[place] === 1 && play.present[place] === 1)
          this.open.add(place, game.obs, place * observation, actions[place], legalBits(game, place));
    }
    if (this.crew.settings.without.includes('beliefs')) return;
    for (const { agent, learner } of this.crew.observers) {
      const model = this.crew.modelOf(learner);
      if (model) this.follow(play, agent, model, agentAt);
    }
  }

  /** Bayes' rule for everything that `observer` has seen the others do in this step. */
  private follow(play: Play, observer: number, model: GoalModel, agentAt: Int32Array): void {
    const { game, actions } = play;
    const { seats, observation, candidates } = game.shape;
    const { beliefs } = this;
    const { goals } = beliefs;
    const acts = (place: number) =>
      game.acting[place] === 1 && play.present[place] === 1 && agentAt[place] !== observer;
    let rows = 0;
    model.begin(play.places * goals);
    for (let place = 0; place < play.places; place++) {
      if (!acts(place)) continue;
      for (let g = 0; g < goals; g++) model.put(rows++, game.obs, place * observation, g, agentAt[place]);
    }
    model.forward(rows);
    rows = 0;
    for (let place = 0; place < play.places; place++) {
      if (!acts(place)) continue;
      for (let g = 0; g < goals; g++)
        this.likelihood[g] = model.chance(rows++, game.legal, place * candidates, actions[place]);
      const world = Math.floor(place / seats);
      this.crew.stages.see(beliefs, beliefs.at(world, observer, agentAt[place]), this.likelihood);
      if (this.noted) this.noteMove(play, world, observer, place, this.noted);
    }
  }

  /** The move at `place`, as the observer's model and its search had it. */
  private noteMove(
    { agentAt, game, actions }: Play,
    world: number,
    observer: number,
    place: number,
    noted: PlannerNotes,
  ): void {
    const { seats, candidates, actions: moves } = game.shape;
    const own = seatOf(agentAt, world * seats, seats, observer);
    if (own === null) return;
    const row = world * seats + own;
    if (game.acting[row] === 0) return;
    const other = agentAt[place];
    const seat = place % seats;
    let legal = 0;
    for (let a = 0; a < candidates; a++) legal += game.legal[place * candidates + a];
    noted.belief('likelihood', row, observer, other, this.likelihood, 0);
    noted.other('drawn_goal', row, observer, other, this.drawnGoals[row * seats + seat]);
    const chance = this.chances[(row * seats + seat) * moves + actions[place]];
    noted.other('foreseen', row, observer, other, neverImpossible(chance, legal));
  }

  stepped(play: Play): void {
    this.copied = true;
    if (this.open) this.crew.rules?.stepped(play);
    const { game, agentAt } = play;
    const { seats } = game.shape;
    for (let place = 0; place < play.places; place++) {
      const reached = game.goal![place];
      this.noted?.row('goal', place, reached);
      if (play.present[place] === 0) continue;
      if (this.judged[Math.floor(place / seats)] === 1) this.paid[agentAt[place]] += game.reward[place];
      if (reached < 0) continue;
      const goal = this.crew.stages.label(reached, this.beliefs.goals);
      this.beliefs.reached(Math.floor(place / seats), agentAt[place], goal);
      if (this.open && this.moves) this.open.label(place, agentAt[place], goal, this.moves);
    }
  }

  save() {
    return {
      now: this.beliefs.now.slice(),
      prior: this.beliefs.prior.slice(),
      begun: this.begun.slice(),
      judged: this.judged.slice(),
      streams: Float64Array.from(this.streams.flatMap((stream) => stream?.state() ?? [0, 0, 0, 0])),
      open: this.open?.save() ?? null,
    };
  }

  load(saved: ReturnType<PlannerCompanion['save']>): void {
    this.beliefs.now.set(saved.now);
    this.beliefs.prior.set(saved.prior);
    this.begun.set(saved.begun);
    this.judged.set(saved.judged);
    this.streams.forEach((_, place) => {
      this.streams[place] = RandomStream.fromState(Array.from(saved.streams.subarray(4 * place, 4 * place + 4)));
    });
    if (saved.open) this.open?.load(saved.open);
  }
}

/** The seat that an agent has in the world whose first place this is; null where it has none. */
function seatOf(agentAt: Int32Array, first: number, seats: number, agent: number): number | null {
  for (let seat = 0; seat < seats; seat++) if (agentAt[first + seat] === agent) return seat;
  return null;
}
