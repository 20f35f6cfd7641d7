/** Entropy is held at log K by its coefficient. */
import type { CauseEntry } from '../../cause.ts';

export const entropyBonusDominates: CauseEntry = {
  id: 'entropy-bonus-dominates',
  group: 'C',
  place: 310,
  follows: ['ratio'],
  explains: ['advantage-sign-flipped', 'policy-detached'],
  decidedBy: ['steps.entropy', 'replays.advantage'],
  meaning: 'Entropy is held at log K by its coefficient.',
  toldApart:
    'The coefficient in the loss outweighs the spread of the advantages, and entropy does not fall while credit is informative.',
  symptoms: ['entropy stays at log K', 'returns stay at those of random play'],
  pictures: ['entropy'],
  proof: 'The coefficient, recovered from the whole loss and its parts, against the spread of the advantages.',
  remedy: 'Lower the entropy coefficient (0.001 to 0.02 with normalised advantages).',
  pytorch: 'loss = policy_loss + 0.5 * value_loss - 0.01 * entropy',
  trueline: 'ppo: { entropyCoefficient: 0.01 }',
  chinese: {
    symptoms: ['熵停在 log K', '回报停在随机行动的水平'],
    meaning: '熵被其系数维持在 log K。',
    remedy: '降低熵系数（优势值归一化时用 0.001 至 0.02）。',
    toldApart: '损失中的系数压过优势的离散程度，信用有信息量时熵也不下降。',
    proof: '由总损失及其各部分求出的系数，对照优势的离散程度。',
  },
};
