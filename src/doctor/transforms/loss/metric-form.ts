/** The form in which a metric was reported: which quantity, and over which steps or rows. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

export type MetricQuantity = keyof typeof quantities;
export type MetricOver = keyof typeof overs;

const quantities = {
  k1: ['k1', 'k1'],
  k2: ['k2', 'k2'],
  k3: ['k3', 'k3'],
  'half-k2': ['half of k2', 'k2 的一半'],
  'doubled-k2': ['k2 without its half', '没有乘二分之一的 k2'],
  'doubled-k3': ['twice k3', 'k3 的两倍'],
  'negated-k1': ['k1 with the wrong sign', '符号相反的 k1'],
  'clip-fraction': ['clip fraction', '裁剪比例'],
  entropy: ['entropy', '熵'],
  'entropy-in-bits': ['entropy in bits', '以比特计的熵'],
  'log-count': ['logarithm of the number of candidates', '候选数的对数'],
  'negated-entropy': ['entropy with the wrong sign', '符号相反的熵'],
} as const;

const overs = {
  step: ['', ''],
  'last-minibatch': [' of the last minibatch only', '，只取最后一个小批次'],
  'last-minibatch-of-epoch': [" of the epoch's last minibatch only", '，只取每轮最后一个小批次'],
  'first-step': [' before the first step', '，取第一步之前'],
  padding: [' over padding, too', '，也计入填充'],
  sum: [', summed over rows', '，对行求和'],
} as const;

export class MetricForm implements Transform {
  readonly id = 'metric-form';

  constructor(
    readonly quantity: MetricQuantity,
    readonly over: MetricOver = 'step',
  ) {}

  describe(): string {
    const [en, zh] = quantities[this.quantity];
    const [overEn, overZh] = overs[this.over];
    return told(en + overEn, zh + overZh);
  }
}
