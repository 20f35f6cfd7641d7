/** Advantages are constant, or zero, or all of one sign by a wide margin. */
import type { CauseEntry } from '../../cause.ts';

export const advantageDegenerate: CauseEntry = {
  id: 'advantage-degenerate',
  group: 'B',
  place: 220,
  explains: [
    'policy-detached',
    'learning-rate-too-small',
    'advantage-not-normalised',
    'policy-head-flat',
    'entropy-bonus-dominates',
    'loss-summed',
    'broadcast-mismatch',
    'metric-misreported',
    'optimizer-unbound',
  ],
  decidedBy: ['samples.reward', 'samples.value'],
  meaning: 'Advantages are constant, or zero, or all of one sign by a wide margin.',
  toldApart: 'Their spread, and whether they are the advantages at all.',
  symptoms: ['no policy gradient, or the same push on every action', 'entropy drifts without direction'],
  proof:
    'The advantages in the loss do not vary, or agree with the absolute value or the return in place of the advantage.',
  remedy:
    'Feed the loss the advantage itself, computed before anything overwrites rewards or values, and look at its mean and spread.',
  pytorch: 'assert adv.std() > 1e-6 and adv.mean().abs() < adv.std()',
  trueline: 'assignCredit(batch, gamma, lambda)   // rows sorted by (episode, t, agent)',
  chinese: {
    symptoms: ['没有策略梯度，或对每个动作的推力都一样', '熵无方向地漂移'],
    meaning: '优势值为常数、为零，或几乎全为同一符号。',
    remedy: '把优势值本身交给损失，在奖励或价值被覆盖之前算好，并查看其均值与离散程度。',
    toldApart: '它们的离散程度，以及它们究竟是不是优势。',
    proof: '损失中的优势没有变化，或与其绝对值、或与代替优势的回报一致。',
  },
};
