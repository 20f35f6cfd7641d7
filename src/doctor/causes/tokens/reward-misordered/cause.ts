/** Rewards belong to other responses. */
import type { CauseEntry } from '../../cause.ts';

export const rewardMisordered: CauseEntry = {
  id: 'reward-misordered',
  group: 'B',
  place: 104,
  family: 'pairing',
  explains: ['advantage-group-mixed', 'advantage-shuffled', 'group-degenerate'],
  decidedBy: ['responses.graded', 'responses.rewarded_as'],
  meaning: 'Rewards belong to other responses.',
  toldApart:
    "The grader's own key, the row that the reward was computed for, or the episode's return gives other rewards; without such a witness it is not checked.",
  symptoms: ['rewards do not rise although everything moves'],
  proof: 'The rewards are those that the grader gave, in another order.',
  remedy: 'Carry one key per response through grading, and look rewards up by it.',
  pytorch: 'reward = [grades[key] for key in batch.keys]    # not zip(grades, batch)',
  chinese: {
    symptoms: ['一切都在动，奖励却不上升'],
    meaning: '奖励属于别的回答。',
    remedy: '让每个回答带着自己的键经过评分，并按键取回奖励。',
    toldApart: '评分器自己的键、奖励所针对的行或该局的回报给出别的奖励；没有这样的凭据就不检查。',
    proof: '奖励就是评分器给出的那些，只是次序不同。',
  },
};
