/** The environment treats a name or index specially. */
import type { CauseEntry } from '../../cause.ts';

export const environmentNameBias: CauseEntry = {
  id: 'environment-name-bias',
  group: 'F',
  place: 1010,
  meaning: 'The environment treats a name or index specially.',
  toldApart: 'The advantage follows the name when seats are permuted.',
  symptoms: ['returns ordered by agent number across seeds'],
  proof: 'Returns by name differ under a random policy with seats dealt.',
  remedy: 'Remove what reads the name or the index from the rules of the environment.',
  pytorch: '# no branch on agent_id in step()',
  trueline: 'checkGame(() => game)',
  chinese: {
    symptoms: ['在各个种子上，回报都按智能体编号排序'],
    meaning: '环境对某个名称或编号另眼相待。',
    remedy: '从环境规则中去掉读取名称或编号的部分。',
    toldApart: '交换位置时，优势跟随名称。',
    proof: '在随机策略、位置随机分配下，回报随名称而异。',
  },
};
