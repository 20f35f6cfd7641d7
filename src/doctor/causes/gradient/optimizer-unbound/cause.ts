/** Gradients exist, and no optimiser holds the parameters. */
import type { CauseEntry } from '../../cause.ts';

export const optimizerUnbound: CauseEntry = {
  id: 'optimizer-unbound',
  group: 'C',
  place: 250,
  explains: [
    'learning-rate-too-small',
    'policy-head-flat',
    'head-unbound',
    'entropy-bonus-dominates',
    'old-logp-recomputed',
    'metric-misreported',
  ],
  decidedBy: ['tensors.bound', 'tensors.delta'],
  meaning:
    'Gradients of the actor, of some of its layers or of the critic exist, and no optimiser holds the parameters.',
  toldApart: 'Gradient above 0, change exactly 0.',
  symptoms: ['KL, clip fraction and entropy never move', 'value loss may still fall'],
  pictures: ['gradients', 'changes'],
  proof: 'The tensors have a gradient in every step and are the same number by number after it.',
  remedy:
    'Pass the parameters of every actor and of the critic to the optimiser, after they are built, and step every optimiser.',
  pytorch: 'optimizer = Adam([{"params": a.parameters()} for a in actors] + [{"params": critic.parameters()}])',
  trueline: 'job.bound counts the groups that hold each tensor; the guard reports a 0',
  chinese: {
    symptoms: ['KL、裁剪比例与熵从不变化', '价值损失可能仍在下降'],
    meaning: '执行者、其部分层或评论家有梯度，却没有优化器持有其参数。',
    remedy: '网络建好之后，把每个执行者和评论家的参数交给优化器，并让每个优化器都走步。',
    toldApart: '梯度大于 0，变化恰为 0。',
    proof: '这些张量每一步都有梯度，而步后逐个数字都没有变。',
  },
};
