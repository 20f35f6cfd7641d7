/** The loss of PPO, one row at a time: this is the specification. The reference engine runs it, and the kernels are tested against it. */

/** One row: what was stored when it was sampled, and what the policy and the critic say now. */
export interface LossRow {
  newLogp: number;
  oldLogp: number;
  /** As it enters the loss, after normalisation. */
  advantage: number;
  entropy: number;
  /** The critic's, now and when the row was sampled, and what it is to learn, all in the critic's units. */
  value: number;
  oldValue: number;
  return: number;
}

export interface LossSettings {
  clip: number;
  valueCoefficient: number;
  entropyCoefficient: number;
  /** `mse` is (v - R)^2; `huber` is half the square up to `huberDelta`, linear beyond. */
  valueLoss: 'mse' | 'huber';
  huberDelta: number;
  /** The larger of the losses of the value and of the value clipped to this distance from `oldValue`; null for no clipping. */
  valueClip: number | null;
}

/** The loss is policy + valueCoefficient x value - entropyCoefficient x entropy, meant over rows by their weight; with its derivatives. */
export function ppoLoss(row: LossRow, settings: LossSettings) {
  const ratio = Math.exp(row.newLogp - row.oldLogp);
  const clipped = Math.min(Math.max(ratio, 1 - settings.clip), 1 + settings.clip);
  // The smaller of the two objectives; where that is the clipped one, it is a constant.
  const held = ratio * row.advantage > clipped * row.advantage;
  const value = valueLoss(row, settings);
  return {
    ratio,
    policy: -(held ? clipped : ratio) * row.advantage,
    value: value.loss,
    byLogp: held ? 0 : -ratio * row.advantage,
    byEntropy: -settings.entropyCoefficient,
    byValue: settings.valueCoefficient * value.slope,
  };
}

function valueLoss({ value, oldValue, return: target }: LossRow, { valueClip, valueLoss, huberDelta }: LossSettings) {
  const huber = valueLoss === 'huber';
  const lossOf = (error: number) => {
    if (!huber) return error * error;
    return Math.abs(error) <= huberDelta ? (error * error) / 2 : huberDelta * (Math.abs(error) - huberDelta / 2);
  };
  const error = value - target;
  const loss = lossOf(error);
  const slope = huber ? Math.min(Math.max(error, -huberDelta), huberDelta) : 2 * error;
  if (valueClip === null) return { loss, slope };
  const near = oldValue + Math.min(Math.max(value - oldValue, -valueClip), valueClip);
  if (lossOf(near - target) <= loss) return { loss, slope };
  // The larger loss counts; beyond the clip its value is a constant.
  return { loss: lossOf(near - target), slope: Math.abs(value - oldValue) > valueClip ? 0 : slope };
}
