/** Declared or expected normalisation is missing; the step size follows the scale of the rewards. */
import type { CauseEntry } from '../../cause.ts';

export const advantageNotNormalised: CauseEntry = {
  id: 'advantage-not-normalised',
  group: 'B',
  place: 230,
  follows: ['pairing'],
  explains: ['learning-rate-too-large', 'loss-summed', 'entropy-bonus-dominates', 'learning-rate-too-small'],
  decidedBy: ['replays.advantage'],
  meaning: 'Declared or expected normalisation is missing; the step size follows the scale of the rewards.',
  toldApart: 'Mean and spread of the advantages in the loss.',
  symptoms: ['the same settings learn in one game and explode in another', 'entropy bonus too weak or too strong'],
  proof: 'Where mean 0 and spread 1 are declared, the rows show others.',
  remedy: 'Normalise advantages over the batch or the minibatch, or scale rewards to unit spread.',
  pytorch: 'adv = (adv - adv.mean()) / (adv.std() + 1e-8)',
  trueline: 'ppo: { advantageNormalisation: batch }',
  chinese: {
    symptoms: ['同样的设置在一个游戏里能学，在另一个里爆掉', '熵奖励过弱或过强'],
    meaning: '缺少所声明或应有的归一化；步长随奖励的尺度变化。',
    remedy: '在批次或小批次上归一化优势值，或把奖励缩放到单位尺度。',
    toldApart: '损失中优势的均值与离散程度。',
    proof: '声明了均值 0、离散 1，各行却是别的数。',
  },
};
