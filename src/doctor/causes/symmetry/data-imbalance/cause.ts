/** Agents' buffers receive unequal data. */
import type { CauseEntry } from '../../cause.ts';

export const dataImbalance: CauseEntry = {
  id: 'data-imbalance',
  group: 'F',
  place: 1060,
  meaning: "Agents' buffers receive unequal data.",
  toldApart: 'Counters of pushes, sizes, early returns.',
  symptoms: ['returns ordered by agent number across seeds'],
  proof: 'push and buffer counters differ between agents.',
  remedy: 'Push one row per decision for every agent, and find the early return that skips some.',
  pytorch: 'assert len(buffers[a]) == len(buffers[b])',
  trueline: 'counters: push.real, buffer.real',
  chinese: {
    symptoms: ['在各个种子上，回报都按智能体编号排序'],
    meaning: '各智能体的缓冲区得到的数据不相等。',
    remedy: '每个智能体的每次决策都推入一行，并找出跳过某些行的提前返回。',
    toldApart: '推入次数、大小与提前返回的计数器。',
    proof: 'push 与 buffer 计数器在智能体之间不同。',
  },
};
