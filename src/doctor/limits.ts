/** Every limit that decides between healthy and faulty, with its reason. None belongs to a game or a fault: each is a definition, a numerical tolerance or a statistical test. */

export interface Limit {
  readonly value: number;
  /** `definition`: what the cause means; `tolerance`: how exact numbers can be; `test`: how surely chance is excluded. */
  readonly kind: 'definition' | 'tolerance' | 'test';
  readonly what: string;
  readonly why: string;
}

const limit = (kind: Limit['kind'], value: number, what: string, why: string): Limit => ({ value, kind, what, why });

export const limits = {
  fewestRows: limit(
    'test',
    8,
    'rows that must support a cause',
    'An exact agreement of one row by chance has a probability of 0.1 at most; of eight, less than 1e-7.',
  ),
  decidingRows: limit(
    'test',
    32,
    'rows that must answer each of the questions replay, credit and gradient before a run may be healthy',
    'A fault that strikes one row in ten is in none of 32 rows with a probability of 0.03.',
  ),
  sure: limit(
    'definition',
    0.4,
    'confidence from which a finding is a cause, and not only a candidate',
    'A transform that accounts for less than two fifths of the rows leaves more unexplained than it explains.',
  ),
  leftOver: limit(
    'definition',
    0.1,
    'share of the disagreeing rows without an explanation, from which it is said',
    'Less may be rows at the edges of a transform, where an end or a cut leaves nothing to compare with.',
  ),
  minor: limit(
    'definition',
    0.1,
    "rows of a finding over those of another of the same check, below which it is the other's to lead",
    'What accounts for a tenth of the rows is not what to fix first.',
  ),
  sigmas: limit(
    'test',
    4,
    'standard errors from what chance gives',
    'A chance of 3e-5 on one side, so that a hundred such tests in a recording raise a false alarm once in three hundred recordings at most.',
  ),
  logp: limit(
    'tolerance',
    1e-4,
    'nats between two log-probabilities that are the same',
    'Forward passes in single precision differ by up to 1e-5; another distribution differs by 1e-3 and more on most rows. The trainer asserts the same figure.',
  ),
  absurdLogp: limit(
    'tolerance',
    1e6,
    'nats beyond which a log-probability is no number',
    'Single precision holds probabilities down to 1e-45, whose logarithm is -104; a mask of -1e9 gives more, and is read as minus infinity.',
  ),
  credit: limit(
    'tolerance',
    1e-3,
    'standard deviations between two advantages that are the same',
    'A sum over a long episode in single precision loses up to 1e-5 of the largest return; the spread of advantages may be a hundred times smaller.',
  ),
  undone: limit(
    'definition',
    0.1,
    'median distance that a transform leaves, over what was there before',
    'Exact transforms leave rounding, a millionth; a tenth is what cannot be chance and is still worth to be drawn.',
  ),
  formulaRows: limit(
    'test',
    48,
    'rows that a fitted formula of credit needs',
    'Five coefficients fit any five rows; ten times as many leave nothing to chance.',
  ),
  formulaExact: limit(
    'tolerance',
    0.95,
    'share of the fitted rows that a formula must give to rounding',
    'What is computed is given exactly; a few rows may lie beside an end that was not recorded.',
  ),
  formulaSame: limit(
    'tolerance',
    0.01,
    'distance between two coefficients that are the same',
    'Columns in single precision that vary little leave a coefficient uncertain in its third digit.',
  ),
  noticedShare: limit(
    'tolerance',
    0.02,
    'share of disagreeing rows that is noticed',
    'Fewer may be rows that a guard left out, or episodes that were cut while being recorded.',
  ),
  tooFar: limit('definition', 0.3, 'k3 of an update that overshoots', 'A ten-fold of the usual band of 0.01 to 0.03.'),
  tooFarShare: limit('definition', 0.5, 'share of updates that overshoot', 'Half of them is a rule and no accident.'),
  invisible: limit(
    'definition',
    1e-4,
    "largest change of an action's probability in the whole run",
    'A change of 1e-4 alters one decision in ten thousand.',
  ),
  against: limit(
    'test',
    -0.1,
    'correlation of what a step does with the advantages of its rows, below which it goes against them',
    'To first order the correlation of an honest step is positive; below -0.1, by four standard errors in most updates, is neither noise nor the clip.',
  ),
  unpaired: limit(
    'test',
    0.5,
    "correlation of the advantage used with the own one, below which the rows are not each other's",
    'Clipped, squashed or ranked credit correlates with its origin by more than 0.8. The limit must be undercut by four standard errors.',
  ),
  normalisedMean: limit(
    'tolerance',
    0.05,
    'mean of normalised advantages',
    'Exactly 0 but for rows that a guard leaves out and for a clamp: leaving out 2 % of the rows at two standard deviations moves it by 0.04.',
  ),
  normalisedSpread: limit(
    'tolerance',
    0.1,
    'difference from 1 of the spread of normalised advantages',
    'As for the mean; a clamp at two standard deviations takes 0.06 away, and dividing by n - 1 in place of n up to 0.13 in minibatches of 5.',
  ),
  normaliserEpsilon: limit(
    'tolerance',
    1e-4,
    'spread of the credit itself below which normalisation need not reach 1',
    'What is added to the divisor against division by 0 is 1e-5 at most in common programs; credit of ten times that is divided by its own spread to within a tenth.',
  ),
  unnormalised: limit(
    'definition',
    2.5,
    'factor by which the spread is off where normalisation is declared and did not happen',
    'The step of Adam is free of scale, but the clip and the entropy bonus are not: a factor of 2.5 is that of an entropy coefficient of 0.01 becoming 0.025 or 0.004. Between this and normalised, only advantages that are the raw ones are accused.',
  ),
  oneSided: limit(
    'definition',
    2,
    'standard deviations by which the mean of all advantages is off 0, where 95 % have one sign',
    'Where normalisation is declared the mean is 0; without a baseline the same sign for all tells nothing of a good or bad action.',
  ),
  widest: limit(
    'definition',
    10,
    'largest spread of advantages, and size of rewards, that is of unit scale',
    'Where nothing is normalised, an entropy coefficient of 0.01 becomes one of 0.001 or less beyond it.',
  ),
  narrowest: limit(
    'definition',
    1e-3,
    'smallest spread of advantages, and size of rewards, that is of unit scale',
    'Below it the usual entropy coefficient of 0.01 outweighs all credit by ten times.',
  ),
  guardBand: limit(
    'definition',
    0.01,
    'k2 below which there is no reason to stop an update',
    'The lower end of the usual band of KL per update.',
  ),
  guardWindow: limit(
    'definition',
    0.25,
    'share of the planned steps within which a stop is at once',
    'The first pass of the usual four; two steps at least, because the first can never stop.',
  ),
  guardAlways: limit(
    'definition',
    0.9,
    'share of the updates that stop at once',
    'Stopping now and then is what the guard is for.',
  ),
  optimiserBound: limit(
    'tolerance',
    1.1,
    "step of a tensor over its optimiser's bound",
    "Each optimiser has a bound of its own: Adam moves no entry by more than the rate times (1 - beta1) / sqrt(1 - beta2), 3.2 with the usual betas; RMSprop by 1 / sqrt(1 - alpha); momentum gathers gradients. One that is not known has none. A tenth is for the decay of another hand's declaration and for rounding.",
  ),
  triangle: limit(
    'tolerance',
    1.05,
    "change of a tensor's length over the length of its change",
    'At most 1 by the triangle inequality; both lengths are sums in single precision.',
  ),
  decayRules: limit(
    'definition',
    0.5,
    'share of the change that decay accounts for',
    'From half on it moves the policy more than the policy gradient does, which is what the cause means.',
  ),
  flatSpread: limit(
    'definition',
    1e-3,
    'spread of the logits within a row that is flat',
    'Probabilities then differ by less than a thousandth of themselves.',
  ),
  heldFlat: limit(
    'definition',
    0.1,
    'spread of the logits over what the steps of the head, taken in random directions, would give',
    'A logit is a sum over a layer of units, so it spreads by more than one parameter wanders; a tenth of that is being held.',
  ),
  certain: limit(
    'definition',
    0.05,
    'entropy of the typical row, as a share of log K, before anything was learnt',
    'Of two actions the likelier then has a probability of 0.996; exploring has ended before it began.',
  ),
  largeInput: limit(
    'definition',
    10,
    'root mean square of the inputs that is large',
    'Units with weights of length 1 then see 10 or more, where tanh responds with a slope of 1e-8.',
  ),
  deadLayer: limit(
    'definition',
    0.1,
    "gradient of the first layer's bias over the next layer's, or half of its weights without any",
    'In a layer that responds both are of one size, within a small factor.',
  ),
  outweighs: limit(
    'definition',
    10,
    "critic's gradient over the policy's",
    'Ten times, and with it less than half of the step that the actor would take alone.',
  ),
  entropyDominates: limit(
    'definition',
    0.5,
    'entropy coefficient over the spread of the advantages',
    'An action that pays one standard deviation more than the others can then not hold a logit that is 2 above theirs.',
  ),
  entropyHeld: limit(
    'definition',
    0.9,
    'entropy as a share of log K that is held up',
    'What the cause means: choices stay spread out whatever they earn.',
  ),
  headGradient: limit(
    'tolerance',
    0.03,
    "relative difference of two lengths of the head's gradient that are the same",
    'The recorded length is a sum in single precision after clipping by a norm that is itself recorded in single precision.',
  ),
  valueFormula: limit(
    'tolerance',
    1e-3,
    'variation of the reported value loss over what a formula gives, within an update',
    'The right formula leaves a constant quotient, but for single precision; another formula must vary ten times as much.',
  ),
  metric: limit(
    'tolerance',
    1e-3,
    'relative difference of a reported metric from what the rows give',
    'Single precision, and logs that keep four digits. One and the same form of the metric must fit all steps.',
  ),
  metricShare: limit(
    'definition',
    0.25,
    'share of the steps that must report it wrongly, or a tenth from a late onset on',
    'A reading that is wrong now and then, by rows that were dropped for instance, misleads nobody.',
  ),
  leastRate: limit(
    'tolerance',
    1e-7,
    'learning rate that can change a single-precision parameter',
    'Half of the spacing of numbers near 1.',
  ),
} as const satisfies Record<string, Limit>;
