/** The crews of a run whose agents learn in different ways, as one: agents with the same algorithm and modules have one crew, and a frozen agent's crew only plays. A run of one kind has that crew itself. */
import type { Crew, CrewRun } from '../../algorithms/algorithm.ts';
import { algorithms, cleanAlgorithmStages } from '../../algorithms/index.ts';
import type { Learner, LearnerPlan } from '../../algorithms/learner.ts';
import type { AskedPlaces, Companion, Play, PlayStages, Table } from '../../algorithms/play.ts';
import { policyPlayer } from '../../algorithms/policy-player.ts';
import type { Batch } from '../../batch/batch.ts';
import type { Game, GameColumn } from '../../games/game.ts';
import type { Player } from '../../games/players.ts';

/** Learners that one crew accompanies, where they have any. */
export function groupPlans(plans: readonly LearnerPlan[], learning: number): LearnerPlan[][] {
  const kinds = new Map<string, LearnerPlan[]>();
  for (const plan of plans) {
    const { algorithm, hop, planner } = plan.seat;
    const kind = JSON.stringify([algorithm, plan.index >= learning, hop, planner]);
    kinds.set(kind, [...(kinds.get(kind) ?? []), plan]);
  }
  return [...kinds.values()];
}

interface Group {
  /** Its place among the groups, those without a crew included. */
  readonly place: number;
  readonly crew: Crew;
  readonly learners: ReadonlySet<number>;
  readonly frozen: boolean;
}

/** null where no agent has anything beyond its policy. */
export function makeCrew(run: CrewRun, learning: number): Crew | null {
  const kinds = groupPlans(run.plans, learning);
  const groups: Group[] = [];
  for (const [place, plans] of kinds.entries()) {
    const { algorithm, ppo, hop, planner } = plans[0].seat;
    const frozen = plans[0].index >= learning;
    const settings = { ...run.settings, ppo, hop, planner };
    const stages = frozen ? cleanAlgorithmStages : run.stages;
    const crew = algorithms[algorithm].crew({ ...run, plans, settings, stages, group: place, frozen });
    if (crew) groups.push({ place, crew, learners: new Set(plans.map((plan) => plan.index)), frozen });
  }
  if (groups.length === 0) return null;
  return kinds.length === 1 ? groups[0].crew : new Crews(groups, kinds.length, run.names.length);
}

class Crews implements Crew {
  readonly companion: Companion;

  constructor(
    private readonly groups: readonly Group[],
    private readonly places: number,
    private readonly agents: number,
  ) {
    this.companion = this.together((crew) => crew.companion);
  }

  private of(learner: number): Group | undefined {
    return this.groups.find(({ learners }) => learners.has(learner));
  }

  private get learning(): readonly Group[] {
    return this.groups.filter(({ frozen }) => !frozen);
  }

  private together(companion: (crew: Crew) => Companion): Companion {
    const parts = this.groups.map(({ crew, learners }) => ({ learners, companion: companion(crew) }));
    const of = (learner: number) => parts.find(({ learners }) => learners.has(learner))?.companion;
    const all = (tell: (companion: Companion) => void) => {
      for (const part of parts) tell(part.companion);
    };
    const { notes, merge } = togetherNoted(parts.flatMap(({ companion }) => companion.notes ?? []));
    return {
      widthOf: (learner) => of(learner)?.widthOf(learner) ?? 0,
      begin: (play: Play, world: number) => all((one) => one.begin(play, world)),
      extend: (play: Play, asked: AskedPlaces) => of(asked.learner.index)?.extend(play, asked),
      decide: (play, asked) => of(asked.learner.index)?.decide?.(play, asked),
      decided: (play: Play, batch: Batch) => all((one) => one.decided(play, batch)),
      stepped: (play: Play) => {
        all((one) => one.stepped(play));
        merge();
      },
      ...(notes.length > 0 ? { notes } : {}),
    };
  }

  begin(iteration: number): void {
    for (const { crew } of this.learning) crew.begin(iteration);
  }

  imagine(batch: Batch, learners: readonly Learner[], stages: PlayStages): void {
    for (const { crew, learners: own } of this.learning)
      crew.imagine(
        batch,
        learners.filter(({ index }) => own.has(index)),
        stages,
      );
  }

  learn(learners: readonly Learner[], order: readonly number[]): void {
    for (const { crew, learners: own } of this.learning)
      crew.learn(
        learners,
        order.filter((index) => own.has(index)),
      );
  }

  blownUp(learner: number, loss: number): number | null {
    return this.of(learner)?.crew.blownUp(learner, loss) ?? null;
  }

  readings(): Record<string, number>[] {
    const all: Record<string, number>[] = [];
    for (const { crew } of this.learning)
      crew.readings().forEach((values, index) => {
        all[index] = values;
      });
    return Array.from(all, (values) => values ?? {});
  }

  counters(learners: readonly Learner[], rows: ArrayLike<number>): Map<string, Float64Array> {
    const all = new Map<string, Float64Array>();
    for (const { crew, learners: own } of this.learning) {
      const mine = learners.filter(({ index }) => own.has(index));
      for (const [name, values] of crew.counters(mine, rows)) {
        const sum = all.get(name) ?? new Float64Array(this.agents);
        for (let agent = 0; agent < this.agents; agent++) sum[agent] += values[agent];
        all.set(name, sum);
      }
    }
    return all;
  }

  save(): unknown {
    const saved = new Array<unknown>(this.places).fill(null);
    for (const { place, crew } of this.groups) saved[place] = crew.save();
    return saved;
  }

  load(saved: unknown): void {
    const parts = saved as readonly unknown[];
    for (const { place, crew } of this.groups) crew.load(parts[place]);
  }

  adopt(learner: number, saved: unknown, iteration: number): void {
    this.of(learner)?.crew.adopt(learner, saved, iteration);
  }

  playing(game: Game): Companion {
    return this.together((crew) => crew.playing(game));
  }

  /** Everybody is watched by every crew. */
  table(game: Game): Table {
    const tables = this.groups.map(({ crew, learners }) => ({ learners, table: crew.table(game) }));
    const watchedBy = (player: Player, but?: Table) =>
      tables.reduce((watched, { table }) => (table === but ? watched : table.watch(watched)), player);
    return {
      watch: (player) => watchedBy(player),
      player: (learner) => {
        const own = tables.find(({ learners }) => learners.has(learner.index))?.table;
        return own ? watchedBy(own.player(learner), own) : watchedBy(policyPlayer(learner));
      },
    };
  }
}

/** Columns of several crews, one of each name: a crew knows nothing of the places of another. */
function togetherNoted(all: readonly GameColumn[]): { notes: GameColumn[]; merge: () => void } {
  const notes = all.filter(({ name }, i) => all.findIndex((column) => column.name === name) === i);
  const rest = all.filter((column) => !notes.includes(column));
  const merge = () => {
    for (const { name, width, values, lengths } of rest) {
      const into = notes.find((column) => column.name === name)!;
      for (let i = 0; i < values.length; i++)
        if (!Number.isNaN(values[i])) {
          into.values[i] = values[i];
          if (lengths && into.lengths) into.lengths[Math.floor(i / width)] = lengths[Math.floor(i / width)];
        }
    }
  };
  return { notes, merge };
}
