/** Normalised values are mixed with raw returns. */
import type { CauseEntry } from '../../cause.ts';

export const valueScaleMismatch: CauseEntry = {
  id: 'value-scale-mismatch',
  group: 'B',
  place: 200,
  follows: ['pairing'],
  explains: ['return-inconsistent', 'critic-context-misaligned', 'value-loss-dominates', 'advantage-not-normalised'],
  decidedBy: ['samples.value', 'replays.value'],
  meaning: 'Normalised values are mixed with raw returns.',
  toldApart: 'One affine map between values and returns in all rows, update after update.',
  symptoms: ['value loss that is huge or does not fall', 'advantages dominated by the mean return'],
  proof: 'Values in other units, one slope and one offset for all rows, make credit or targets agree.',
  remedy: 'Denormalise the critic before computing advantages, and normalise its targets with the same statistics.',
  pytorch: `value = critic(obs) * stats.std + stats.mean   # units of the rewards
target = (returns - stats.mean) / stats.std`,
  trueline: 'normaliser.toRewards(...) after the critic, normaliser.toCritic(...) before its loss',
  chinese: {
    symptoms: ['价值损失极大或不下降', '优势被平均回报主导'],
    meaning: '归一化的价值与原始回报混用。',
    remedy: '计算优势值之前先还原评论家的输出，并用同样的统计量归一化其目标。',
    toldApart: '在所有行、每次更新中，价值与回报之间是同一个仿射映射。',
    proof: '把价值换成别的单位，所有行用同一斜率与偏移，就使信用或目标一致。',
  },
};
