/** A shared trunk, or a shared gradient clip, is owned by the critic. */
import type { CauseEntry } from '../../cause.ts';

export const valueLossDominates: CauseEntry = {
  id: 'value-loss-dominates',
  group: 'C',
  place: 320,
  explains: ['learning-rate-too-small', 'policy-head-flat', 'advantage-not-normalised'],
  decidedBy: ['steps.value_grad_norm', 'steps.policy_grad_norm'],
  meaning: 'A shared trunk, or a shared gradient clip, is owned by the critic.',
  toldApart: "The critic's gradient outweighs the policy's, and the actor's step suffers from it.",
  symptoms: ['value loss of hundreds', 'the actor hardly moves'],
  pictures: ['gradients', 'changes'],
  proof:
    "The shared limit takes more than half of the actor's step (or the trunk is shared and the critic's gradient is ten times the policy's).",
  remedy: "Normalise the critic's targets, lower its coefficient, or clip actor and critic apart.",
  pytorch: 'clip_grad_norm_(actor.parameters(), 0.5); clip_grad_norm_(critic.parameters(), 0.5)',
  trueline: 'ppo: { gradClip: role, valueNormalisation: true }',
  chinese: {
    symptoms: ['价值损失达到数百', 'actor 几乎不动'],
    meaning: '共享的主干或共享的梯度裁剪被评论家占据。',
    remedy: '归一化评论家的目标，降低其系数，或对执行者与评论家分别裁剪。',
    toldApart: '评论家的梯度压过策略的，行动者的步因此受损。',
    proof: '共用的限制占去行动者一步的一半以上（或主干共用，且评论家的梯度是策略的十倍）。',
  },
};
