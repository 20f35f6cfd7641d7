/** What a row bootstraps from where its episode or its rollout was cut off, read off the rows: some multiple of the value of the state it left. Says nothing where no multiple is exact, nor where it is the discount, nor where nothing is bootstrapped, which is an end misread. */

import { told } from '../../../language/language.ts';
import { advantages } from '../../../math/advantages.ts';
import { fewestRows } from '../../check.ts';
import { limits } from '../../limits.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

const kinds = ['limits', 'rollouts'] as const;
type Kind = (typeof kinds)[number];

const names: Readonly<Record<Kind, readonly [en: string, zh: string]>> = {
  limits: ['at time limits', '时间上限处'],
  rollouts: ['at the end of a rollout', '采样段末尾'],
};

export class CutFormula implements CreditTransform {
  readonly id = 'cut-formula';

  constructor(
    /** Times V(final), where it is not the discount. */
    readonly limits: number | null = null,
    readonly rollouts: number | null = null,
    readonly gamma = Number.NaN,
  ) {}

  fit(rows: CreditRows): CutFormula | null {
    const { rule, iteration } = rows;
    if (!rule || rule.steps !== undefined || rule.gamma === 0 || !iteration.credit?.nextValue) return null;
    const [limit, rollout] = kinds.map((kind) => this.multiple(rows, kind));
    return limit === null && rollout === null ? null : new CutFormula(limit, rollout, rule.gamma);
  }

  /** Null where the rows of that kind bootstrap as they should, or follow no multiple. */
  private multiple({ iteration, rule, target, slack }: CreditRows, kind: Kind): number | null {
    const { reward, value, nextValue } = iteration.credit!;
    let [products, squares] = [0, 0];
    const points: [final: number, boot: number][] = [];
    for (const row of cutRows(iteration.credit!, kind)) {
      const [final, boot] = [nextValue![row], target[row] - reward[row] + value[row]];
      if (!Number.isFinite(final + boot)) continue;
      points.push([final, boot]);
      products += final * boot;
      squares += final * final;
    }
    if (points.length < fewestRows || squares === 0) return null;
    const follows = (factor: number) =>
      points.filter(([final, boot]) => Math.abs(factor * final - boot) <= slack).length >=
      limits.formulaExact.value * points.length;
    const found = products / squares;
    return follows(rule!.gamma) || follows(0) || !follows(found) ? null : Number(found.toPrecision(6));
  }

  apply({ iteration, rule }: CreditRows): Float64Array | null {
    const { credit } = iteration;
    const usual = iteration.flow('asRecorded');
    if (!rule || rule.gamma === 0 || !usual || !credit?.nextValue) return null;
    const boot = usual.boot.slice();
    for (const kind of kinds) {
      const factor = this[kind];
      if (factor === null) continue;
      for (const row of cutRows(credit, kind)) boot[row] = (factor / rule.gamma) * credit.nextValue[row];
    }
    return advantages(credit, { carry: usual.carry, boot }, rule, new Float64Array(boot.length));
  }

  describe(): string {
    const parts = kinds
      .filter((kind) => this[kind] !== null)
      .map((kind) => {
        const factor = Number(this[kind]!.toPrecision(4));
        const times = factor === 1 ? '' : `${factor} `;
        return told(
          `${names[kind][0]} ${times}V(final) is bootstrapped, where ${this.gamma} V(final) is declared`,
          `${names[kind][1]}以 ${times}V(final) 自举，声明的是 ${this.gamma} V(final)`,
        );
      });
    return parts.join(told('; ', '；'));
  }
}

type Inputs = NonNullable<CreditRows['iteration']['credit']>;

/** Rows that a time limit cut off, or that a rollout's end did. */
function* cutRows({ chains, terminated, truncated }: Inputs, kind: Kind): Generator<number> {
  for (let row = 0; row < chains.rows; row++) {
    if (terminated[row] === 1) continue;
    const limited = truncated?.[row] === 1;
    if (kind === 'limits' ? limited : !limited && chains.next[row] < 0) yield row;
  }
}
