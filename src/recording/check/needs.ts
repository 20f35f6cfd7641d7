/** Which questions a recording can answer: for each, the columns that it needs. `inspect` tells from this what is missing before anybody asks. */

export interface Need {
  readonly question: string;
  readonly chinese: string;
  /** Every group must be met; within a group any one of the columns (or a policy snapshot) will do. */
  readonly needs: readonly (readonly string[])[];
}

export const snapshots = 'policies/*.onnx';

const needs: readonly Need[] = [
  {
    question: 'Is the sampled log-probability that of the action and its candidates?',
    chinese: '采样的对数概率是否属于该动作及其候选？',
    needs: [['samples.action'], ['samples.logits', snapshots]],
  },
  {
    question: 'Does the update replay the distribution that was sampled from?',
    chinese: '更新是否重放了采样时的分布？',
    needs: [['replays.new_logp'], ['samples.old_logp']],
  },
  {
    question: 'Which candidate list, mask or temperature did the update use?',
    chinese: '更新用了哪个候选列表、掩码或温度？',
    needs: [['replays.new_logp'], ['samples.action'], ['samples.logits', 'replays.logits', snapshots]],
  },
  {
    question: 'Is the credit right (rewards, values, ends)?',
    chinese: '优势是否正确（奖励、价值、终止）？',
    needs: [['samples.reward'], ['samples.value'], ['samples.terminated'], ['samples.advantage', 'replays.advantage']],
  },
  {
    question: "Is the credit the sample's own?",
    chinese: '优势是否属于该样本自己？',
    needs: [['replays.advantage'], ['samples.advantage', 'samples.reward']],
  },
  {
    question: 'Is the target of the critic right?',
    chinese: '评论家的目标是否正确？',
    needs: [['samples.value'], ['samples.return', 'replays.return']],
  },
  {
    question: 'Does the critic see the right row?',
    chinese: '评论家看到的行是否正确？',
    needs: [['replays.value'], ['samples.value']],
  },
  {
    question: "Is a policy trained on its own agent's rows?",
    chinese: '策略是否用自己智能体的行训练？',
    needs: [['replays.policy'], ['samples.agent']],
  },
  {
    question: 'Does the gradient reach and move the policy?',
    chinese: '梯度是否到达并推动策略？',
    needs: [['tensors.grad_norm'], ['tensors.delta']],
  },
  {
    question: 'Does every parameter have exactly one optimiser?',
    chinese: '每个参数是否恰好有一个优化器？',
    needs: [['tensors.bound']],
  },
  {
    question: 'Is the loss what its rows give?',
    chinese: '损失与其数据行算出的一致吗？',
    needs: [['steps.policy_loss'], ['replays.new_logp'], ['replays.advantage']],
  },
  {
    question: 'Are KL, clip fraction and entropy reported as they are?',
    chinese: 'KL、裁剪比例与熵是否如实报告？',
    needs: [['steps.approx_kl', 'steps.clip_fraction', 'steps.entropy'], ['replays.new_logp']],
  },
  {
    question: 'Can the network express a policy?',
    chinese: '网络能否表达一个策略？',
    needs: [['steps.logits_std', 'samples.logits', 'replays.logits']],
  },
  { question: 'Do equal agents come out equal?', chinese: '相同的智能体结果相等吗？', needs: [['episodes.return']] },
  {
    question: 'Are agents updated and fed equally?',
    chinese: '各智能体的更新与数据是否均等？',
    needs: [['counters.value']],
  },
];

/** For language models: each question with the causes that it decides about. */
const tokenNeeds: readonly Need[] = [
  [
    'Do sampler and trainer agree (temperature-mismatch, weights-not-synced, retokenised, loss-mask-shifted)?',
    'samples.sampler_logp',
    'samples.logp_tempered samples.control_logp replays.new_logp',
  ],
  ['What is the floor of rounding under that comparison?', 'samples.control_logp', 'samples.control2_logp'],
  ["What is the sampler's own floor?", 'samples.sampler_again_logp'],
  [
    'At which temperature does the sampler report (temperature-mismatch)?',
    'samples.logp_plain',
    'samples.logp_tempered',
  ],
  ['Over which tokens does the sampler normalise (support-truncated)?', 'samples.kept_mass'],
  [
    "Does the trainer's batch change what a clean pass gives (positions-shifted, packing-leak, stochastic-forward)?",
    'samples.control_logp',
    'samples.logp_tempered replays.new_logp',
  ],
  ['Does disagreement grow with padding (positions-shifted)?', 'responses.padding responses.sampler_padding'],
  ['Do packed sequences see each other (packing-leak)?', 'replays.pack'],
  [
    'Whose weights does the sampler serve (weights-not-synced)?',
    'samples.earlier_logp samples.reference_logp',
    'responses.sampler_version',
    'responses.trainer_version',
  ],
  [
    'Does the sampler reuse a cache of older weights (cache-stale)?',
    'responses.cached_tokens',
    'responses.cached_version',
  ],
  ['Were the trained ids sampled (retokenised)?', 'responses.sampled'],
  [
    'Which tokens are trained (loss-mask-shifted, environment-tokens-trained, padding-trained)?',
    'samples.source',
    'samples.trained replays.coef',
  ],
  [
    'What does the loss do with each token (loss-normaliser-wrong, importance-weight-missing, kl-term-wrong, advantage-sign-flipped)?',
    'replays.coef',
    'replays.advantage samples.advantage responses.advantage',
  ],
  [
    'Is the normaliser that of the whole step (loss-normaliser-wrong)?',
    'replays.coef',
    'steps.tokens',
    'steps.sequences',
    'replays.micro_batch',
  ],
  ['Is the reference what it should be (reference-wrong)?', 'samples.reference_logp', 'responses.trainer_version'],
  [
    'Whose rewards make the baseline (advantage-group-mixed, baseline-includes-masked)?',
    'responses.reward',
    'responses.group',
    'responses.advantage samples.advantage',
  ],
  [
    'Do rewards belong to their responses (reward-misordered)?',
    'responses.reward',
    'responses.graded responses.rewarded_as episodes.return',
  ],
  [
    'How are answers treated that the length limit cut (truncated-response-rewarded)?',
    'responses.finish',
    'responses.reward',
  ],
  ['Is the reward on the right token (reward-token-wrong)?', 'samples.reward', 'samples.value', 'samples.advantage'],
  ['How many groups carry a signal (group-degenerate)?', 'responses.reward', 'responses.group'],
].map(([question, ...groups]) => ({
  question,
  // The causes that it decides about are named in parentheses, and are called the same in every language.
  chinese: `能否判定 ${/\(([^)]*)\)/.exec(question)?.[1] ?? ''}？`,
  needs: groups.map((group) => group.split(' ')),
}));

/** Of decisions, these are asked of tokens too. */
const shared = [
  'Does the gradient reach and move the policy?',
  'Does every parameter have exactly one optimiser?',
  'Are KL, clip fraction and entropy reported as they are?',
];

export function questionsOf(tokens: boolean): readonly Need[] {
  return tokens ? [...tokenNeeds, ...needs.filter(({ question }) => shared.includes(question))] : needs;
}
