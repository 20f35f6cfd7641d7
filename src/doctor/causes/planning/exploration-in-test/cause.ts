/** Moves are drawn at random in episodes that are played to be judged. */
import type { CauseEntry } from '../../cause.ts';

export const explorationInTest: CauseEntry = {
  id: 'exploration-in-test',
  group: 'A',
  place: 57,
  decidedBy: ['samples.judged', 'samples.search_values', 'samples.logits', 'samples.rationality'],
  meaning: 'Moves are drawn at random in episodes that are played to be judged.',
  toldApart: "The choice of such a row is the search's own mixed with a uniform one.",
  symptoms: ['returns in tests lie below those of play', 'more search does not help in tests'],
  proof: 'The share of random moves, read off each choice and its search values.',
  remedy: 'Switch exploration off where an episode is played to be judged.',
  pytorch: 'policy = boltzmann(q) if test else (1 - eps) * boltzmann(q) + eps / n',
  trueline: 'explores: (training, judged) => training && !judged  // stages.planner.explores',
  chinese: {
    symptoms: ['测试时的回报低于训练时', '测试时搜索更多也没有帮助'],
    meaning: '在用于评判的局中随机抽取动作。',
    remedy: '在用于评判的局中关闭探索。',
    toldApart: '这种行的选择是搜索自己的结果与均匀选择的混合。',
    proof: '由每次选择及其搜索值读出的随机动作比例。',
  },
};
