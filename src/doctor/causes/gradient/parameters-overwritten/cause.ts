/** Parameters change other than by the gradient step (reload, re-initialisation, copied target). */
import type { CauseEntry } from '../../cause.ts';

export const parametersOverwritten: CauseEntry = {
  id: 'parameters-overwritten',
  group: 'C',
  place: 370,
  explains: [
    'policy-head-flat',
    'stochastic-forward',
    'old-logp-wrong',
    'critic-context-misaligned',
    'learning-rate-too-large',
    'learning-rate-too-small',
    'weight-decay-pull',
    'policy-collapsed',
    'metric-misreported',
    'input-saturated',
    'advantage-sign-flipped',
  ],
  decidedBy: ['tensors.delta_norm', 'tensors.norm', 'replays.value'],
  meaning: 'Parameters change other than by the gradient step (reload, re-initialisation, copied target).',
  toldApart:
    "Change far above the rate times Adam's bound, norms that jump between steps, or a policy that returns to an earlier one.",
  symptoms: ['progress is lost at regular intervals', 'the ratio is far from 1 at the start of some updates'],
  pictures: ['changes', 'kl'],
  proof: 'A tensor changed by many times what its step can account for.',
  remedy: 'Find who else writes the parameters (load_state_dict, init, polyak updates) and take it out of the loop.',
  pytorch: 'before = [p.clone() for p in actor.parameters()]   # compare at the start of the next iteration',
  trueline: 'policy.write(...) is called by no stage of a clean run',
  chinese: {
    symptoms: ['进步每隔固定时间就丢失', '某些更新开始时比率远离 1'],
    meaning: '参数的变化不是由梯度步造成的（重新加载、重新初始化、复制目标网络）。',
    remedy: '找出还有谁在写参数（load_state_dict、初始化、polyak 更新），并把它移出循环。',
    toldApart: '变化远大于学习率乘以 Adam 的界限，范数在步与步之间跳跃，或策略回到了更早的样子。',
    proof: '某张量的变化是其步所能解释的许多倍。',
  },
};
