/** The loss follows an exact formula that is not the declared one. */
import type { CauseEntry } from '../../cause.ts';

export const lossFormulaDiffers: CauseEntry = {
  id: 'loss-formula-differs',
  group: 'C',
  place: 295,
  follows: ['ratio'],
  explains: [
    'metric-misreported',
    'advantage-sign-flipped',
    'policy-detached',
    'learning-rate-too-small',
    'policy-collapsed',
  ],
  decidedBy: ['steps.policy_loss', 'tensors.grad_norm', 'replays.logits'],
  meaning:
    'The loss follows an exact formula that is not the declared one: a ratio without exp, a clip on the wrong side, the larger term for the smaller, a value loss that is subtracted.',
  toldApart:
    'The formula that gives the reported losses, or the gradient of the head, to rounding in every step where the clipped surrogate does not.',
  symptoms: ['training drifts once ratios leave the clip', 'clip fraction grows, or the clip never binds'],
  proof: 'Losses, or lengths of the gradient, recomputed from the rows by that formula.',
  remedy: 'Compare the formula that was read off the rows with the clipped surrogate, term by term.',
  pytorch:
    'ratio = (new_logp - old_logp).exp()\nloss = -torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv).mean()',
  trueline: 'lossOfRow(row, settings)   // src/algorithms/ppo/loss.ts is the formula',
  chinese: {
    symptoms: ['比率一旦离开裁剪范围，训练就走偏', '裁剪比例增大，或裁剪从不生效'],
    meaning:
      '损失严格遵循某个公式，但不是声明的公式：比率缺少 exp、裁剪方向错误、取了较大者而非较小者、减去了价值损失。',
    remedy: '把从数据行读出的公式与裁剪目标逐项比较。',
    toldApart: '在截断替代目标不成立的每一步里，该公式都能得出所报告的损失或输出层的梯度，误差仅为舍入。',
    proof: '按该公式由各行重算的损失或梯度长度。',
  },
};
