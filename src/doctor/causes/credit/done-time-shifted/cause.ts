/** The episode end is read one step early or late in the credit pass. */
import type { CauseEntry } from '../../cause.ts';

export const doneTimeShifted: CauseEntry = {
  id: 'done-time-shifted',
  group: 'B',
  place: 120,
  family: 'pairing',
  decidedBy: ['samples.env', 'samples.next_value'],
  meaning: 'The episode end is read one step early or late in the credit pass.',
  toldApart: 'Recomputed advantages agree with the end moved by one.',
  symptoms: ['values near episode ends are wrong', 'credit leaks from the first step of the next episode'],
  proof:
    'The advantages that the loss used are recomputed from rewards, values and ends, and agree only after the transform named.',
  remedy:
    "Use done[t] of the transition t, the one whose next state is terminal, in delta and in the trace. Where a program keeps the flag that came before each row and its credit pass knows it, the recording call is the likely mistake: give samples(terminated=, truncated=) the flags that follow the row's action, dones[t + 1].",
  pytorch: `mask = 1 - terminated[t]                        # a truncation is not a termination
delta = reward[t] + gamma * next_value[t] * mask - value[t]
last = delta + gamma * lam * (1 - ended[t]) * last`,
  trueline: 'assignCredit(batch, gamma, lambda)   // rows sorted by (episode, t, agent)',
  chinese: {
    symptoms: ['局末附近的价值不对', '功劳从下一局的第一步漏过来'],
    meaning: '计算优势时，回合的结束被提前或推迟了一步。',
    remedy:
      '在 delta 与迹中都使用转移 t 的 done[t]，即其下一状态为终止的那一个。若程序保存的是每行之前的标志，而它自己的优势计算知道这一点，则很可能是录制调用有误：请把该行动作之后的标志 dones[t + 1] 交给 samples(terminated=, truncated=)。',
    toldApart: '把结束移动一步后，重算的优势一致。',
    proof: '由奖励、价值与结束标记重算损失所用的优势，只有经所说的变换后才一致。',
  },
};
