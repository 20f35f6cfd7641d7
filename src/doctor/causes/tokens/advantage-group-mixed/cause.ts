/** The baseline is over other members than the prompt's own. */
import type { CauseEntry } from '../../cause.ts';

export const advantageGroupMixed: CauseEntry = {
  id: 'advantage-group-mixed',
  group: 'B',
  place: 174,
  explains: ['advantage-not-normalised'],
  decidedBy: ['responses.group', 'responses.reward'],
  meaning: "The baseline is over other members than the prompt's own.",
  toldApart: 'The grouping that reproduces every advantage: batch, neighbours, merged prompts, first member.',
  symptoms: ['advantages follow the difficulty of the prompt'],
  proof: 'Another grouping reproduces every advantage.',
  remedy: 'Group by the prompt instance that each response carries, not by its place in the batch.',
  pytorch: 'mean = scatter_mean(reward, group)[group]       # not reward.view(-1, G)',
  chinese: {
    symptoms: ['优势随提示的难度变化'],
    meaning: '基线取自并非该提示词自己的成员。',
    remedy: '按每个回答所带的提示词实例分组，而不是按它在批次中的位置。',
    toldApart: '能得出每个优势的分组：批次、相邻、合并的提示、首个成员。',
    proof: '换一种分组就得出每个优势。',
  },
};
