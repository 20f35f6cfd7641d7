/** A mean was subtracted per group of rows, which cancels the signal. */
import type { CauseEntry } from '../../cause.ts';

export const advantageGroupDemeaned: CauseEntry = {
  id: 'advantage-group-demeaned',
  group: 'B',
  place: 170,
  family: 'pairing',
  decidedBy: ['samples.action'],
  meaning: 'A mean was subtracted per group of rows, which cancels the signal.',
  toldApart:
    'Used minus recomputed is constant, or a line, within each action, type, environment or step of the rollout; per agent or per minibatch is healthy.',
  symptoms: ['choices between groups are never learnt', 'entropy stays high'],
  proof: 'One offset, or one line, per group makes all advantages agree.',
  remedy: 'Normalise over the whole batch (or over one agent), never per action, type, environment or step.',
  pytorch: 'adv = (adv - adv.mean()) / (adv.std() + 1e-8)  # over the batch',
  trueline: 'ppo: { advantageNormalisation: batch }',
  chinese: {
    symptoms: ['组与组之间的选择始终学不到', '熵一直很高'],
    meaning: '按行的组减去了均值，信号因此被抵消。',
    remedy: '在整个批次（或单个智能体）上归一化，绝不按动作、类型、环境或采样步归一化。',
    toldApart: '所用减去重算，在每个动作、类型、环境或采样步的组内是常数或一条直线；按智能体或按小批次则属正常。',
    proof: '每组一个偏移就使所有优势一致。',
  },
};
