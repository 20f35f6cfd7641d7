/** The learners of a line-up with what accompanies them, and their updates: those that learn in the same way are updated side by side. */
import type { Crew, CrewRun } from '../../algorithms/algorithm.ts';
import { algorithms } from '../../algorithms/index.ts';
import { type Learner, makeLearner } from '../../algorithms/learner.ts';
import type { UpdatePart, UpdatePlan, UpdateResult, UpdateStages, UpdateWatch } from '../../algorithms/ppo/update.ts';
import { RandomStream } from '../../math/random.ts';
import type { Engine } from '../../net/types.ts';
import { adoptLearner } from '../checkpoint.ts';
import type { Settings } from '../settings.ts';
import { makeCrew } from './crews.ts';
import type { Lineup } from './lineup.ts';
import { type Origins, requireFit } from './origin.ts';

export interface Table {
  readonly crew: Crew | null;
  /** Those that learn, then those that only play. */
  readonly seated: readonly Learner[];
  /** The longest critic input, and the most that accompanies an observation. */
  readonly widest: { readonly state: number; readonly accompanying: number };
}

export function makeTable(run: CrewRun, lineup: Lineup, origins: Origins): Table {
  const { engine, game, settings } = run;
  const { shape } = game;
  const from = lineup.origins.map((key) => {
    if (key === null) return null;
    requireFit(origins[key], key, { name: game.name, ...shape });
    return origins[key];
  });
  const crew = makeCrew(run, lineup.learning);
  const widest = { state: 0, accompanying: 0 };
  const seated = lineup.plans.map((plan) => {
    const algorithm = algorithms[plan.seat.algorithm];
    const view = algorithm.view(shape);
    const accompanying = crew?.companion.widthOf(plan.index) ?? 0;
    widest.state = Math.max(widest.state, view.width);
    widest.accompanying = Math.max(widest.accompanying, accompanying);
    const learner = makeLearner(engine, shape, plan, view, accompanying, algorithm.searches(plan.seat), settings.seed);
    const origin = from[plan.index];
    if (!origin) return learner;
    adoptLearner(learner, origin.learner);
    if (origin.models !== null) crew?.adopt(plan.index, origin.models, origin.iteration);
    return learner;
  });
  return { crew, seated, widest };
}

/** In which order the learners of an iteration are updated. */
export function updateOrder(learners: number, settings: Pick<Settings, 'order' | 'seed'>, iteration: number): number[] {
  const order = Array.from({ length: learners }, (_, index) => index);
  if (settings.order === 'reversed') return order.reverse();
  if (settings.order === 'rotated') return order.map((_, i) => order[(i + iteration) % order.length]);
  if (settings.order === 'shuffled') return RandomStream.of(settings.seed, 'order', iteration).shuffle(order);
  return order;
}

/** One update for each way of learning, the results in the order of the parts. */
export function updateInGroups(
  engine: Engine,
  parts: readonly UpdatePart[],
  plans: readonly UpdatePlan[],
  stages: UpdateStages,
  watch: UpdateWatch,
): UpdateResult[] {
  const groups = new Map<string, number[]>();
  for (const [i, { learner }] of parts.entries()) {
    const kind = JSON.stringify([learner.seat.algorithm, learner.seat.ppo, learner.searches]);
    groups.set(kind, [...(groups.get(kind) ?? []), i]);
  }
  const results: UpdateResult[] = [];
  for (const own of groups.values()) {
    const { learner } = parts[own[0]];
    const { update } = algorithms[learner.seat.algorithm];
    const members = own.map((i) => parts[i]);
    for (const [i, result] of update(engine, members, plans[learner.index], stages, watch).entries())
      results[own[i]] = result;
  }
  return results;
}
