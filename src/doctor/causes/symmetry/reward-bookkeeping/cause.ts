/** Rewards are credited to the wrong agent, scaled or masked for some. */
import type { CauseEntry } from '../../cause.ts';

export const rewardBookkeeping: CauseEntry = {
  id: 'reward-bookkeeping',
  group: 'F',
  place: 1020,
  meaning: 'Rewards are credited to the wrong agent, scaled or masked for some.',
  toldApart: 'Sum over agents conserved or not; log against environment.',
  symptoms: ['returns ordered by agent number across seeds'],
  proof: 'The stored rewards of some agents are not what the environment paid them.',
  remedy: 'Store rewards by agent name straight from step().',
  pytorch: 'buffer[agent].reward.append(rewards[agent])',
  trueline: 'reward and env_reward are columns of one row',
  chinese: {
    symptoms: ['在各个种子上，回报都按智能体编号排序'],
    meaning: '奖励记到了错误的智能体名下，或对某些智能体被缩放或屏蔽。',
    remedy: '直接按智能体名称保存 step() 给出的奖励。',
    toldApart: '对智能体求和是否守恒；日志对照环境。',
    proof: '某些智能体所存的奖励不是环境付给它们的。',
  },
};
