/** What was stored as old_logp in place of the log-probability of the action. */
import { type Language, type Transform, told } from '../transform.ts';

export type StoredAs = 'zero' | 'uniform' | 'unmasked' | 'other-action' | 'other-row' | 'other-number';

const texts: Readonly<Record<StoredAs, readonly [en: string, zh: string]>> = {
  zero: ['old_logp is 0', 'old_logp 是 0'],
  uniform: ['old_logp is that of a uniform choice', 'old_logp 是均匀选择的对数概率'],
  unmasked: ['old_logp is that of the unmasked distribution', 'old_logp 是未加掩码的分布的对数概率'],
  'other-action': ["old_logp is that of another of the row's actions", 'old_logp 是该行另一个动作的对数概率'],
  'other-row': ['old_logp is that of another row', 'old_logp 是另一行的对数概率'],
  'other-number': ['log-probability recomputed from the sampling logits', '由采样的 logits 重新计算的对数概率'],
};

export class OldLogp implements Transform {
  readonly id = 'old-logp';

  constructor(readonly is: StoredAs) {}

  describe(language: Language): string {
    return told(language, ...texts[this.is]);
  }
}
