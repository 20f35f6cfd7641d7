/**
 * Monte-Carlo tree search for one agent's best response. The rules of the game are the model: a node is a world of a game of its own. The
 * others' goals are drawn once for each tree and their moves once for each edge. All trees advance together, one simulation at a time, so
 * that networks see many rows at once. Chance is drawn from the search's own stream: what the world will draw is not foreseen.
 */
import type { Game, GameMaker } from '../../games/game.ts';
import type { ActOutputs, DecisionRows } from '../../net/types.ts';
import { randomMove, softmax } from './moves.ts';
import type { SearchOrder } from './order.ts';
import type { PlannerSettings } from './settings.ts';

/** Trees that advance together; more of them would only take more memory. */
const together = 64;

export class Search {
  private readonly each: number;
  private readonly nodes: number;
  private sim: Game | null = null;
  private visits = new Int32Array(0);
  private sums = new Float64Array(0);
  private priors = new Float32Array(0);
  private children = new Int32Array(0);
  /** Per node: how it was reached, what that paid, and what it is worth by itself; ended where nothing can follow. */
  private parent = new Int32Array(0);
  private via = new Int32Array(0);
  private paid = new Float64Array(0);
  private worth = new Float64Array(0);
  private ended = new Uint8Array(0);
  /** Per tree: the goal of every seat, how many nodes there are, the node to be evaluated, and the range of values seen. */
  private goals = new Int32Array(0);
  private size = new Int32Array(0);
  private leaf = new Int32Array(0);
  private low = new Float64Array(0);
  private high = new Float64Array(0);
  private actions = new Int32Array(0);
  private rows!: DecisionRows;
  private out!: Required<ActOutputs>;
  private uniforms = new Float32Array(0);
  private readonly waiting = new Int32Array(together);
  private readonly looking = new Int32Array(together);

  constructor(
    private readonly make: GameMaker,
    private readonly settings: PlannerSettings,
  ) {
    this.each = Math.max(1, Math.round(settings.simulations / settings.samples));
    this.nodes = this.each + 1;
  }

  run(order: SearchOrder): void {
    const { samples } = this.settings;
    const most = Math.max(1, Math.floor(together / samples));
    for (let first = 0; first < order.count; first += most)
      this.search(order, first, Math.min(order.count, first + most));
  }

  private reserve(trees: number, width: number): Game {
    if (this.sim && this.size.length >= trees) return this.sim;
    const worlds = trees * this.nodes;
    const sim = this.make(worlds);
    const { seats, actions } = sim.shape;
    this.sim = sim;
    this.visits = new Int32Array(worlds * actions);
    this.sums = new Float64Array(worlds * actions);
    this.priors = new Float32Array(worlds * actions);
    this.children = new Int32Array(worlds * actions);
    this.parent = new Int32Array(worlds);
    this.via = new Int32Array(worlds);
    this.paid = new Float64Array(worlds);
    this.worth = new Float64Array(worlds);
    this.ended = new Uint8Array(worlds);
    this.goals = new Int32Array(trees * seats);
    this.size = new Int32Array(trees);
    this.leaf = new Int32Array(trees);
    this.low = new Float64Array(trees);
    this.high = new Float64Array(trees);
    this.actions = new Int32Array(worlds * seats);
    this.uniforms = new Float32Array(trees);
    this.rows = {
      length: 0,
      obs: new Float32Array(trees * width),
      state: new Float32Array(0),
      offsets: Int32Array.from({ length: trees + 1 }, (_, i) => i * actions),
      subset: Int32Array.from({ length: trees * actions }, (_, i) => i % actions),
      legal: new Uint8Array(trees * actions),
      candidateFeatures: new Float32Array(0),
    };
    const floats = (size: number) => new Float32Array(size);
    this.out = {
      action: new Int32Array(trees),
      logp: floats(trees),
      entropy: floats(trees),
      value: floats(trees),
      logits: floats(trees * actions),
    };
    return sim;
  }

