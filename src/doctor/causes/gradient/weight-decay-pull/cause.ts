/** Decay moves the policy more than the policy gradient does. */
import type { CauseEntry } from '../../cause.ts';

export const weightDecayPull: CauseEntry = {
  id: 'weight-decay-pull',
  group: 'C',
  place: 360,
  follows: ['ratio'],
  explains: [
    'advantage-sign-flipped',
    'policy-head-flat',
    'entropy-bonus-dominates',
    'parameters-overwritten',
    'learning-rate-too-small',
  ],
  decidedBy: ['tensors.weight_decay', 'tensors.delta_norm'],
  meaning: 'Decay moves the policy more than the policy gradient does.',
  toldApart:
    'The change is explained by rate x decay x norm (or the decay outweighs the gradient inside the optimiser), and norms shrink.',
  symptoms: ['logits shrink, entropy rises to log K', 'large parameter changes with tiny gradients'],
  pictures: ['changes', 'kl'],
  proof: 'Rate, decay and norm account for most of the change of the tensors.',
  remedy: 'Set the weight decay of the actor to 0, of its last layer at least.',
  pytorch: 'Adam([{"params": actor.parameters(), "weight_decay": 0.0}])',
  trueline: 'ppo: { weightDecay: 0 }',
  chinese: {
    symptoms: ['logits 变小，熵升到 log K', '梯度极小，参数变化却很大'],
    meaning: '权重衰减对策略的推动超过了策略梯度。',
    remedy: '把执行者的权重衰减设为 0，至少最后一层如此。',
    toldApart: '变化可由学习率 x 衰减 x 范数解释（或在优化器内衰减压过梯度），且范数缩小。',
    proof: '学习率、衰减与范数解释了张量的大部分变化。',
  },
};
