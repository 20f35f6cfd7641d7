/** The return is not advantage plus value, or advantages are stale. */
import type { CauseEntry } from '../../cause.ts';

export const returnInconsistent: CauseEntry = {
  id: 'return-inconsistent',
  group: 'B',
  place: 210,
  follows: ['pairing'],
  explains: ['critic-context-misaligned', 'value-scale-mismatch'],
  decidedBy: ['samples.value', 'samples.return'],
  meaning: 'The return is not advantage plus value, or advantages are stale.',
  toldApart: 'The identity, row by row.',
  symptoms: ['explained variance stays low or negative', 'value loss does not fall'],
  proof:
    'return - advantage - value is not 0, and no other lambda makes it so; or the advantages are those of an earlier iteration.',
  remedy:
    'Set returns = advantages + values right after computing both, from the same values, before any normalisation.',
  pytorch: 'returns = advantages + values                  # before advantages are normalised',
  trueline: 'assignCredit(batch, gamma, lambda)   // rows sorted by (episode, t, agent)',
  chinese: {
    symptoms: ['解释方差一直很低或为负', '价值损失不下降'],
    meaning: '回报不等于优势值加价值，或优势值已过时。',
    remedy: '两者算好后立即令 returns = advantages + values，用同一组价值，且在任何归一化之前。',
    toldApart: '逐行检验该恒等式。',
    proof: 'return - advantage - value 不为 0，换任何 lambda 也不为 0；或者优势是更早一次迭代的。',
  },
};
