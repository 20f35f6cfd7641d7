/** The agents of a run that plan: they share what they have seen the others do, and each learns its own model of the others from it. */
import type { Game } from '../../games/game.ts';
import { told } from '../../language/language.ts';
import type { PolicySave } from '../../net/types.ts';
import { BadInput } from '../../recording/bad-input.ts';
import type { Crew, CrewRun } from '../algorithm.ts';
import type { Learner } from '../learner.ts';
import type { Table } from '../play.ts';
import { PlannerCompanion, type Planners } from './companion.ts';
import { GoalModel, type MovesRing, movesRing } from './models.ts';
import type { PlannerSettings } from './settings.ts';
import { PlannerTable } from './table.ts';

export interface SavedPlanner {
  models: (PolicySave | null)[];
  moves: ReturnType<MovesRing['save']>;
  play: ReturnType<PlannerCompanion['save']>;
}

export class PlannerCrew implements Crew, Planners {
  readonly companion: PlannerCompanion;
  readonly settings: PlannerSettings;
  readonly gamma: number;
  readonly seed: number;
  readonly observers: { agent: number; learner: number }[];
  private readonly models = new Map<number, GoalModel | null>();
  private readonly moves: MovesRing;
  private iteration = 0;
  private readonly losses = new Map<number, number>();

  constructor(private readonly run: CrewRun) {
    const { engine, game, settings, names, plans } = run;
    const { shape, goals } = game;
    if (!goals || !game.goal || !game.take || shape.features > 0 || shape.candidates !== shape.actions)
      throw new BadInput(
        told(
          `hop-planner tries moves out by the game's own rules and reasons about its goals, and ${game.name} has none of them; stag-hunt, snowdrift, coin-game and cleanup have. Use --algorithm ppo`,
          `hop-planner 按游戏自身的规则试走并推断目标，而 ${game.name} 不能这样试走；stag-hunt、snowdrift、coin-game 和 cleanup 可以。请用 --algorithm ppo`,
        ),
      );
    if (shape.seats < 2)
      throw new BadInput(
        told(
          `hop-planner models other agents, and ${game.name} has one seat`,
          `hop-planner 对其他智能体建模，而 ${game.name} 只有一个座位`,
        ),
      );
    this.settings = settings.planner;
    this.gamma = settings.ppo.gamma;
    this.seed = settings.seed;
    this.observers = plans.flatMap(({ agents, index }) => agents.map((agent) => ({ agent, learner: index })));
    const size = { observation: shape.observation, actions: shape.actions, goals: goals.length, agents: names.length };
    const uses = !settings.planner.without.includes('models');
    for (const { index, name, agents } of plans)
      this.models.set(
        index,
        uses ? new GoalModel(engine, size, settings.planner.models, settings.seed, name, agents[0]) : null,
      );
    this.moves = movesRing(shape.observation, settings.planner.models.capacity);
    this.companion = new PlannerCompanion(this, game, run.frozen ? null : this.moves);
  }

  get names(): readonly string[] {
    return this.run.names;
  }

  get stages() {
    return this.run.stages.planner;
  }

  get make() {
    return this.run.make;
  }

  modelOf(learner: number): GoalModel | null | undefined {
    return this.models.get(learner);
  }

  begin(iteration: number): void {
    this.iteration = iteration;
    this.companion.searched = 0;
    this.companion.entropy = 0;
  }

  imagine(): void {}

  learn(_learners: readonly Learner[], order: readonly number[]): void {
    for (const learner of order) {
      const model = this.models.get(learner);
      if (model) this.losses.set(learner, model.learn(this.moves, this.iteration));
    }
  }

  blownUp(): null {
    return null;
  }

  readings(): Record<string, number>[] {
    const { searched, entropy } = this.companion;
    const all: Record<string, number>[] = [];
    for (const { index } of this.run.plans)
      all[index] = {
        ...(this.losses.has(index) ? { 'goal_model.loss': this.losses.get(index) as number } : {}),
        ...(searched > 0 ? { 'search.entropy': entropy / searched } : {}),
      };
    return all;
  }

  counters(learners: readonly Learner[]): Map<string, Float64Array> {
    const counters = new Map<string, Float64Array>();
    const values = new Float64Array(this.run.names.length);
    for (const { agents, index } of learners)
      if (this.models.has(index)) for (const agent of agents) values[agent] = this.moves.size;
    counters.set('buffer.goal_model', values);
    return counters;
  }

  playing(game: Game): PlannerCompanion {
    return new PlannerCompanion(this, game, null);
  }

  table(game: Game): Table {
    return new PlannerTable(this, game);
  }

  adopt(learner: number, saved: unknown): void {
    this.models.get(learner)?.load(saved as PolicySave);
  }

  save(): SavedPlanner {
    return {
      models: this.run.plans.map(({ index }) => this.models.get(index)?.save() ?? null),
      moves: this.moves.save(),
      play: this.companion.save(),
    };
  }

  load(saved: SavedPlanner): void {
    for (const [i, { index }] of this.run.plans.entries()) {
      const model = saved.models[i];
      if (model) this.models.get(index)?.load(model);
    }
    this.moves.load(saved.moves);
    this.companion.load(saved.play);
  }
}
