/** How much the doctor looks at. Larger budgets take longer and see rarer faults; none of them decides what a number means. */
export const budgets = {
  /** Disagreeing rows of an iteration that the transforms of a check are tried on. */
  creditRows: 4096,
  pairingRows: 8192,
  replayRows: 2048,
  /** Rows of them that a parameter is fitted to. */
  fitRows: 96,
  /** Steps of a descent to the numbers that give such rows, and how much more or less each is damped than the one before. */
  descentSteps: 40,
  descentDamping: 10,
  /** Iterations whose rows are searched; the others are only counted. */
  searches: 12,
  /** Passes over the batch whose pairing is looked at: later ones use that of the first. */
  pairingEpochs: 2,
  /** Steps of a policy in an iteration, and rows of each, whose direction is looked at. */
  directionSteps: 8,
  directionRows: 256,
  /** Steps of a policy in an iteration whose gradient is recomputed, and rows after which no further one is begun. */
  headSteps: 6,
  /** Steps of the first iteration likewise, one after the other, to see whether their gradients add up. */
  firstHeadSteps: 8,
  /** Steps of a critic, from the first on, whose gradients are looked at as a sum. */
  criticSteps: 48,
  /** Steps of an iteration whose loss is recomputed by other formulas, and halvings of the interval in which a clip is looked for. */
  formulaSteps: 24,
  clipHalvings: 40,
  /** Temperatures between which the entropies' one is looked for, as a power of e, and halvings of that interval. */
  divisorRange: 4,
  divisorSteps: 32,
  headRows: 1024,
  /** Episodes whose returns are compared with their rewards. */
  episodes: 200_000,
  /** Rows of an iteration whose logits are looked at. */
  networkRows: 1024,
  /** Rows that all iterations together may give to a cover, and the share of an iteration's that a transform must explain for its columns to be kept. */
  coverRows: 60_000,
  coverKept: 0.05,
  /** Steps kept as a proof. */
  proofSteps: 1200,
  /** Agents that tables are kept for; nobody trains more. */
  agentNumbers: 65_536,
  /** Pairs of rows that a line is laid through, at strides that visit all rows. */
  lines: 24,
  lineStrides: [7919, 104729],
  /** Share of a cell on a line from which no better one is looked for. */
  lineEnough: 0.97,
  /** Extremes at each end, of a pool and of the values drawn from it, that are tried as each other's where some values are strangers. */
  poolStrangers: 6,
  /** Steps by which a number may be early or late, nearest first, and how many of them are tried where each costs a pass over the episodes. */
  lags: [-1, 1, -2, 2, -3, 3, -4, 4],
  nearLags: 4,
  /** Steps away that a candidate list is looked for. */
  listReach: 4,
  /** Agents among which another one's row is looked for: in a larger crowd a neighbour is found by chance. */
  agents: 8,
  /** Numbers of a column that its precision is read off. */
  precisionNumbers: 200,
  /** Rows that an unrecorded temperature of both passes is fitted to. */
  temperatureRows: 64,
  /** Rows of an iteration, and log-probabilities of a policy, that show whether actions were drawn as they were scored, and bins by probability in which they are shown. */
  drawnRows: 2048,
  drawnNumbers: 200_000,
  drawnBins: 12,
  /** Logarithms of temperatures: how far, in which steps, and how often the best is halved towards. */
  temperatures: { reach: 4, step: 0.1, halvings: 45 },
  /** Discounts and lambdas that are tried where the declared ones do not fit, the usual ones first, and how the best is refined. */
  gammas: [0.99, 0.95, 0.9, 0.98, 0.995, 0.997, 0.999, 1, 0.97, 0.8, 0.5, 0],
  lambdas: [0.95, 0.9, 0.97, 0.98, 0.99, 1, 0.92, 0.8, 0.5, 0],
  /** Steps that returns may look ahead where no lambda is declared. */
  creditSteps: 20,
  refinement: { first: 0.05, last: 1e-6, moves: 8 },
  /** Weights of the value loss that are tried beside the declared one. */
  valueWeights: [0.5, 1, 0.25],
  /** Ranges that a value may be clipped to, and widths of Huber's loss, that are tried beside the declared ones. */
  valueClips: [0.2, 0.1, 0.3, 0.4, 0.5, 1, 10],
  huberWidths: [1, 10],
  /** Multiples of the declared clip of values, between which another clip is looked for. */
  clipLadder: [
    0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.55, 0.75, 1, 1.4, 2, 3, 4, 6, 8, 12, 16, 25, 50, 100,
  ],
  /** Snapshots of a policy before the present one that are run. */
  snapshots: 3,
  /** Figures, and sentences, of a finding that are told. */
  toldFigures: 5,
  toldSentences: 3,
} as const;
