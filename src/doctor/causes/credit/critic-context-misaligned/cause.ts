/** The critic's input or target belongs to another agent or step. */
import type { CauseEntry } from '../../cause.ts';

export const criticContextMisaligned: CauseEntry = {
  id: 'critic-context-misaligned',
  group: 'B',
  place: 240,
  // Values of another state than the row's give credit that fits no row.
  explains: ['credit-formula-differs'],
  decidedBy: ['replays.value'],
  meaning: "The critic's input or target belongs to another agent or step.",
  toldApart:
    'Before the first step the value of the update disagrees with the stored one on the same row and agrees at a lag or at another agent.',
  symptoms: ['explained variance near 0 for some agents', 'value loss does not fall'],
  proof: "The critic's values (or targets) of the update equal the stored ones of other rows.",
  remedy:
    "Build the central critic's input from the row's own (episode, t) and agent, and sort by the triple before the update.",
  pytorch: 'context = states[episode, t]                   # the same keys as obs and action',
  trueline: 'batch.criticState is a column of the row',
  chinese: {
    symptoms: ['部分智能体的解释方差接近 0', '价值损失不下降'],
    meaning: '评论家的输入或目标属于另一个智能体或另一步。',
    remedy: '用该行自己的 (episode, t) 与智能体构造评论家的输入，更新前按这三者排序。',
    toldApart: '第一步之前，更新的价值与同一行所存的不符，而在某一平移处或与另一智能体一致。',
    proof: '更新中评论家的价值（或目标）等于别的行所存的。',
  },
};
