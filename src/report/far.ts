/** Readings that lie far from where healthy runs usually are, in words. It proves nothing wrong: the sentence says so. */
import { type Pair, told } from '../language/language.ts';
import type { Readings } from '../training/record/readings.ts';
import { labelOf, readings } from '../training/record/readings.ts';
import { number } from './table.ts';

const words = ['one order', 'two orders', 'three orders', 'four orders', 'five orders', 'six orders', 'seven orders'];
const orders = (times: number) => {
  const count = Math.round(Math.log10(times));
  return told(`${words[count - 1] ?? `${count} orders`} of magnitude`, `${count} 个数量级`);
};

/** What it may come from, for the readings of which something can be said. */
const meaning: Partial<Record<keyof Readings, { below?: Pair; above?: Pair }>> = {
  k3: { below: ['the step is too small to see', '步子小得看不出来'], above: ['the steps overshoot', '步子过大'] },
  clip_fraction: { above: ['most rows have left the trust region', '大多数行已离开信任区域'] },
};

/** One sentence for each reading that is ten times below or above its band. */
export function farFromBand(values: Readings): string[] {
  const out: string[] = [];
  for (const reading of readings) {
    const { name, band } = reading;
    const label = labelOf(reading);
    const said = meaning[name as keyof Readings];
    if (!said || !band) continue;
    const value = values[name as keyof Readings];
    const [low, high] = band;
    const [from, to] = [number(low ?? undefined), number(high ?? undefined)];
    const far = (times: number, below: boolean, why: Pair) =>
      out.push(
        told(
          `${label} ${number(value)}: ${orders(times)} ${below ? 'below' : 'above'} its usual band of ${from} to ${to}; nothing is proved wrong, ${why[0]}`,
          `${label} ${number(value)}：比通常范围 ${from} 到 ${to} ${below ? '低' : '高'} ${orders(times)}；这并不证明有错，${why[1]}`,
        ),
      );
    if (said.below && value === 0)
      out.push(
        told(
          `${label} is exactly 0, far from its usual band of ${from} to ${to}; nothing is proved wrong, but no step moved the policy`,
          `${label} 恰好为 0，远离通常范围 ${from} 到 ${to}；这并不证明有错，但没有哪一步推动了策略`,
        ),
      );
    else if (said.below && low !== null && value > 0 && value <= low / 10) far(low / value, true, said.below);
    else if (said.above && high !== null && value >= 10 * high) far(value / high, false, said.above);
  }
  return out;
}
