/** Agents that plan, at play: they search for their moves, and everybody's moves and goals become beliefs and rows for the models. Beliefs are about agents, wherever they sit. */
import type { Batch } from '../../batch/batch.ts';
import type { Game } from '../../games/game.ts';
import { RandomStream } from '../../math/random.ts';
import { legalBits } from '../hop/companion.ts';
import type { Asked, AskedPlaces, Companion, Play } from '../play.ts';
import { Beliefs } from './beliefs.ts';
import { drawn, type GoalModel, type MovesRing, OpenMoves } from './models.ts';
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
  readonly make: (worlds: number) => Game;
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
  private readonly policy: Float64Array;
  private likelihood = new Float64Array(0);
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
    this.policy = new Float64Array(actions);
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
    for (let place = world * seats; place < (world + 1) * seats; place++) {
      const name = names[play.agentAt[place]];
      this.streams[place] = RandomStream.of(seed, 'search', name, this.moves ? 'train' : 'play', world, number);
      if (this.open) this.open.count[place] = 0;
    }
  }

  decide(play: Play, asked: Asked & AskedPlaces): void {
    const { crew, beliefs } = this;
    const model = crew.modelOf(asked.learner.index);
    if (model === undefined || !asked.learner.searches) return;
    const { game, agentAt } = play;
    const { seats, actions } = game.shape;
    const uniform = crew.settings.without.includes('beliefs');
    if (this.values.length < asked.length * actions) this.values = new Float64Array(asked.length * actions);
    this.search.run({
      game,
      places: asked.place,
      count: asked.length,
      learner: asked.learner,
      model,
      gamma: crew.gamma,
      values: this.values,
      agentAt: (place) => agentAt[place],
      stream: (place) => this.streams[place]!,
      drawGoal: (place, seat, chance) => {
        if (uniform) return Math.floor(chance * beliefs.goals);
        const world = Math.floor(place / seats);
        const other = agentAt[world * seats + seat];
        return beliefs.draw(crew.stages.belief(beliefs, world, agentAt[place], other), chance);
      },
    });
    this.choose(asked, game);
  }

  /** The Boltzmann-rational policy of the values: exp(beta Q) / Z. What it was drawn from is what the row keeps. */
  private choose(asked: Asked & AskedPlaces, game: Game): void {
    const { values, policy } = this;
    const { actions } = game.shape;
    const { rationality, noise } = this.crew.settings;
    const { out, learner } = asked;
    const share = this.crew.stages.explores(this.moves !== null) ? noise : 0;
    const scale = rationality / Math.max(1e-6, learner.normaliser.spread);
    for (let i = 0; i < asked.length; i++) {
      const at = i * actions;
      let most = Number.NEGATIVE_INFINITY;
      for (let a = 0; a < actions; a++) most = Math.max(most, values[at + a]);
      let sum = 0;
      let legal = 0;
      for (let a = 0; a < actions; a++) {
        policy[a] = Math.exp(scale * (values[at + a] - most));
        if (values[at + a] > Number.NEGATIVE_INFINITY) legal++;
        sum += policy[a];
      }
      let entropy = 0;
      for (let a = 0; a < actions; a++) {
        if (!(values[at + a] > Number.NEGATIVE_INFINITY)) {
          out.logits[at + a] = 0;
          continue;
        }
        policy[a] = ((1 - share) * policy[a]) / sum + share / legal;
        // In single precision, as it is kept.
        out.logits[at + a] = Math.max(-30, Math.log(policy[a]));
        entropy -= policy[a] > 0 ? policy[a] * Math.log(policy[a]) : 0;
      }
      out.action[i] = drawn(policy, actions, asked.uniforms[i]);
      out.logp[i] = out.logits[at + out.action[i]];
      out.entropy[i] = entropy;
      this.searched++;
      this.entropy += entropy;
    }
  }

  decided(play: Play, _batch: Batch): void {
    const { game, actions, agentAt } = play;
    if (this.open) {
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
    if (this.likelihood.length < goals) this.likelihood = new Float64Array(goals);
    rows = 0;
    for (let place = 0; place < play.places; place++) {
      if (!acts(place)) continue;
      for (let g = 0; g < goals; g++)
        this.likelihood[g] = model.chance(rows++, game.legal, place * candidates, actions[place]);
      beliefs.see(beliefs.at(Math.floor(place / seats), observer, agentAt[place]), this.likelihood, 0);
    }
  }

  stepped(play: Play): void {
    const { game, agentAt } = play;
    const { seats } = game.shape;
    for (let place = 0; place < play.places; place++) {
      const reached = game.goal![place];
      if (reached < 0 || play.present[place] === 0) continue;
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
      streams: Float64Array.from(this.streams.flatMap((stream) => stream?.state() ?? [0, 0, 0, 0])),
      open: this.open?.save() ?? null,
    };
  }

  load(saved: ReturnType<PlannerCompanion['save']>): void {
    this.beliefs.now.set(saved.now);
    this.beliefs.prior.set(saved.prior);
    this.begun.set(saved.begun);
    this.streams.forEach((_, place) => {
      this.streams[place] = RandomStream.fromState(Array.from(saved.streams.subarray(4 * place, 4 * place + 4)));
    });
    if (saved.open) this.open?.load(saved.open);
  }
}
