/** Losses of a critic by what a row adds to them: its error alone, or beside that of the value clipped around the old one, as the larger of the two or in ways that programs take for it. */
import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

/** What an error costs. */
export type Penalty = (error: number) => number;

/** Half a square up to a width, and straight beyond. */
export const huber =
  (delta: number): Penalty =>
  (error) =>
    Math.abs(error) <= delta ? (error * error) / 2 : delta * (Math.abs(error) - delta / 2);

interface Form {
  en: string;
  zh: string;
  /** Programs choose it on purpose. */
  right?: true;
  /** Nothing in it is clipped. */
  free?: true;
  cost(value: number, target: number, old: number, clip: number, penalty: Penalty): number;
}

const clamp = (x: number, by: number) => Math.min(Math.max(x, -by), by);
const near = (value: number, old: number, clip: number) => old + clamp(value - old, clip);

export const valueForms = {
  plain: {
    en: 'the error of the value',
    zh: '价值的误差',
    right: true,
    free: true,
    cost: (value, target, _old, _clip, penalty) => penalty(value - target),
  },
  larger: {
    en: 'the larger of the error and that of the clipped value',
    zh: '误差与裁剪后价值的误差中的较大者',
    right: true,
    cost: (value, target, old, clip, penalty) =>
      Math.max(penalty(value - target), penalty(near(value, old, clip) - target)),
  },
  clipped: {
    en: 'the error of the clipped value alone',
    zh: '仅裁剪后价值的误差',
    right: true,
    cost: (value, target, old, clip, penalty) => penalty(near(value, old, clip) - target),
  },
  smaller: {
    en: 'the smaller of the error and that of the clipped value, where the larger is meant',
    zh: '误差与裁剪后价值的误差中的较小者，而应取较大者',
    cost: (value, target, old, clip, penalty) =>
      Math.min(penalty(value - target), penalty(near(value, old, clip) - target)),
  },
  'difference-alone': {
    en: 'the clipped change of the value, to which the old value was not added',
    zh: '裁剪后的价值变化，没有加上旧价值',
    cost: (value, target, old, clip, penalty) =>
      Math.max(penalty(value - target), penalty(clamp(value - old, clip) - target)),
  },
  'two-added': {
    en: 'two losses of the same error added up: its square, and one that grows less',
    zh: '同一误差的两种损失相加：其平方，以及增长较慢的一种',
    free: true,
    cost: (value, target, _old, _clip, penalty) => penalty(value - target) + (value - target) ** 2,
  },
} as const satisfies Record<string, Form>;

export type ValueFormName = keyof typeof valueForms;
export const valueForm = (name: ValueFormName): Form => valueForms[name];

/** `around`: whether the old value that a clip starts from is in the units of the new one, or as credit takes it. */
export class ValueFormula implements Transform {
  readonly id = 'value-formula';

  constructor(
    readonly form: ValueFormName,
    readonly around: 'own-units' | 'units-of-rewards',
    readonly clip: number,
  ) {}

  describe(): string {
    const { en, zh } = valueForms[this.form];
    if (valueForm(this.form).free) return told(en, zh);
    return this.around === 'own-units'
      ? told(`${en}, with a clip of ${this.clip}`, `${zh}，裁剪范围为 ${this.clip}`)
      : told(
          `${en}, with a clip of ${this.clip} around the old value in the units of the rewards`,
          `${zh}，以奖励单位的旧价值为中心，裁剪范围为 ${this.clip}`,
        );
  }
}
