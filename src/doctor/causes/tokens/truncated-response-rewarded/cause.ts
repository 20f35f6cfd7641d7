/** An answer cut by the length limit is treated otherwise than declared. */
import type { CauseEntry } from '../../cause.ts';

export const truncatedResponseRewarded: CauseEntry = {
  id: 'truncated-response-rewarded',
  group: 'B',
  place: 106,
  explains: ['advantage-group-mixed', 'baseline-includes-masked', 'environment-tokens-trained'],
  decidedBy: ['responses.finish', 'responses.graded'],
  meaning: 'An answer cut by the length limit is treated otherwise than declared.',
  toldApart: 'finish against mask, reward and advantage; named before advantage-group-mixed.',
  symptoms: ['responses grow to the length limit, or shrink for no reason'],
  proof: 'With cut answers treated the other way every advantage, or the mask, is reproduced.',
  remedy:
    'Decide what a cut answer is worth (as it is, 0, or not trained), and do that in reward, baseline and mask alike.',
  pytorch: "mask[finish == 'length'] = 0                    # where the settings say mask",
  chinese: {
    symptoms: ['回答长到长度上限，或无故变短'],
    meaning: '被长度上限截断的回答没有按声明处理。',
    remedy: '决定截断的回答如何计（原样、记 0 或不训练），并在奖励、基线与掩码中一致执行。',
    toldApart: 'finish 对照掩码、奖励与优势；先于 advantage-group-mixed 报出。',
    proof: '把被截断的回答按另一种方式处理，就得出每个优势或掩码。',
  },
};
