/** Columns of `samples` for agents that plan with beliefs about the others' goals. All of them are optional. A list about the others begins with the agent that follows the row's own and goes round. */

export const plannerColumns = {
  goal: {
    kind: 'int',
    each: 'row',
    meaning: 'the goal that this move reached, as the game says it; -1 where none was',
  },
  judged: { kind: 'int', each: 'row', meaning: 'the episode is played to be judged: no move is drawn at random' },
  belief: {
    kind: 'float',
    each: 'belief',
    meaning: 'what the agent planned with: for each other agent, the chance of each of its goals',
  },
  prior: { kind: 'float', each: 'belief', meaning: "likewise, what an episode's beliefs begin with" },
  likelihood: {
    kind: 'float',
    each: 'belief',
    meaning:
      "the chance of the other's move in this step under each of its goals, by the agent's model; unknown where it did not move",
  },
  drawn_goal: { kind: 'int', each: 'other', meaning: "the other's goal in the first tree of the search" },
  foreseen: {
    kind: 'float',
    each: 'other',
    meaning: 'the chance that the search gave, under that goal, to the move that the other then made',
  },
  search_values: {
    kind: 'float',
    each: 'move',
    meaning: 'what the search found each candidate to be worth; unknown where it is illegal',
  },
  search_root: {
    kind: 'float',
    each: 'row',
    meaning: "what the search's critic gave for the state that was decided in",
  },
  rationality: {
    kind: 'float',
    each: 'row',
    meaning: 'what the search values were multiplied with in the exponent of the choice',
  },
} as const;

export const plannerSamples = Object.entries(plannerColumns).map(
  ([name, { kind, each, meaning }]) => [`${kind}${each === 'row' ? '' : '[]'} ${name}`, meaning] as const,
);
