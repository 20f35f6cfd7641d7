/** Sequences packed into one row see each other. */
import type { CauseEntry } from '../../cause.ts';

export const packingLeak: CauseEntry = {
  id: 'packing-leak',
  group: 'A',
  place: 36,
  family: 'ratio',
  explains: ['old-logp-wrong', 'stochastic-forward', 'positions-shifted'],
  decidedBy: ['replays.pack', 'samples.control_logp'],
  meaning: 'Sequences packed into one row see each other.',
  toldApart: 'The first of each pack agrees with a clean pass, later ones do not.',
  symptoms: ['packing changes the loss', 'disagreement that depends on the order in the batch'],
  pictures: ['token-places', 'token-ratios'],
  proof: 'The first sequence of every pack agrees with a clean pass and the later ones do not.',
  remedy: 'Give the attention the boundaries of the packed sequences, and start positions anew at each.',
  pytorch: 'flash_attn_varlen_func(q, k, v, cu_seqlens, ...)   # or a block-diagonal mask',
  chinese: {
    symptoms: ['打包会改变损失', '分歧取决于批内的顺序'],
    meaning: '打包进同一行的序列彼此可见。',
    remedy: '把各序列的边界交给注意力，并在每个序列处重新从 0 计位置。',
    toldApart: '每个打包中第一个与干净的一遍一致，后面的不一致。',
    proof: '每个打包的第一个序列与干净的一遍一致，后面的不一致。',
  },
};
