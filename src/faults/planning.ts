/** Faults of agents that plan: beliefs that are not reset, not updated or another's, goals under other names, and searches with old models, other critics or random moves. They show in what planners leave beside their rows. */
import type { GoalModel } from '../algorithms/hop-planner/models.ts';
import type { PlannerStages } from '../algorithms/hop-planner/stages.ts';
import { type Fault, type Strength, whole } from './fault.ts';

type Stream = Parameters<Fault['make']>[0];

/** A fault that replaces some arrows of planners among so many agents. */
function plannerFault(
  of: Pick<Fault, 'id' | 'cause' | 'sentence' | 'shows'> & { needs?: Fault['needs'] },
  draw: (
    stream: Stream,
    agents: number,
  ) => { strength: Strength; replace: (clean: PlannerStages) => Partial<PlannerStages> },
): Fault {
  return {
    ...of,
    stage: 'planner',
    needs: ['planner', ...(of.needs ?? [])],
    make(stream, { traits }) {
      const { strength, replace } = draw(stream, traits.seats);
      return { strength, stages: (clean) => ({ planner: { ...clean.planner, ...replace(clean.planner) } }) };
    },
  };
}

/** The agent so many further on, none of `but`. */
function further(agent: number, by: number, agents: number, but: readonly number[]): number {
  let other = agent;
  for (let k = 0; k < by; ) {
    other = (other + 1) % agents;
    if (!but.includes(other)) k++;
  }
  return other;
}

export const planningFaults: readonly Fault[] = [
  plannerFault(
    {
      id: 'beliefs-kept-over-episodes',
      cause: 'belief-not-reset',
      sentence: 'A new episode begins with what was believed at the end of the one before.',
      shows: ['samples.belief'],
      needs: ['ends'],
    },
    () => ({ strength: {}, replace: () => ({ begin: () => {} }) }),
  ),
  plannerFault(
    {
      id: 'beliefs-never-updated',
      cause: 'belief-not-updated',
      sentence: 'What is believed about the others stays at the prior, whatever they do.',
      shows: ['samples.belief'],
    },
    () => ({ strength: {}, replace: () => ({ see: () => {} }) }),
  ),
  plannerFault(
    {
      id: 'belief-about-another-agent',
      cause: 'belief-misassigned',
      sentence: 'Goals of one agent are drawn from what is believed about another.',
      shows: ['samples.belief'],
      needs: ['three-seats'],
    },
    (stream, agents) => {
      const by = whole(stream, 1, agents - 2);
      return {
        strength: { by },
        replace: (clean) => ({
          belief: (beliefs, world, observer, other) =>
            clean.belief(beliefs, world, observer, further(other, by, agents, [observer])),
        }),
      };
    },
  ),
  plannerFault(
    {
      id: 'belief-of-another-agent',
      cause: 'belief-misassigned',
      sentence: 'Goals are drawn from what another agent believes.',
      shows: ['samples.belief'],
      needs: ['three-seats', 'separate'],
    },
    (_, agents) => ({
      strength: {},
      replace: (clean) => ({
        belief: (beliefs, world, observer, other) =>
          clean.belief(beliefs, world, further(observer, 1, agents, [observer, other]), other),
      }),
    }),
  ),
  plannerFault(
    {
      id: 'goal-indices-rotated',
      cause: 'goal-labels-rotated',
      sentence: 'A goal that was reached is counted as the next one in the list.',
      shows: ['samples.prior'],
    },
    () => ({ strength: {}, replace: () => ({ label: (goal, goals) => (goal + 1) % goals }) }),
  ),
  plannerFault(
    {
      id: 'search-with-stale-models',
      cause: 'search-model-stale',
      sentence: 'The search uses a copy of the model of the others that is renewed only now and then.',
      shows: ['samples.foreseen'],
      needs: ['several-iterations'],
    },
    (stream) => {
      const every = whole(stream, 3, 8);
      const copies = new Map<GoalModel, { copy: GoalModel; made: number }>();
      return {
        strength: { every },
        replace: () => ({
          model(current, iteration) {
            const kept = copies.get(current);
            if (kept && iteration - kept.made < every) return kept.copy;
            const copy = current.copy();
            copies.set(current, { copy, made: iteration });
            return copy;
          },
        }),
      };
    },
  ),
  plannerFault(
    {
      id: 'search-values-of-another-seat',
      cause: 'search-values-misassigned',
      sentence: 'States in the search are valued by the eyes and the critic of another agent.',
      shows: ['samples.search_root'],
      needs: ['agents'],
    },
    (stream, agents) => {
      const by = whole(stream, 1, agents - 1);
      return { strength: { by }, replace: () => ({ valuedBy: (agent) => (agent + by) % agents }) };
    },
  ),
  plannerFault(
    {
      id: 'random-moves-when-judged',
      cause: 'exploration-in-test',
      sentence: 'Moves are drawn at random in episodes that are played to be judged as well.',
      shows: ['samples.logits'],
    },
    () => ({ strength: {}, replace: () => ({ explores: (training) => training }) }),
  ),
];
