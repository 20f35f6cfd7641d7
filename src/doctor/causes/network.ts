/** Groups D and E: the network cannot express it, and readings that lie. */
import type { CauseEntry } from './cause.ts';

export const networkCauses: readonly CauseEntry[] = [
  {
    id: 'policy-head-flat',
    group: 'D',
    meaning: 'Logits are nearly constant, and entropy sits at log K.',
    toldApart: 'The spread of the logits is tiny although the parameters move; something squashes or scales the head.',
    symptoms: ['entropy equals log K to three digits', 'KL near 0 while parameters change'],
    proof: 'Logits differ by less than 1e-3 within every row, and a step moves them by less than it moves the head.',
    remedy: 'Let nothing follow the last linear layer: no activation, no normalisation, no small factor.',
    pytorch:
      'actor.head = nn.Linear(128, n_actions)         # and nothing after it\nnn.init.orthogonal_(actor.head.weight, gain=0.01)',
    trueline: 'network: { headGain: 0.01 }',
  },
  {
    id: 'input-saturated',
    group: 'D',
    meaning: 'Inputs are so large that the first layer is saturated.',
    toldApart: 'Large inputs together with a first layer that has no gradient.',
    symptoms: ['different observations give the same logits', 'gradients of the first layer near 0'],
    proof: "The inputs' spread, and the first layer's gradient against the next layer's.",
    remedy: 'Scale observations to unit size, entry by entry, before the first layer.',
    pytorch: 'obs = (obs - running.mean) / (running.std + 1e-8)',
    trueline: 'a game gives observations of order 1; checkGame says so',
  },
  {
    id: 'policy-collapsed',
    group: 'D',
    meaning: 'Entropy is at 0 early, and one action is always chosen.',
    toldApart: 'Entropy and action counts before anything could be learnt.',
    symptoms: ['the same action always', 'KL and gradients near 0', 'returns do not change'],
    proof: 'In the first iteration the choices are already certain.',
    remedy: 'Initialise the head small (gain 0.01), and keep an entropy bonus until returns rise.',
    pytorch: 'nn.init.orthogonal_(actor.head.weight, gain=0.01); nn.init.zeros_(actor.head.bias)',
    trueline: 'network: { headGain: 0.01 }',
  },
  {
    id: 'kl-estimator-cancels',
    group: 'E',
    meaning: 'The reported KL is the mean of old - new and is mostly noise at this batch size.',
    toldApart: "The reported KL equals k1, and k1's standard error exceeds half of k2 while the policy visibly moves.",
    symptoms: ['KL reads 0 or negative', 'a KL stop that fires at random'],
    proof: 'The reported number equals k1 step by step, and its noise exceeds what it measures.',
    remedy: 'Report k3 = mean(ratio - 1 - log ratio).',
    pytorch: 'log_ratio = new_logp - old_logp\napprox_kl = (log_ratio.exp() - 1 - log_ratio).mean()',
    trueline: 'the reading k3',
  },
  {
    id: 'metric-misreported',
    group: 'E',
    meaning: 'A reported metric is not what the rows give.',
    toldApart: 'Recomputation.',
    symptoms: ['readings that contradict each other', 'a KL of 0 beside a clip fraction above 0'],
    proof:
      'The reported number differs from the one recomputed from the same rows, and agrees with another formula where one is named.',
    remedy: 'Average the metric over all rows of the update, from the ratios and distributions of the loss itself.',
    pytorch: 'metrics["approx_kl"] += kl * len(rows)          # then divide by all rows, once',
    trueline: 'readings are means over all rows of all minibatches',
  },
];
