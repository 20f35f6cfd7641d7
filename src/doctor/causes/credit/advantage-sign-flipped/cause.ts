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
    meaning: '损失推动的方向与优势值相反。',
    remedy: '最小化负的代理目标：loss = -min(ratio * advantage, clipped * advantage)。',
  },
};
