/** Rows that no decision made (reset steps, dummy actions after leaving) are trained on. */
import type { CauseEntry } from '../../cause.ts';

export const phantomSteps: CauseEntry = {
  id: 'phantom-steps',
  group: 'B',
  place: 100,
  explainsFamilies: ['pairing'],
  explains: [
    'return-inconsistent',
    'old-logp-wrong',
    'reward-time-shifted',
    'mask-not-replayed',
    'critic-context-misaligned',
    'advantage-degenerate',
  ],
  decidedBy: ['replays.weight', 'samples.obs'],
  meaning: 'Rows that no decision made (reset steps, dummy actions after leaving) are trained on.',
  toldApart: 'Rows after an end, or repeated steps, that enter the loss.',
  symptoms: ['one action is learnt for no reason', 'agents that leave early behave oddly'],
  proof: "The rows lie after their episode's end or repeat a step, and have weight in the loss.",
  remedy: 'Store a row only when the agent is present and chose an action, and give others weight 0.',
  pytorch: `mask = alive[t] & ~ended_before[t]
loss = (loss * mask).sum() / mask.sum()`,
  trueline: 'a seat whose player has left makes no row',
  chinese: {
    symptoms: ['无缘无故学会某一个动作', '提前离开的智能体行为异常'],
    meaning: '训练用到了并非由决策产生的行（重置步、离场后的虚设动作）。',
    remedy: '只在智能体在场并选择了动作时保存一行，其余的权重为 0。',
    toldApart: '进入损失的、结束之后的行或重复的步。',
    proof: '这些行在所在局结束之后，或重复了某一步，却在损失中有权重。',
  },
};
