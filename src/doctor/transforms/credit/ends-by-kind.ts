/** Credit that crosses ends, read off the rows: what a row at a termination, and one at a time limit, bootstraps from, and whether it carries the credit of the episode that follows. Says nothing where no reading is exact, or where none crosses. */

import { told } from '../../../language/language.ts';
import { advantages } from '../../../math/advantages.ts';
import { limits } from '../../limits.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

/** What an end bootstraps from: nothing, the value of the state that it left, that of the next episode's first row, or both. */
const boots = ['nothing', 'final', 'next', 'both'] as const;
type Boot = (typeof boots)[number];

interface Reading {
  boot: Boot;
  carries: boolean;
}

const kinds = ['terminated', 'truncated'] as const;
type Kind = (typeof kinds)[number];

const texts: Readonly<Record<Boot, readonly [en: string, zh: string]>> = {
  nothing: ['nothing', '无'],
  final: ['the value of the state it left', '所离开状态的价值'],
  next: ["the next episode's value", '下一回合的价值'],
  both: ["the value of the state it left and the next episode's", '所离开状态与下一回合的价值之和'],
};
const names: Readonly<Record<Kind, readonly [en: string, zh: string]>> = {
  terminated: ['a termination', '终止'],
  truncated: ['a time limit', '时间上限'],
};

export class EndsByKind implements CreditTransform {
  readonly id = 'ends-by-kind';

  constructor(
    readonly terminated: Reading = { boot: 'nothing', carries: false },
    readonly truncated: Reading = { boot: 'final', carries: false },
  ) {}

  /** The reading that the rows at each kind of end follow. */
  fit(rows: CreditRows): EndsByKind | null {
    if (!rows.rule || rows.rule.steps !== undefined || !rows.iteration.credit) return null;
    const terminated = this.read(rows, 'terminated');
    const truncated = this.read(rows, 'truncated');
    if (!terminated || !truncated) return null;
    const crosses = [terminated, truncated].some(({ boot, carries }) => carries || boot === 'next' || boot === 'both');
    return crosses ? new EndsByKind(terminated, truncated) : null;
  }

  /** Null where rows of that kind follow no reading; as it should be where there are none. */
  private read({ iteration, rule, target, slack }: CreditRows, kind: Kind): Reading | null {
    const { credit } = iteration;
    const { gamma, lambda } = rule!;
    const { reward, value, chains } = credit!;
    const ways = boots.flatMap((boot) => [false, true].map((carries) => ({ boot, carries, fits: 0 })));
    let told = 0;
    for (let row = 0; row < chains.rows; row++) {
      const next = chains.streamNext[row];
      if (this.kindOf(iteration.credit!, row) !== kind || next < 0) continue;
      if (!Number.isFinite(target[row] + target[next])) continue;
      told++;
      for (const way of ways) {
        const boot = bootOf(iteration.credit!, row, way.boot);
        const given = reward[row] - value[row] + gamma * boot + (way.carries ? gamma * lambda * target[next] : 0);
        if (Math.abs(given - target[row]) <= slack) way.fits++;
      }
    }
    const own = this[kind];
    if (told === 0) return own;
    const exact = ways.filter(({ fits }) => fits >= limits.formulaExact.value * told);
    const asIs = exact.find(({ boot, carries }) => boot === own.boot && carries === own.carries);
    const [best] = asIs ? [asIs] : exact.sort((a, b) => b.fits - a.fits);
    return best ? { boot: best.boot, carries: best.carries } : null;
  }

  private kindOf({ terminated, truncated }: Inputs, row: number): Kind | null {
    return terminated[row] === 1 ? 'terminated' : truncated?.[row] === 1 ? 'truncated' : null;
  }

  apply({ iteration, rule }: CreditRows): Float64Array | null {
    const { credit } = iteration;
    const usual = iteration.flow('asRecorded');
    if (!rule || !credit || !usual) return null;
    const [carry, boot] = [usual.carry.slice(), usual.boot.slice()];
    for (let row = 0; row < boot.length; row++) {
      const kind = this.kindOf(credit, row);
      const next = credit.chains.streamNext[row];
      // The end of the rollout has its own value.
      if (!kind || next < 0) continue;
      boot[row] = bootOf(credit, row, this[kind].boot);
      if (this[kind].carries) carry[row] = next;
    }
    return advantages(credit, { carry, boot }, rule, new Float64Array(boot.length));
  }

  describe(): string {
    const parts = kinds
      .filter((kind) => this[kind].boot !== (kind === 'terminated' ? 'nothing' : 'final') || this[kind].carries)
      .map((kind) => {
        const { boot, carries } = this[kind];
        return told(
          `${names[kind][0]} bootstraps from ${texts[boot][0]}${carries ? ', and credit is carried across it' : ''}`,
          `${names[kind][1]}处以${texts[boot][1]}自举${carries ? '，且回报跨过它继续传递' : ''}`,
        );
      });
    return parts.join(told('; ', '；'));
  }
}

/** The one of these readings that an environment gives which resets itself and keeps no last observation: time limits alone, and no credit across them. */
export class LimitsCross extends EndsByKind {
  override fit(rows: CreditRows): EndsByKind | null {
    const found = super.fit(rows);
    const { terminated, truncated } = found ?? this;
    const alone = terminated.boot === 'nothing' && !terminated.carries;
    return alone && truncated.boot === 'next' && !truncated.carries ? found : null;
  }
}

type Inputs = NonNullable<CreditRows['iteration']['credit']>;

/** NaN where it was not recorded. */
function bootOf({ value, nextValue, chains }: Inputs, row: number, boot: Boot): number {
  const final = nextValue ? nextValue[row] : Number.NaN;
  const next = value[chains.streamNext[row]];
  return { nothing: 0, final, next, both: final + next }[boot];
}
