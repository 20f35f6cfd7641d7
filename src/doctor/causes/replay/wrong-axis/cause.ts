/** The update takes probabilities along the rows of the minibatch, not along the actions of a row. */
import type { CauseEntry } from '../../cause.ts';

export const wrongAxis: CauseEntry = {
  id: 'wrong-axis',
  group: 'A',
  place: 65,
  family: 'ratio',
  explains: ['non-finite', 'stochastic-forward', 'old-logp-wrong', 'inputs-differ', 'entropy-of-another-distribution'],
  decidedBy: ['replays.logits'],
  meaning:
    'The update computes log-probabilities along the wrong axis: a softmax or a gather over the rows of a minibatch, not over the actions of each row.',
  toldApart:
    "The update's logits are the row's own; its log-probability is the logit less the logarithm of the sum over the rows of the minibatch, or that of the row whose number the action is.",
  symptoms: ['ratios near 0 before the first step', 'log-probabilities that change with the size of the minibatch'],
  proof: 'Log-probabilities recomputed over the rows of the minibatch from the logits of the update.',
  remedy: 'Take softmax and gather along the last axis, that of the actions.',
  pytorch:
    'logp_all = torch.log_softmax(logits, dim=-1)              # not dim=0\nlogp = logp_all.gather(-1, action.unsqueeze(-1)).squeeze(-1)',
  trueline: 'localPolicy(logits, candidates, legal, temperature)   // one row at a time, both times',
  chinese: {
    symptoms: ['第一步之前比率接近 0', '对数概率随小批大小而变'],
    meaning: '更新沿错误的轴计算对数概率：对小批的各行做 softmax 或 gather，而不是对每一行的动作。',
    remedy: 'softmax 与 gather 都应沿最后一轴，即动作轴。',
    toldApart:
      '更新的 logits 是该行自己的；其对数概率却等于该 logit 减去小批各行之和的对数，或者是以动作编号为行号的那一行的对数概率。',
    proof: '用更新的 logits 在小批的各行上重新计算的对数概率。',
  },
};
