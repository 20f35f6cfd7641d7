/** Gradients are not cleared between steps, so each step repeats the ones before it. */
import type { CauseEntry } from '../../cause.ts';

export const gradientsAccumulate: CauseEntry = {
  id: 'gradients-accumulate',
  group: 'C',
  place: 275,
  follows: ['ratio'],
  explains: [
    'learning-rate-too-large',
    'policy-collapsed',
    'loss-summed',
    'value-loss-dominates',
    'entropy-sign-flipped',
    'advantage-sign-flipped',
    'non-finite',
    'weight-decay-pull',
  ],
  decidedBy: ['tensors.grad_norm', 'replays.logits', 'steps.grad_norm'],
  meaning:
    'Gradients are not cleared between optimiser steps, so that each step takes those of all earlier minibatches once more.',
  toldApart:
    "The head's gradient is that of the step's own rows plus the gradients of the steps before it, to rounding, and not that of its own rows.",
  symptoms: ['gradient norms grow along an update', 'the policy overshoots although the learning rate is small'],
  proof: "The head's gradient added up over the steps, beside the recorded one.",
  remedy: 'Clear the gradients before every backward pass.',
  pytorch: 'optimizer.zero_grad()\nloss.backward()\noptimizer.step()',
  trueline: 'engine.update(jobs)   // every step starts from a gradient of 0',
  chinese: {
    symptoms: ['一次更新之内梯度范数不断增大', '学习率很小，策略却走过头'],
    meaning: '优化器各步之间没有清除梯度，每一步都把此前所有小批次的梯度再用一遍。',
    remedy: '在每次反向传播之前清除梯度。',
    toldApart: '输出层的梯度等于本步各行的梯度加上之前各步的梯度，误差仅为舍入，而不是只有本步各行的。',
    proof: '把各步的输出层梯度累加起来，与所记录的并列。',
  },
};
