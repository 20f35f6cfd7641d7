/** The optimiser steps with gradients that are longer than the declared limit. */
import type { CauseEntry } from '../../cause.ts';

export const gradientNotClipped: CauseEntry = {
  id: 'gradient-not-clipped',
  group: 'C',
  place: 285,
  explains: ['learning-rate-too-large', 'value-loss-dominates'],
  decidedBy: ['tensors.grad_norm', 'steps.grad_norm'],
  meaning:
    'The optimiser steps with gradients that are longer than the declared max_grad_norm: they are clipped after the step, before backward, or not at all.',
  toldApart:
    'The length over all parameters as the optimiser got it is beyond the limit, and it is the length that the program reports as the one before clipping.',
  symptoms: ['the reported length is beyond the limit, and clipping changes nothing', 'single steps that overshoot'],
  pictures: ['gradients'],
  proof: 'The lengths of all tensors at the moment of the step, against the declared limit.',
  remedy: 'Clip between backward and step.',
  pytorch: 'loss.backward()\nnn.utils.clip_grad_norm_(parameters, max_grad_norm)   # before the step\noptimizer.step()',
  trueline: 'gradients are clipped in the kernel that steps',
  chinese: {
    symptoms: ['报告的长度超过上限，而裁剪不起作用', '个别的步子迈得过大'],
    meaning: '优化器所用的梯度长于声明的 max_grad_norm：裁剪发生在更新之后、backward 之前，或根本没有。',
    remedy: '在 backward 与 step 之间裁剪。',
    toldApart: '优化器得到的全部参数的梯度长度超过上限，并且正是程序报告的裁剪前长度。',
    proof: '更新时各张量梯度的长度与声明的上限相比。',
  },
};
