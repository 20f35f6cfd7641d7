/** old_logp in the loss is taken from the current policy, so the ratio is always 1. */
import type { CauseEntry } from '../../cause.ts';

export const oldLogpRecomputed: CauseEntry = {
  id: 'old-logp-recomputed',
  group: 'A',
  place: 80,
  explains: [
    'metric-misreported',
    'kl-estimator-cancels',
    'learning-rate-too-large',
    'policy-detached',
    'old-logp-wrong',
    'policy-collapsed',
    'advantage-sign-flipped',
  ],
  decidedBy: ['replays.old_logp'],
  meaning: 'old_logp in the loss is taken from the current policy, so the ratio is always 1.',
  toldApart:
    'The ratio is 1 in every epoch and minibatch although the parameters move; one update per batch is healthy.',
  symptoms: [
    'KL and clip fraction exactly 0 for ever',
    'PPO behaves like an unclipped policy gradient, or does not learn at all',
  ],
  proof: 'new_logp leaves the stored old_logp after the first step, and the old_logp in the loss moves with it.',
  remedy: 'Compute old_logp once, when the action is sampled, and keep it for all epochs.',
  pytorch: "ratio = (new_logp - batch['old_logp'].detach()).exp()   # stored, not recomputed inside the epoch loop",
  trueline: 'rows.oldLogp comes from the batch; no stage may rewrite it',
  chinese: {
    symptoms: ['KL 与裁剪比例始终恰为 0', 'PPO 表现得像不裁剪的策略梯度，或根本不学习'],
    meaning: '损失中的 old_logp 取自当前策略，因此比率恒为 1。',
    remedy: '只在采样动作时计算一次 old_logp，并在所有轮次中保留。',
    toldApart: '参数在变，比率却在每一轮、每个小批次里都是 1；每批只更新一次则属正常。',
    proof: '第一步之后 new_logp 离开所存的 old_logp，而损失里的 old_logp 随之移动。',
  },
};
