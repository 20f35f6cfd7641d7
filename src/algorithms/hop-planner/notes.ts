/** What a planner went by, as extra columns of its rows: beliefs, chances, search values. A list about the others begins with the agent that follows the row's own. Nothing here is read by the agents. */

import type { GameColumn } from '../../games/game.ts';
import { plannerColumns } from '../../recording/tables/planner-columns.ts';
import type { Beliefs } from './beliefs.ts';

type Name = keyof typeof plannerColumns;

/** What the first tree of every searched place went by. */
export interface SearchNotes {
  /** Per place: what the critic gave for the state to be decided in. */
  readonly root: Float64Array;
  /** Per place and seat: the goal that was drawn. */
  readonly goals: Int32Array;
  /** Per place, seat and action: the chance of the other's next move. */
  readonly chances: Float64Array;
}

export class PlannerNotes {
  readonly columns: readonly GameColumn[];
  private readonly of: Readonly<Record<Name, GameColumn>>;

  constructor(
    places: number,
    private readonly agents: number,
    private readonly goals: number,
    private readonly actions: number,
  ) {
    const others = agents - 1;
    const widths = { other: others, belief: others * goals, move: actions, row: 1 };
    const column = (name: Name): GameColumn => {
      const { kind, meaning, each } = plannerColumns[name];
      const width = widths[each];
      const values = new Float64Array(places * width).fill(Number.NaN);
      return { name, kind, meaning, width, values, ...(each === 'row' ? {} : { lengths: new Int32Array(places) }) };
    };
    this.of = Object.fromEntries(
      (Object.keys(plannerColumns) as Name[]).map((name) => [name, column(name)]),
    ) as PlannerNotes['of'];
    this.columns = Object.values(this.of);
  }

  /** Nothing is known yet of the decisions of this step. */
  clear(): void {
    for (const { values, lengths } of this.columns) {
      values.fill(Number.NaN);
      lengths?.fill(0);
    }
  }

  row(name: Name, place: number, value: number): void {
    this.of[name].values[place] = value;
  }

  /** The place of an other in lists of `agent`, from 0. */
  private rank(agent: number, other: number): number {
    return ((other - agent + this.agents) % this.agents) - 1;
  }

  other(name: Name, place: number, agent: number, other: number, value: number): void {
    const { width, values, lengths } = this.of[name];
    values[place * width + this.rank(agent, other)] = value;
    lengths![place] = width;
  }

  belief(name: Name, place: number, agent: number, other: number, from: ArrayLike<number>, at: number): void {
    const { width, values, lengths } = this.of[name];
    const to = place * width + this.rank(agent, other) * this.goals;
    for (let g = 0; g < this.goals; g++) values[to + g] = from[at + g];
    lengths![place] = width;
  }

  moves(place: number, from: Float64Array, at: number): void {
    const { width, values, lengths } = this.of.search_values;
    for (let a = 0; a < this.actions; a++)
      values[place * width + a] = from[at + a] > Number.NEGATIVE_INFINITY ? from[at + a] : Number.NaN;
    lengths![place] = width;
  }

  /** What the agent at a place plans with, about everybody else. */
  planned(place: number, agent: number, beliefs: Beliefs, world: number, at: (other: number) => number): void {
    for (let other = 0; other < this.agents; other++) {
      if (other === agent) continue;
      this.belief('belief', place, agent, other, beliefs.now, at(other));
      this.belief('prior', place, agent, other, beliefs.prior, beliefs.at(world, agent, other));
    }
  }
}
