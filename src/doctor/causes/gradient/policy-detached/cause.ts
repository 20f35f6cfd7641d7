/** No policy gradient reaches the actor, or all of its layers but the last. */
import type { CauseEntry } from '../../cause.ts';

export const policyDetached: CauseEntry = {
  id: 'policy-detached',
  group: 'C',
  place: 270,
  follows: ['ratio'],
  explains: [
    'advantage-sign-flipped',
    'learning-rate-too-small',
    'policy-head-flat',
    'entropy-bonus-dominates',
    'value-loss-dominates',
    'weight-decay-pull',
  ],
  decidedBy: ['tensors.grad_norm', 'replays.after_logp'],
  meaning: 'No policy gradient reaches the actor, or all of its layers but the last.',
  toldApart: "The actor's gradients are 0, or are those of the entropy bonus alone; the critic's are not.",
  symptoms: ['entropy rises to log K or never moves', 'value loss falls and returns do not rise'],
  pictures: ['gradients', 'changes', 'reported-policy_loss'],
  proof: "The gradient of the actor is exactly 0, or equals the entropy term's recomputed from the rows.",
  remedy: 'Build new_logp from the live logits: no detach(), no no_grad(), no log of stored probabilities.',
  pytorch: 'new_logp = Categorical(logits=actor(obs)).log_prob(action)   # no .detach(), no torch.no_grad()',
  trueline: 'engine.update(jobs)   // the gradient of the surrogate is built in',
  chinese: {
    symptoms: ['熵升到 log K，或从不变化', '价值损失下降，回报不上升'],
    meaning: '策略梯度没有到达执行者网络，或只到达其最后一层。',
    remedy: '由实时的 logits 得出 new_logp：不要 detach()，不要 no_grad()，不要对保存的概率取对数。',
    toldApart: '行动者的梯度为 0，或只是熵奖励的梯度；评论家的则不是。',
    proof: '行动者的梯度恰为 0，或等于由各行重算的熵项的梯度。',
  },
};
