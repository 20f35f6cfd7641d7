/** The update sees observations normalised with other statistics than acting did. */
import type { CauseEntry } from '../../cause.ts';

export const normaliserDrifts: CauseEntry = {
  id: 'normaliser-drifts',
  group: 'A',
  place: 68,
  family: 'ratio',
  explains: ['old-logp-wrong', 'inputs-differ', 'recurrent-state-not-replayed', 'critic-context-misaligned'],
  decidedBy: ['samples.obs', 'replays.obs'],
  meaning:
    'The update sees observations normalised with other statistics than acting did: the normaliser went on learning in between.',
  toldApart:
    'Step by step, one scale and offset per dimension turn what acting saw into what the update sees, exactly.',
  symptoms: [
    'ratios are off 1 before the first step, less so as training goes on',
    'KL of the first minibatch shrinks over iterations',
  ],
  proof: 'Both observations of the same rows, and the map between them.',
  remedy:
    "Store observations as the policy saw them, and give the update those; or freeze the statistics from the rollout's first step to the update's last.",
  pytorch:
    'seen = normalise(obs)                        # once\nbuffer.add(obs=seen)                         # what the policy saw, not the raw one',
  trueline: '// discrete actions only',
  chinese: {
    symptoms: ['第一步之前比率偏离 1，随训练逐渐减轻', '第一个小批的 KL 随迭代变小'],
    meaning: '更新所见的观测用与行动时不同的统计量归一化：归一化器在其间继续学习了。',
    remedy: '保存策略当时看到的观测并交给更新；或从采样第一步到更新最后一步冻结统计量。',
    toldApart: '每一步里，各维度用一个比例和一个偏移就能把行动时所见精确变为更新时所见。',
    proof: '同一行的两份观测，以及两者之间的映射。',
  },
};
