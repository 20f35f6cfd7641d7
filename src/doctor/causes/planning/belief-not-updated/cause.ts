/** What is believed about the others' goals does not follow their moves. */
import type { CauseEntry } from '../../cause.ts';

export const beliefNotUpdated: CauseEntry = {
  id: 'belief-not-updated',
  group: 'A',
  place: 53,
  decidedBy: ['samples.belief', 'samples.likelihood'],
  meaning: "What is believed about the others' goals does not follow their moves.",
  toldApart: "The next row's belief is this row's, although the chances of the move under the goals differ.",
  symptoms: ['an agent plans as if it had not seen what its partners do'],
  proof: "Beliefs as planned with beside those that Bayes' rule gives from the recorded chances.",
  remedy: 'Multiply each belief with the chance of the move under each goal, and normalise, after every step.',
  pytorch: 'belief *= likelihood                         # per goal\nbelief /= belief.sum()',
  trueline: 'beliefs.see(at, likelihood, 0)  // stages.planner.see',
  chinese: {
    symptoms: ['智能体规划时像没看见同伴的行动'],
    meaning: '关于他人目标的信念不随其动作更新。',
    remedy: '每一步之后，把每个信念乘以该动作在各目标下的概率，再归一化。',
    toldApart: '尽管该动作在各目标下的概率不同，下一行的信念仍是这一行的。',
    proof: '规划所用的信念，与按贝叶斯法则由所记概率得出的信念并列。',
  },
};
