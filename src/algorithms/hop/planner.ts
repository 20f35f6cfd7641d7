/** Tree search for one HOP+ agent: in its own world model or in the game's rules, with its own models of the others. At every node its policy sees what it would see in play. */
import type { Game, GameMaker } from '../../games/game.ts';
import { told } from '../../language/language.ts';
import type { RandomStream } from '../../math/random.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { RationalChoice, rationalityOf } from '../hop-planner/choice.ts';
import { LearntWorlds } from '../hop-planner/learnt-world.ts';
import { drawn } from '../hop-planner/moves.ts';
import type { OthersModel, SearchMind } from '../hop-planner/order.ts';
import { Search } from '../hop-planner/search.ts';
import type { PlannerSettings } from '../hop-planner/settings.ts';
import type { Learner } from '../learner.ts';
import type { Asked } from '../play.ts';
import type { HopAgent, View } from './agent.ts';
import { copyRow } from './modules/ring.ts';
import type { HopSettings } from './settings.ts';

/** Places that wait for a move, and what those who sit there remember. */
export interface Searched extends Pick<Asked, 'out' | 'uniforms'> {
  readonly game: Game;
  readonly learner: Learner;
  readonly place: Int32Array;
  readonly length: number;
  /** Share of moves drawn at random. */
  readonly noise: number;
  /** What the player that `place` sees as number p did last; -1 where that is nothing. */
  recent(place: number, p: number): number;
  /** Per place. */
  readonly trace: Float32Array;
  stream(place: number): RandomStream;
}

/** Where moves are tried out, or one sentence that says why they cannot be. */
export function searchWorlds(hop: HopSettings, agent: HopAgent, game: Game, make: GameMaker): GameMaker {
  if (hop.planner === 'rules') {
    if (game.take) return make;
    throw new BadInput(
      told(
        `hop.planner=rules tries moves out in the game, and ${game.name} cannot be copied; use hop.planner=learnt`,
        `hop.planner=rules 要在游戏里试走，而 ${game.name} 不能复制；请用 hop.planner=learnt`,
      ),
    );
  }
  const { worldModel, planes } = agent;
  if (!worldModel)
    throw new BadInput(
      told(
        'hop.planner=learnt searches in the world model, which is left out; add --without none, or use hop.planner=rules',
        'hop.planner=learnt 在世界模型里搜索，而它被去掉了；请加 --without none，或用 hop.planner=rules',
      ),
    );
  return (worlds) => new LearntWorlds(game, worlds, { planes, model: worldModel }) as unknown as Game;
}

export class HopPlanner implements SearchMind, OthersModel {
  private readonly search: Search;
  private readonly choice: RationalChoice;
  private worlds: LearntWorlds | null = null;
  private asked: Searched | null = null;
  private iteration = 0;
  private values = new Float64Array(0);
  /** Per node: whose it is, everybody's latest actions and the trace of its history, as the one who searches sees them, and the others' likely choices. */
  private seat = new Int32Array(0);
  private recent = new Int32Array(0);
  private trace = new Float32Array(0);
  private others = new Float32Array(0);
  /** What the modules read, for nodes that are looked at together. */
  private view: View;
  /** Per row that was put: where the other's choices begin. */
  private readonly from: number[] = [];
  readonly probabilities: Float64Array;

  constructor(
    private readonly agent: HopAgent,
    make: GameMaker,
    private readonly settings: PlannerSettings,
    private readonly gamma: number,
  ) {
    const { planes } = agent;
    const { actions } = planes;
    this.search = new Search((worlds) => this.room(make(worlds)), settings);
    this.choice = new RationalChoice(actions);
    this.probabilities = new Float64Array(actions);
    this.view = {
      states: planes.states(0),
      recent: new Int32Array(0),
      mask: new Int32Array(0),
      trace: new Float32Array(0),
    };
  }

  /** Searches for the moves of all places that were asked about, and chooses. */
  decide(asked: Searched, iteration: number): void {
    const { actions, players } = this.agent.planes;
    const { learner, game, place, length } = asked;
    if (this.values.length < length * actions) this.values = new Float64Array(length * actions);
    this.asked = asked;
    this.iteration = iteration;
    this.search.run({
      game,
      places: place,
      count: length,
      learner,
      eyes: (at) => at % players,
      model: this.agent.otherAgents ? this : null,
      mind: this,
      gamma: this.gamma,
      values: this.values,
      agentAt: (at) => at % players,
      stream: (at) => asked.stream(at),
      // The models of the others know no goals.
      drawGoal: () => 0,
    });
    const scale = rationalityOf(this.settings.rationality, learner);
    for (let i = 0; i < length; i++) this.choice.draw(this.values, i, scale, asked.noise, asked);
  }

