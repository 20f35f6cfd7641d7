/** The update gives the policy another input than acting did. */
import type { CauseEntry } from '../../cause.ts';

export const inputsDiffer: CauseEntry = {
  id: 'inputs-differ',
  group: 'A',
  place: 75,
  family: 'ratio',
  explains: ['non-finite', 'critic-context-misaligned', 'old-logp-wrong'],
  decidedBy: ['samples.logits', 'replays.logits', 'replays.again_logp'],
  meaning:
    "The update gives the policy another input than acting did: raw for normalised, a step late, another row's, or with other statistics; or it scores another row's action.",
  toldApart:
    "The update's logits are those of another row when sampled; or they differ from the row's own from the first iteration on, while list, mask, temperature and a second pass agree.",
  symptoms: ['ratios far from 1 before the first step', 'KL and clip fraction jump in the first minibatch'],
  proof: "Log-probabilities of the row's own action under the logits of the row whose input was used.",
  remedy: 'Store the very tensor that the policy saw when it acted, and give the update that one, row by row.',
  pytorch:
    'obs_n = normalise(obs)            # once\naction, logp = policy(obs_n)\nbuffer.obs[t] = obs_n             # not obs, and not the next one',
  trueline: 'batch.obs   // written once when acting, and read by the update',
  chinese: {
    symptoms: ['第一步之前比率远离 1', 'KL 与裁剪比例在第一个小批就跳起'],
    meaning:
      '更新时给策略的输入与行动时不同：未归一化、晚一步、另一行的观测，或使用了别的统计量；或者给另一行的动作打分。',
    remedy: '保存策略行动时看到的那个张量，更新时逐行使用同一个张量。',
    toldApart:
      '更新时的 logits 是采样时另一行的；或者从第一次迭代起就与该行自己的不同，而列表、掩码、温度与第二遍都一致。',
    proof: '该行自己的动作在所用输入那一行的 logits 下的对数概率。',
  },
};
