/** The agents of a run that plan: they share what they have seen the others do, and each learns its own model of the others from it. */
import type { Game } from '../../games/game.ts';
import { told } from '../../language/language.ts';
import type { PolicySave } from '../../net/types.ts';
import { BadInput } from '../../recording/bad-input.ts';
import type { Crew, CrewRun } from '../algorithm.ts';
import { whyNot } from '../hop/settings.ts';
import type { Learner } from '../learner.ts';
import type { Table } from '../play.ts';
import { PlannerCompanion, type Planners } from './companion.ts';
import { LearntRules } from './learnt-world.ts';
import { GoalModel, type MovesRing, movesRing } from './models.ts';
import type { PlannerSettings } from './settings.ts';
import { PlannerTable } from './table.ts';

export interface SavedPlanner {
  models: (PolicySave | null)[];
  moves: ReturnType<MovesRing['save']>;
  rules: ReturnType<LearntRules['save']> | null;
  play: ReturnType<PlannerCompanion['save']>;
}

/** What goes with a planner into another run. */
export interface AdoptedPlanner {
  model: PolicySave | null;
  rules: PolicySave[] | null;
}

export class PlannerCrew implements Crew, Planners {
  readonly companion: PlannerCompanion;
  readonly settings: PlannerSettings;
  readonly gamma: number;
  readonly seed: number;
  readonly observers: { agent: number; learner: number }[];
  readonly rules: LearntRules | null;
  private readonly models = new Map<number, GoalModel | null>();
  private readonly moves: MovesRing;
  iteration = 0;
  private readonly losses = new Map<number, number>();
  private worldLoss = Number.NaN;

  constructor(private readonly run: CrewRun) {
    const { engine, game, settings, names, plans } = run;
    const { shape, goals } = game;
    if (!goals || !game.goal || !game.take || shape.features > 0 || shape.candidates !== shape.actions)
      throw new BadInput(
        told(
          `hop-planner searches in games with goals whose moves can be tried out, such as stag-hunt, snowdrift, coin-game and cleanup; ${whyNot(game)[0]}. Use --algorithm ppo, or ppo in that seat`,
          `hop-planner 在有目标、可以试走的游戏里搜索，例如 stag-hunt、snowdrift、coin-game 和 cleanup；${whyNot(game)[1]}。请用 --algorithm ppo，或在该座位用 ppo`,
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
    this.rules = settings.planner.world === 'learnt' ? this.learntRules(run) : null;
    this.moves = movesRing(shape.observation, settings.planner.models.capacity);
    this.companion = new PlannerCompanion(this, game, run.frozen ? null : this.moves);
  }

  private learntRules({ engine, game, settings }: CrewRun): LearntRules {
    if (!game.planes)
      throw new BadInput(
        told(
          `planner.world learnt needs an observation made of planes, and ${game.name} has none; stag-hunt and snowdrift have. Use planner.world=rules`,
          `planner.world learnt 需要由平面组成的观测，而 ${game.name} 没有；stag-hunt 和 snowdrift 有。请用 planner.world=rules`,
        ),
      );
    return new LearntRules(engine, game, settings.hop, settings.seed);
  }

  get names(): readonly string[] {
    return this.run.names;
  }

  get stages() {
    return this.run.stages.planner;
  }

  get make() {
    return this.rules ? this.rules.make(this.run.game) : this.run.make;
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
    this.worldLoss = this.rules?.learn(this.iteration) ?? Number.NaN;
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
    for (const { index, agents } of this.run.plans)
      all[index] = {
        ...(this.losses.has(index) ? { 'goal_model.loss': this.losses.get(index) as number } : {}),
        ...(searched > 0 ? { 'search.entropy': entropy / searched } : {}),
        ...(this.rules ? { 'world_model.loss': this.worldLoss } : {}),
        'return.judged': this.companion.judgedReturn(agents[0]),
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
    const { model, rules } = saved as AdoptedPlanner;
    if (model) this.models.get(learner)?.load(model);
    if (rules) this.rules?.model.load(rules);
  }

  save(): SavedPlanner {
    return {
      models: this.run.plans.map(({ index }) => this.models.get(index)?.save() ?? null),
      moves: this.moves.save(),
      rules: this.rules?.save() ?? null,
      play: this.companion.save(),
    };
  }

  load(saved: SavedPlanner): void {
    for (const [i, { index }] of this.run.plans.entries()) {
      const model = saved.models[i];
      if (model) this.models.get(index)?.load(model);
    }
    this.moves.load(saved.moves);
    if (saved.rules) this.rules?.load(saved.rules);
    this.companion.load(saved.play);
  }
}