  private room(sim: Game): Game {
    const { planes, traceWidth } = this.agent;
    const { players, actions } = planes;
    const nodes = sim.worlds;
    this.worlds = (sim as unknown) instanceof LearntWorlds ? (sim as unknown as LearntWorlds) : null;
    this.seat = new Int32Array(nodes);
    this.recent = new Int32Array(nodes * players);
    this.trace = new Float32Array(nodes * traceWidth);
    this.others = new Float32Array(nodes * (players - 1) * actions);
    this.view = {
      states: planes.states(nodes),
      recent: new Int32Array(nodes * players),
      mask: new Int32Array(nodes * players),
      trace: new Float32Array(nodes * traceWidth),
    };
    return sim;
  }

  root(node: number, place: number): void {
    const { players } = this.agent.planes;
    const { recent, trace } = this.asked!;
    this.seat[node] = place % players;
    if (this.worlds) this.worlds.eye[node] = place % players;
    for (let p = 0; p < players; p++) this.recent[node * players + p] = recent(place, p);
    copyRow(trace, place, this.trace, node, this.agent.traceWidth);
  }

  follow(sim: Game, from: number, into: number, seat: number, actions: Int32Array): void {
    const { planes, traceWidth, subgoals } = this.agent;
    const { players, observation } = planes;
    this.seat[into] = seat;
    for (let p = 0; p < players; p++) {
      const there = (seat + p) % players;
      this.recent[into * players + p] = sim.acting[from * players + there] === 1 ? actions[into * players + there] : -1;
    }
    if (!subgoals) return;
    copyRow(this.trace, from, this.trace, into, traceWidth);
    planes.parse(sim.obs, (from * players + seat) * observation, this.view.states, 0);
    subgoals.follow(this.view.states, 0, this.recent, into * players, this.trace, into * traceWidth);
  }

  extend(sim: Game, nodes: Int32Array, seats: Int32Array, count: number, inputs: Float32Array, stride: number): void {
    const { agent, view } = this;
    const { planes, traceWidth } = agent;
    const { players, observation, stateWidth, actions } = planes;
    for (let i = 0; i < count; i++) {
      const node = nodes[i];
      planes.parse(sim.obs, (node * players + seats[i]) * observation, view.states, i * stateWidth);
      copyRow(this.recent, node, view.recent, i, players);
      copyRow(this.trace, node, view.trace, i, traceWidth);
      for (let p = 0; p < players; p++) {
        const there = node * players + ((seats[i] + p) % players);
        const known = view.states[i * stateWidth + p] !== planes.nowhere && sim.acting[there] === 1;
        let bits = 0;
        if (known) for (let a = 0; a < actions; a++) bits |= sim.legal[there * actions + a] << a;
        view.mask[i * players + p] = bits;
      }
    }
    agent.extend(view, count, this.iteration, inputs, stride);
    if (!agent.otherAgents) return;
    // What the policy was shown of the others is what their moves are drawn from.
    const { width } = agent.otherAgents;
    const shown = agent.fed ? inputs : new Float32Array(count * width);
    if (!agent.fed) agent.otherAgents.predict(view.states, count, view.recent, view.mask, shown);
    for (let i = 0; i < count; i++) {
      const at = agent.fed ? i * stride + observation : i * width;
      for (let k = 0; k < width; k++) this.others[nodes[i] * width + k] = shown[at + k];
    }
  }

  begin(): void {}

  put(i: number, _obs: Float32Array, at: number): void {
    const { players, actions, observation } = this.agent.planes;
    const place = at / observation;
    const node = Math.floor(place / players);
    const other = ((place % players) - this.seat[node] + players) % players;
    this.from[i] = (node * (players - 1) + other - 1) * actions;
  }

  forward(): void {}

  /** Only what is legal is drawn; where nothing legal was foreseen, every legal move is as likely. */
  draw(i: number, legal: ArrayLike<number>, at: number, uniform: number): number {
    const { probabilities } = this;
    const { actions } = this.agent.planes;
    let sum = 0;
    let count = 0;
    for (let a = 0; a < actions; a++) {
      probabilities[a] = legal[at + a] === 1 ? this.others[this.from[i] + a] : 0;
      count += legal[at + a];
      sum += probabilities[a];
    }
    for (let a = 0; a < actions; a++)
      probabilities[a] = sum > 0 ? probabilities[a] / sum : legal[at + a] === 1 ? 1 / count : 0;
    return drawn(probabilities, actions, uniform);
  }
}
