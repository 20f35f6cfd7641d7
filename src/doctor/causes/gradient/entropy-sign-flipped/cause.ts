/** Entropy is minimised. */
import type { CauseEntry } from '../../cause.ts';

export const entropySignFlipped: CauseEntry = {
  id: 'entropy-sign-flipped',
  group: 'C',
  place: 300,
  explains: ['policy-collapsed', 'policy-detached'],
  decidedBy: ['steps.loss', 'steps.value_loss'],
  meaning: 'Entropy is minimised.',
  toldApart: 'The whole loss agrees with policy + c value plus e entropy; falling entropy alone is healthy.',
  symptoms: ['the policy becomes certain at once', 'exploration ends early'],
  pictures: ['entropy'],
  proof: 'The coefficient of the entropy, recovered from the whole loss and its parts, is of the wrong sign.',
  remedy: 'Subtract the entropy bonus from the loss.',
  pytorch: 'loss = policy_loss + c_v * value_loss - c_e * entropy',
  trueline: 'ppo: { entropyCoefficient: 0.01 }',
  chinese: {
    symptoms: ['策略立刻变得确定', '探索过早结束'],
    meaning: '熵被最小化了。',
    remedy: '从损失中减去熵奖励。',
    toldApart: '总损失与 policy + c value 加 e entropy 一致；仅仅熵下降属正常。',
    proof: '由总损失及其各部分求出的熵系数符号相反。',
  },
};
