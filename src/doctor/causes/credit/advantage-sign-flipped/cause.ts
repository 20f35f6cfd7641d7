/** The loss pushes against the advantage. */
import type { CauseEntry } from '../../cause.ts';

export const advantageSignFlipped: CauseEntry = {
  id: 'advantage-sign-flipped',
  group: 'B',
  place: 180,
  follows: ['ratio', 'pairing'],
  explains: ['policy-collapsed', 'metric-misreported', 'entropy-sign-flipped'],
  decidedBy: ['replays.after_logp', 'steps.policy_loss'],
  meaning: 'The loss pushes against the advantage.',
  toldApart:
    'Log-ratio and the advantages that the loss used correlate negatively, or the reported loss is minus the recomputed one.',
  symptoms: ['returns fall steadily', 'the policy becomes certain of bad actions'],
  pictures: ['kl', 'changes'],
  proof: 'The sign alone makes loss or advantages agree; probability flows away from rows with a positive advantage.',
  remedy: 'Minimise minus the surrogate: the loss is -min(ratio * advantage, clipped * advantage).',
  pytorch: 'loss = -torch.min(ratio * adv, ratio.clamp(1 - eps, 1 + eps) * adv).mean()',
  trueline: 'engine.update(jobs)   // the surrogate is built in',
  chinese: {
    symptoms: ['回报持续下降', '策略对坏动作越来越确定'],
    meaning: '损失推动的方向与优势值相反。',
    remedy: '最小化负的代理目标：loss = -min(ratio * advantage, clipped * advantage)。',
    toldApart: '对数比率与损失所用的优势负相关，或所报告的损失是重算损失的相反数。',
    proof: '只改符号就使损失或优势一致；概率从优势为正的行流走。',
  },
};
