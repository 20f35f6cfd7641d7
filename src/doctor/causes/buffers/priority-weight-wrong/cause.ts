/** Importance weights do not undo the priorities. */
import type { CauseEntry } from '../../cause.ts';

export const priorityWeightWrong: CauseEntry = {
  id: 'priority-weight-wrong',
  group: 'C',
  place: 278,
  decidedBy: ['targets.weight', 'targets.probability', 'targets.priority'],
  meaning:
    'Importance weights grow with the probability of a row, belong to other rows, or are missing although they are declared.',
  toldApart:
    'Within a minibatch the logarithm of the weight rises with that of the probability, or falls along it only after sorting.',
  symptoms: ['rows with large errors are learned twice over', 'values are biased towards rare rows'],
  pictures: ['changes'],
  proof: 'Weights against probabilities, minibatch by minibatch.',
  remedy:
    'Weight every row by (size * probability) ** -beta, of the very rows that were drawn, divided by the largest.',
  pytorch:
    'p = priority[index] / priority.sum()\nw = (size * p) ** -beta                      # minus\nloss = (w / w.max() * error**2).mean()      # same index, same order',
  trueline: '// rollouts only: there is no replay buffer',
  chinese: {
    symptoms: ['误差大的行被重复学习', '价值偏向罕见的行'],
    meaning: '重要性权重随行的抽取概率增大、属于其他行，或虽已声明却缺失。',
    remedy: '用 (size * probability) ** -beta 给抽到的那些行加权，再除以其最大值。',
    toldApart: '在小批次内，权重的对数随概率的对数上升，或只有排序后才随之下降。',
    proof: '各小批次中权重对照概率。',
  },
};
