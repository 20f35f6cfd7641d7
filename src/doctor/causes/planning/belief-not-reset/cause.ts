/** What is believed about the others goes on from one episode into the next, where it should begin with the prior. */
import type { CauseEntry } from '../../cause.ts';

export const beliefNotReset: CauseEntry = {
  id: 'belief-not-reset',
  group: 'A',
  place: 52,
  decidedBy: ['samples.belief', 'samples.prior', 'samples.likelihood'],
  meaning:
    'What is believed about the others goes on from one episode into the next, where it should begin with the prior.',
  toldApart:
    "Beliefs in an episode's first rows are not the prior, and go on from the last rows of the episode before; within episodes they follow the others' moves.",
  symptoms: ["an agent takes a partner's new goal for its old one in the first moves of an episode"],
  proof: 'The belief with which an episode begins beside the prior.',
  remedy: 'Set every belief to its prior where an episode begins, for partners that had not reached a goal as well.',
  pytorch: 'if t == 0:\n    belief[:] = prior                        # for every other agent',
  trueline: 'beliefs.begin(world)  // stages.planner.begin',
  chinese: {
    symptoms: ['一局的头几步里，智能体把同伴的新目标当成旧目标'],
    meaning: '关于他人的信念从一个回合延续到下一个回合，而它本应从先验开始。',
    remedy: '回合开始时把每个信念设为先验，对尚未达成目标的伙伴也一样。',
    toldApart: '各局首行的信念不是先验，而是接着上一局最后几行；在局内则随他人的动作而变。',
    proof: '一局开始时的信念与先验并列。',
  },
};