  private search(order: SearchOrder, first: number, end: number): void {
    const { samples } = this.settings;
    const trees = (end - first) * samples;
    const sim = this.reserve(trees, order.learner.inputs);
    const { seats, actions } = sim.shape;
    const placeOf = (tree: number) => order.places[first + Math.floor(tree / samples)];
    for (let tree = 0; tree < trees; tree++) {
      const place = placeOf(tree);
      const root = tree * this.nodes;
      order.mind?.root(root, place);
      sim.take!(order.game, Math.floor(place / seats), root);
      // From here on all worlds of the tree draw from one stream, and nobody's future is looked at.
      const stream = order.stream(place);
      sim.redraw?.(root, stream);
      sim.over[root] = 1;
      this.begin(root, -1, 0);
      this.size[tree] = 1;
      this.leaf[tree] = root;
      this.low[tree] = Number.POSITIVE_INFINITY;
      this.high[tree] = Number.NEGATIVE_INFINITY;
      for (let seat = 0; seat < seats; seat++)
        if (seat !== place % seats) this.goals[tree * seats + seat] = order.drawGoal(place, seat, stream.uniform());
    }
    this.evaluate(order, trees, placeOf);
    this.note(order, first, trees);
    for (let simulation = 0; simulation < this.each; simulation++) {
      for (let tree = 0; tree < trees; tree++) this.select(tree, placeOf(tree) % seats);
      this.advance(order, trees, placeOf, simulation === 0 ? first : -1);
      this.evaluate(order, trees, placeOf);
      for (let tree = 0; tree < trees; tree++) this.backUp(tree, order.gamma);
    }
    for (let tree = 0; tree < trees; tree += samples) {
      const place = placeOf(tree);
      const to = (first + tree / samples) * actions;
      for (let a = 0; a < actions; a++) {
        order.values[to + a] = Number.NEGATIVE_INFINITY;
        if (order.game.legal[place * actions + a] !== 1) continue;
        let sum = 0;
        for (let s = tree; s < tree + samples; s++) sum += this.mean(s * this.nodes, a);
        order.values[to + a] = sum / samples;
      }
    }
  }

  private note({ notes }: SearchOrder, first: number, trees: number): void {
    if (!notes) return;
    const { seats } = this.sim!.shape;
    const { samples } = this.settings;
    for (let tree = 0; tree < trees; tree += samples) {
      const i = first + tree / samples;
      notes.root[i] = this.worth[tree * this.nodes];
      for (let seat = 0; seat < seats; seat++) notes.goals[i * seats + seat] = this.goals[tree * seats + seat];
    }
  }

  private begin(node: number, parent: number, via: number): void {
    const actions = this.sim!.shape.actions;
    this.visits.fill(0, node * actions, (node + 1) * actions);
    this.sums.fill(0, node * actions, (node + 1) * actions);
    this.children.fill(-1, node * actions, (node + 1) * actions);
    this.parent[node] = parent;
    this.via[node] = via;
    this.paid[node] = 0;
    this.worth[node] = 0;
    this.ended[node] = 0;
  }

  /** What a move was worth; a move that was never tried is worth what the state is. */
  private mean(node: number, action: number): number {
    const at = node * this.sim!.shape.actions + action;
    return this.visits[at] > 0 ? this.sums[at] / this.visits[at] : this.worth[node];
  }

  /** Goes down the tree to a node that ended, or makes a new one. */
  private select(tree: number, seat: number): void {
    const sim = this.sim!;
    const { actions } = sim.shape;
    let node = tree * this.nodes;
    while (this.ended[node] === 0) {
      const action = this.choose(tree, node, seat);
      const child = this.children[node * actions + action];
      if (child < 0) {
        const made = tree * this.nodes + this.size[tree]++;
        this.children[node * actions + action] = made;
        this.begin(made, node, action);
        this.leaf[tree] = made;
        return;
      }
      node = child;
    }
    this.leaf[tree] = node;
  }

  /** Q + c P sqrt(N) / (1 + n), with values brought to 0 .. 1 by the range that the tree has seen; at the root every move is tried once. */
  private choose(tree: number, node: number, seat: number): number {
    const sim = this.sim!;
    const { seats, actions } = sim.shape;
    const { visits, priors } = this;
    const legal = (node * seats + seat) * actions;
    const at = node * actions;
    const root = this.parent[node] < 0;
    let total = 0;
    for (let a = 0; a < actions; a++) total += visits[at + a];
    const spread = this.high[tree] - this.low[tree];
    const weight = this.settings.exploration * Math.sqrt(Math.max(1, total));
    let best = -1;
    let most = Number.NEGATIVE_INFINITY;
    for (let a = 0; a < actions; a++) {
      if (sim.legal[legal + a] !== 1) continue;
      if (root && visits[at + a] === 0) return a;
      const value = spread > 0 ? (this.mean(node, a) - this.low[tree]) / spread : 0.5;
      const score = value + (weight * priors[at + a]) / (1 + visits[at + a]);
      if (score > most) {
        most = score;
        best = a;
      }
    }
    return best;
  }

