/** One pass scores the action as it was drawn, the other the one that the environment was given. */
import type { CauseEntry } from '../../cause.ts';

export const clippedActionStored: CauseEntry = {
  id: 'clipped-action-stored',
  group: 'A',
  place: 62,
  family: 'ratio',
  explains: ['old-logp-wrong', 'inputs-differ', 'recurrent-state-not-replayed', 'critic-context-misaligned'],
  decidedBy: ['samples.action_values', 'samples.env_action', 'samples.mean', 'samples.log_std', 'replays.mean'],
  meaning:
    'One pass scores the action as it was drawn, the other the clipped, squashed or scaled one that the environment was given.',
  toldApart:
    'Rows disagree where the two actions differ, and nowhere else; each pass is given exactly by its own action.',
  symptoms: [
    'ratios are off 1 only where actions are at their bounds',
    'the clip fraction before the first step is the share of clipped actions',
  ],
  proof:
    'Recomputed with the other action, the odd pass is given to rounding; or all rows that disagree have an action at a bound.',
  remedy:
    'Store the action as it was drawn, score that one in both passes, and clip only what goes to the environment.',
  pytorch:
    'raw = dist.sample()\nlogp = dist.log_prob(raw).sum(-1)\nbuffer.add(action=raw, logp=logp)           # not the clipped one\nenv.step(raw.clamp(low, high))',
  trueline: '// discrete actions only',
  chinese: {
    symptoms: ['只有动作位于边界处比率偏离 1', '第一步之前的裁剪比例等于被截断动作的占比'],
    meaning: '一次前向对采样得到的动作打分，另一次对环境得到的（裁剪、压缩或缩放后的）动作打分。',
    remedy: '保存采样得到的动作，两次前向都对它打分，只裁剪交给环境的那一份。',
    toldApart: '只有两个动作不同的行不一致；每一遍都可由各自的动作精确得出。',
    proof: '换用另一个动作重算后，异常的那一遍与之相符，误差仅为舍入；或者不一致的行的动作全都在边界上。',
  },
};
