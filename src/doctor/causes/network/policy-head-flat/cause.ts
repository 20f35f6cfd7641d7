/** Logits are nearly constant, and entropy sits at log K. */
import type { CauseEntry } from '../../cause.ts';

export const policyHeadFlat: CauseEntry = {
  id: 'policy-head-flat',
  group: 'D',
  place: 340,
  follows: ['ratio'],
  explains: [
    'advantage-sign-flipped',
    'learning-rate-too-small',
    'entropy-bonus-dominates',
    'weight-decay-pull',
    'head-unbound',
    'optimizer-unbound',
    'policy-detached',
  ],
  decidedBy: ['samples.logits'],
  meaning: 'Logits are nearly constant, and entropy sits at log K.',
  toldApart: 'The spread of the logits is tiny although the parameters move; something squashes or scales the head.',
  symptoms: ['entropy equals log K to three digits', 'KL near 0 while parameters change'],
  pictures: ['entropy'],
  proof: 'Logits differ by less than 1e-3 within every row, and a step moves them by less than it moves the head.',
  remedy: 'Let nothing follow the last linear layer: no activation, no normalisation, no small factor.',
  pytorch: `actor.head = nn.Linear(128, n_actions)         # and nothing after it
nn.init.orthogonal_(actor.head.weight, gain=0.01)`,
  trueline: 'network: { headGain: 0.01 }',
  chinese: {
    symptoms: ['熵在三位数字上等于 log K', '参数在变，KL 却接近 0'],
    meaning: 'logits 几乎为常数，熵停在 log K。',
    remedy: '最后一个线性层之后什么都不要加：不加激活，不加归一化，不乘小系数。',
    toldApart: '参数在变，logits 的离散程度却极小；有什么在压缩或缩放输出层。',
    proof: '每一行内 logits 相差都小于 1e-3，且一步对它们的移动小于对输出层的移动。',
  },
};
