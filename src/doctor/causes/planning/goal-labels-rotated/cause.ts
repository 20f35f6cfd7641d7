/** A goal that was reached is counted as another one. */
import type { CauseEntry } from '../../cause.ts';

export const goalLabelsRotated: CauseEntry = {
  id: 'goal-labels-rotated',
  group: 'A',
  place: 51,
  decidedBy: ['samples.goal', 'samples.prior'],
  meaning: 'A goal that was reached is counted as another one.',
  toldApart:
    'The prior rises for another goal than the one the game says was reached, always the same number further on.',
  symptoms: [
    "models of the others learn each goal's moves under another goal's name",
    'priors end at the goals that partners do not have',
  ],
  proof: 'Goals as counted beside those that the game gives.',
  remedy: "Use one list of goals, in one order, for the game's report, the prior and the models.",
  pytorch: 'goal = GOALS.index(info["goal"])             # not enumerate() of another list',
  trueline: 'stages.label(reached, goals)  // stages.planner.label',
  chinese: {
    symptoms: ['对他人的模型把每个目标的走法学到了另一个目标名下', '先验停在同伴并没有的目标上'],
    meaning: '达成的目标被记成另一个目标。',
    remedy: '游戏的报告、先验和模型使用同一个、同一顺序的目标列表。',
    toldApart: '先验上升的不是游戏所说达成的目标，而总是编号相差固定数目的另一个。',
    proof: '所计的目标与游戏给出的目标并列。',
  },
};
