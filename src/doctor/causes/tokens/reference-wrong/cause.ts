/** The reference is not the policy that was meant: the policy itself, or the base without its adapter. */
import type { CauseEntry } from '../../cause.ts';

export const referenceWrong: CauseEntry = {
  id: 'reference-wrong',
  group: 'C',
  place: 274,
  explains: ['kl-term-wrong'],
  decidedBy: ['samples.reference_logp', 'responses.trainer_version'],
  meaning: 'The reference is not the policy that was meant: the policy itself, or the base without its adapter.',
  toldApart: 'At version 0 it must equal the policy, and later it must not move with it.',
  symptoms: ['KL of exactly 0 for ever, or far from 0 at the start'],
  pictures: ['token-versions'],
  proof: 'It differs from the policy at version 0, or equals it in every later version.',
  remedy: 'Freeze a copy of the starting policy, adapter included, and check that KL is 0 before the first step.',
  pytorch: 'reference = copy.deepcopy(policy).eval().requires_grad_(False)',
  chinese: {
    symptoms: ['KL 始终恰为 0，或一开始就远离 0'],
    meaning: '参考策略不是本意的那个：是策略自身，或缺了适配器的基座。',
    remedy: '冻结初始策略（含适配器）的副本，并检查第一步之前 KL 为 0。',
    toldApart: '在版本 0 它必须等于策略，之后则不得随策略移动。',
    proof: '在版本 0 它与策略不同，或在之后每个版本都与策略相等。',
  },
};
