/** A part of the batch is drawn into no minibatch, while the rest is drawn again and again. */
import type { CauseEntry } from '../../cause.ts';

export const rowsNeverDrawn: CauseEntry = {
  id: 'rows-never-drawn',
  group: 'B',
  place: 105,
  explains: ['advantage-not-normalised', 'data-imbalance', 'advantage-degenerate'],
  decidedBy: ['replays.sample'],
  meaning:
    'A part of the batch is drawn into no minibatch of the update, while the other rows are drawn every time: the same minibatch again and again, or a permutation that is too short.',
  toldApart:
    'Rows that are never drawn, at least as many as a minibatch has, beside rows that are all drawn equally often. Minibatches that are drawn at random use rows unequally often, and rows that are chosen by what they hold differ from the others.',
  symptoms: ['the run learns as slowly as with a smaller batch', 'agents or times of the rollout that never learn'],
  pictures: ['kl'],
  proof: 'How often each row of the batch was used in the update, counted.',
  remedy:
    'Draw the permutation over all rows of the batch, agents among them, and take its next part for every minibatch.',
  pytorch:
    'order = torch.randperm(advantage.numel())             # T * E * A rows, not T * E\nfor index in order.split(minibatch_size):              # the next part every time\n    ...',
  trueline: 'an epoch visits every row of the batch once',
  chinese: {
    symptoms: ['学习速度如同用了更小的批', '某些智能体或某些时段从不学习'],
    meaning: '批中有一部分行不进入任何小批次，而其余的行每次都被取用：反复使用同一个小批次，或排列过短。',
    remedy: '对批的所有行（包括各智能体的行）取排列，每个小批次取其后续的一段。',
    toldApart:
      '从未取用的行至少有一个小批次那么多，而其余的行取用次数全都相同。随机抽取的小批次取用次数不等；按内容挑选的行则与其他行不同。',
    proof: '统计批中每一行在更新中被取用的次数。',
  },
};
