/** A reward is stored at the action before or after the one that earned it. */
import type { CauseEntry } from '../../cause.ts';

export const rewardTimeShifted: CauseEntry = {
  id: 'reward-time-shifted',
  group: 'B',
  place: 110,
  explains: ['return-inconsistent', 'advantage-time-shifted'],
  decidedBy: ['samples.env_reward'],
  meaning: 'A reward is stored at the action before or after the one that earned it.',
  toldApart: 'Lagged agreement of the stored reward with what the environment paid.',
  symptoms: [
    'the agent learns to do what comes before or after the right action',
    'the first or last row of every episode has an odd reward',
  ],
  proof: 'The stored rewards equal the paid ones at a lag.',
  remedy: 'Append the reward that step() returns to the transition whose action was passed to step().',
  pytorch: `obs2, reward, *_ = env.step(action)
buffer.add(obs, action, reward)                # the same action`,
  trueline: 'Collector stores reward and env_reward beside the action that was played',
  chinese: {
    symptoms: ['智能体学到的是正确动作之前或之后的动作', '每局的第一行或最后一行奖励异常'],
    meaning: '奖励存到了挣得它的动作的前一个或后一个动作上。',
    remedy: '把 step() 返回的奖励加到传给 step() 的那个动作所在的转移上。',
    toldApart: '所存奖励与环境实付在平移下的一致。',
    proof: '所存奖励在平移后等于实付奖励。',
  },
};
