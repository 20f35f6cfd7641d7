/** Advantages follow an exact formula that is not the declared one. */
import type { CauseEntry } from '../../cause.ts';

export const creditFormulaDiffers: CauseEntry = {
  id: 'credit-formula-differs',
  group: 'B',
  place: 205,
  follows: ['pairing'],
  explains: ['return-inconsistent', 'advantage-degenerate'],
  decidedBy: ['samples.next_value', 'samples.env'],
  meaning:
    'Advantages follow an exact formula that is not the declared one: V(t) for V(t+1), a trace without gamma, a missing or scaled term.',
  toldApart: 'The fitted formula, exact to rounding, written beside the declared one.',
  symptoms: ['explained variance stays low', 'what is learnt is biased, and nothing looks broken'],
  proof: 'The coefficients of reward, V(next), V and A(next) that reproduce every inner row.',
  remedy: 'Compare the formula that was read off the rows with the one you meant, term by term.',
  pytorch:
    'delta = rewards[t] + gamma * values[t + 1] * (1 - done) - values[t]\nadvantages[t] = delta + gamma * lam * (1 - done) * advantages[t + 1]',
  trueline: 'assignCredit(batch, gamma, lambda)   // rows sorted by (episode, t, agent)',
  chinese: {
    symptoms: ['解释方差一直很低', '学到的东西有偏，却看不出哪里坏了'],
    meaning: '优势值严格遵循某个公式，但不是声明的公式：用 V(t) 代替 V(t+1)、迹中缺少 gamma、某项缺失或被缩放。',
    remedy: '把从数据行读出的公式与你想要的公式逐项比较。',
    toldApart: '拟合出的公式精确到舍入误差，与所声明的并列写出。',
    proof: '能得出每个内部行的 reward、V(next)、V 与 A(next) 的系数。',
  },
};
