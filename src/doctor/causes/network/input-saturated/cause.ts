/** Inputs are so large that the first layer is saturated. */
import type { CauseEntry } from '../../cause.ts';

export const inputSaturated: CauseEntry = {
  id: 'input-saturated',
  group: 'D',
  place: 330,
  explains: [
    'policy-detached',
    'advantage-sign-flipped',
    'learning-rate-too-small',
    'policy-head-flat',
    'policy-collapsed',
    'learning-rate-too-large',
    'parameters-overwritten',
    'weight-decay-pull',
  ],
  decidedBy: ['samples.obs', 'tensors.grad_norm'],
  meaning: 'Inputs are so large that the first layer is saturated.',
  toldApart: 'Large inputs together with a first layer that has no gradient.',
  symptoms: ['different observations give the same logits', 'gradients of the first layer near 0'],
  pictures: ['gradients', 'entropy'],
  proof: "The inputs' spread, and the first layer's gradient against the next layer's.",
  remedy: 'Scale observations to unit size, entry by entry, before the first layer.',
  pytorch: 'obs = (obs - running.mean) / (running.std + 1e-8)',
  trueline: 'a game gives observations of order 1; checkGame says so',
  chinese: {
    symptoms: ['不同的观测给出相同的 logits', '第一层的梯度接近 0'],
    meaning: '输入过大，使第一层饱和。',
    remedy: '在第一层之前，把观测逐项缩放到单位大小。',
    toldApart: '输入很大，同时第一层没有梯度。',
    proof: '输入的离散程度，以及第一层的梯度对照下一层的。',
  },
};
