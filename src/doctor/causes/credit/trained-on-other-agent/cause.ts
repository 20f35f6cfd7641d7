/** A policy is updated with another agent's rows. */
import type { CauseEntry } from '../../cause.ts';

export const trainedOnOtherAgent: CauseEntry = {
  id: 'trained-on-other-agent',
  group: 'B',
  place: 10,
  family: 'ratio',
  explainsFamilies: ['ratio'],
  explains: ['critic-context-misaligned', 'value-scale-mismatch', 'loss-summed'],
  decidedBy: ['replays.policy'],
  meaning: "A policy is updated with another agent's rows.",
  toldApart: 'The policy of the replay against the agent of the sample.',
  symptoms: ['ratios far from 1 for one policy', 'value loss sane for one agent only'],
  proof: 'The rows of the update belong to agents that another policy plays for.',
  remedy: "Select rows by agent before the update, and assert that every row's agent is the policy's own.",
  pytorch: `own = batch['agent'] == agent
update(policy[agent], {k: v[own] for k, v in batch.items()})`,
  trueline: 'selectRows(batch, learner, rows)',
  chinese: {
    symptoms: ['某一个策略的比率远离 1', '只有一个智能体的价值损失正常'],
    meaning: '某个策略用另一个智能体的行来更新。',
    remedy: '更新前按智能体选行，并断言每一行的智能体就是该策略自己的。',
    toldApart: '重放的策略对照样本的智能体。',
    proof: '更新所用的行属于由另一策略代表的智能体。',
  },
};