  /** Plays the move into every new node, with the others' moves as their goals have it. `first` is the first place of the order where the chances at the root are to be noted, and -1 elsewhere. */
  private advance(order: SearchOrder, trees: number, placeOf: (tree: number) => number, first: number): void {
    const sim = this.sim!;
    const { seats, actions, observation } = sim.shape;
    const { model } = order;
    let fresh = 0;
    let rows = 0;
    model?.begin(trees * (seats - 1));
    for (let tree = 0; tree < trees; tree++) {
      const node = this.leaf[tree];
      if (this.ended[node] === 1) continue;
      this.waiting[fresh++] = tree;
      const from = this.parent[node];
      if (!model) continue;
      const base = placeOf(tree) - (placeOf(tree) % seats);
      for (let seat = 0; seat < seats; seat++) {
        const there = from * seats + seat;
        if (seat === placeOf(tree) % seats || sim.acting[there] === 0) continue;
        model.put(rows++, sim.obs, there * observation, this.goals[tree * seats + seat], order.agentAt(base + seat));
      }
    }
    model?.forward(rows);
    rows = 0;
    for (let i = 0; i < fresh; i++) {
      const tree = this.waiting[i];
      const node = this.leaf[tree];
      const from = this.parent[node];
      const place = placeOf(tree);
      const stream = order.stream(place);
      for (let seat = 0; seat < seats; seat++) {
        const there = from * seats + seat;
        if (seat === place % seats) this.actions[node * seats + seat] = this.via[node];
        else if (sim.acting[there] === 1) {
          this.actions[node * seats + seat] = model
            ? model.draw(rows++, sim.legal, there * actions, stream.uniform())
            : randomMove(sim.legal, there * actions, actions, stream);
          if (order.notes && model && first >= 0 && tree % this.settings.samples === 0)
            order.notes.chances.set(
              model.probabilities,
              ((first + tree / this.settings.samples) * seats + seat) * actions,
            );
        }
      }
      order.mind?.follow(sim, from, node, place % seats, this.actions);
      sim.take!(sim, from, node);
      sim.over[node] = 0;
    }
    sim.step(this.actions);
    for (let i = 0; i < fresh; i++) {
      const tree = this.waiting[i];
      const node = this.leaf[tree];
      const there = node * seats + (placeOf(tree) % seats);
      this.paid[node] = sim.reward[there];
      if (sim.terminated[there] === 1) this.ended[node] = 1;
      else if (sim.truncated[there] === 1) this.ended[node] = 2;
      // Only new nodes are stepped.
      sim.over[node] = 1;
    }
  }

  /** Priors and values of the leaves, by the networks of the one who searches. A leaf that terminated is worth nothing more. */
  private evaluate(order: SearchOrder, trees: number, placeOf: (tree: number) => number): void {
    const sim = this.sim!;
    const { seats, actions, observation } = sim.shape;
    const { rows, out } = this;
    const { policy, normaliser, inputs } = order.learner;
    let count = 0;
    for (let tree = 0; tree < trees; tree++) {
      const node = this.leaf[tree];
      if (this.ended[node] === 1) continue;
      const there = node * seats + (placeOf(tree) % seats);
      this.looking[count] = order.eyes(placeOf(tree));
      const eyes = node * seats + this.looking[count];
      rows.obs.set(sim.obs.subarray(eyes * observation, (eyes + 1) * observation), count * inputs);
      for (let a = 0; a < actions; a++)
        rows.legal[count * actions + a] = this.ended[node] === 0 ? sim.legal[there * actions + a] : a === 0 ? 1 : 0;
      this.waiting[count++] = node;
    }
    if (count === 0) return;
    order.mind?.extend(sim, this.waiting, this.looking, count, rows.obs, inputs);
    rows.length = count;
    rows.state = rows.obs;
    policy.act(rows, this.uniforms, 1, out);
    normaliser.toRewards(out.value, count);
    for (let i = 0; i < count; i++) {
      const node = this.waiting[i];
      this.worth[node] = out.value[i];
      softmax(out.logits, rows.legal, i * actions, actions, this.priors, node * actions);
      // One that was cut off goes no further, and is worth what the critic says.
      if (this.ended[node] === 2) this.ended[node] = 1;
    }
  }

  private backUp(tree: number, gamma: number): void {
    const { actions } = this.sim!.shape;
    let node = this.leaf[tree];
    let value = this.worth[node];
    while (this.parent[node] >= 0) {
      value = this.paid[node] + gamma * value;
      const at = this.parent[node] * actions + this.via[node];
      this.visits[at]++;
      this.sums[at] += value;
      this.low[tree] = Math.min(this.low[tree], value);
      this.high[tree] = Math.max(this.high[tree], value);
      node = this.parent[node];
    }
  }
}
