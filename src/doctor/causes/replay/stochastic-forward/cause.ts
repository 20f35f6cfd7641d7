/** Dropout or noise is on in one of the passes. */
import type { CauseEntry } from '../../cause.ts';

export const stochasticForward: CauseEntry = {
  id: 'stochastic-forward',
  group: 'A',
  place: 390,
  family: 'ratio',
  decidedBy: ['replays.again_logp'],
  meaning: 'Dropout or noise is on in one of the passes.',
  toldApart:
    'The log-ratio before the first step is noise, with mean about minus half its variance, that no transform removes; a second pass gives other numbers.',
  symptoms: ['ratios scatter around 1 before any step', 'KL does not go to 0 with the learning rate'],
  proof:
    'Two forward passes with nothing changed between them differ; or no transform explains noise of the right mean.',
  remedy: 'Call eval() for both sampling and update (or keep no dropout and no noise in the policy at all).',
  pytorch: `actor.eval()                                  # in sampling and in the update
assert torch.equal(actor(obs), actor(obs))`,
  trueline: 'a policy has no random layer; two evaluations are equal bit for bit',
  chinese: {
    symptoms: ['任何一步之前比率在 1 附近散开', '学习率趋于 0 时 KL 并不趋于 0'],
    meaning: '其中一次前向计算开着 dropout 或噪声。',
    remedy: '采样与更新都调用 eval()（或策略中完全不用 dropout 与噪声）。',
    toldApart: '第一步之前的对数比率是噪声，均值约为方差一半的负值，没有变换能消除；再算一遍得到别的数。',
    proof: '中间什么都没变，两遍前向计算却不同；或者没有任何变换能解释均值正好如此的噪声。',
  },
};
