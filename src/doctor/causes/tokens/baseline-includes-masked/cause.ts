/** Responses that are not trained enter mean or deviation of the baseline, against what is declared. */
import type { CauseEntry } from '../../cause.ts';

export const baselineIncludesMasked: CauseEntry = {
  id: 'baseline-includes-masked',
  group: 'B',
  place: 172,
  decidedBy: ['responses.length', 'samples.trained'],
  meaning: 'Responses that are not trained enter mean or deviation of the baseline, against what is declared.',
  toldApart: 'Including or leaving them out reproduces every advantage.',
  symptoms: ['advantages of one sign in groups with masked answers'],
  proof: 'The other membership reproduces every advantage.',
  remedy: 'Take mean and deviation over the members that the settings declare.',
  pytorch: 'mean = (reward * keep).sum() / keep.sum()',
  chinese: {
    symptoms: ['含被屏蔽回答的组里优势同号'],
    meaning: '未参与训练的回答进入了基线的均值或标准差，与声明不符。',
    remedy: '均值和标准差只取设置所声明的成员。',
    toldApart: '计入或剔除它们，就得出每个优势。',
    proof: '换一种成员划分就得出每个优势。',
  },
};
