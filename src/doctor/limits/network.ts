/** Limits of what a network can express. */
import { type Limit, limit } from './limit.ts';

export const network = {
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
  severalChoices: limit(
    'definition',
    0.5,
    'logarithm of the number of candidates from which a choice is looked at',
    'Two candidates give 0.69.',
  ),
  headSize: limit('test', 8, 'parameters of a tensor whose steps are averaged', 'Fewer are a bias of a tiny head.'),
  headStep: limit('tolerance', 1e-8, 'step of a parameter that is a step', 'Below the spacing of numbers of size 0.1.'),
  squashed: limit(
    'definition',
    0.1,
    'change of the logits over that of a parameter of the head',
    'A logit is a sum over a layer of units, so it moves by more than one of them does.',
  ),
  restlessStep: limit(
    'tolerance',
    1e-6,
    'step of a head from which it should have gone somewhere',
    'Smaller ones do not leave rounding in a run.',
  ),
  flatForever: limit(
    'tolerance',
    1e-5,
    'spread of logits that is flat where no step is recorded',
    'A hundredth of `flatSpread`.',
  ),
  aliveShare: limit(
    'definition',
    0.5,
    "share of the first layer's weights with any gradient",
    'A layer of which half is silent has lost half of its inputs.',
  ),
} as const satisfies Record<string, Limit>;
