/** A physical seat (start, view, tie-break by seat) is better. */
import type { CauseEntry } from '../../cause.ts';

export const environmentSeatBias: CauseEntry = {
  id: 'environment-seat-bias',
  group: 'F',
  place: 1000,
  meaning: 'A physical seat (start, view, tie-break by seat) is better.',
  toldApart: 'Random play; the advantage stays with the seat when names are permuted.',
  symptoms: ['returns ordered by agent number across seeds'],
  proof: 'Returns by seat differ under a random policy.',
  remedy: 'Make starts, views and tie-breaks independent of the seat, or deal agents to seats anew in every episode.',
  pytorch: 'order = rng.permutation(n_agents)              # tie-breaks by chance, not by index',
  trueline: 'deal: true',
  chinese: {
    symptoms: ['在各个种子上，回报都按智能体编号排序'],
    meaning: '某个实际位置（起点、视角、按位置裁决平局）更有利。',
    remedy: '让起点、视角与平局裁决与位置无关，或每回合重新分配位置。',
    toldApart: '随机玩法；交换名称时，优势仍留在该位置。',
    proof: '在随机策略下，回报随位置而异。',
  },
};
