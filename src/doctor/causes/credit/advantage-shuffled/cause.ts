/** Advantages follow another permutation than the log-probabilities. */
import type { CauseEntry } from '../../cause.ts';

export const advantageShuffled: CauseEntry = {
  id: 'advantage-shuffled',
  group: 'B',
  place: 190,
  family: 'pairing',
  decidedBy: ['samples.reward', 'samples.value'],
  meaning: 'Advantages follow another permutation than the log-probabilities.',
  toldApart:
    'The used advantages are all drawn from the recomputed ones, the pairing does not agree, and no lag or swap restores it.',
  symptoms: ['the policy hardly improves though everything moves', 'KL and gradients look normal'],
  proof: 'Sorted, both columns are the same; row by row they are not.',
  remedy: 'Draw one permutation per epoch and index every column with it.',
  pytorch: `perm = torch.randperm(n)                       # one permutation for every column
batch = {name: column[perm] for name, column in batch.items()}`,
  trueline: 'a Batch is re-ordered and sliced only whole; no column has an order of its own',
  chinese: {
    symptoms: ['一切都在动，策略却几乎不变好', 'KL 与梯度看起来正常'],
    meaning: '优势值的排列与对数概率的排列不同。',
    remedy: '每轮只抽取一个排列，并用它索引所有列。',
    toldApart: '所用的优势全部取自重算的优势，配对却不一致，也没有平移或互换能还原。',
    proof: '排序后两列相同，逐行则不同。',
  },
};
