/** Readings that lie far from where healthy runs usually are, in words. It proves nothing wrong: the sentence says so. */
import type { Readings } from '../training/record/readings.ts';
import { readings } from '../training/record/readings.ts';
import { number } from './table.ts';

const words = ['one order', 'two orders', 'three orders', 'four orders', 'five orders', 'six orders', 'seven orders'];
const orders = (times: number) => {
  const count = Math.round(Math.log10(times));
  return `${words[count - 1] ?? `${count} orders`} of magnitude`;
};

/** What it may come from, for the readings of which something can be said. */
const meaning: Partial<Record<keyof Readings, { below?: string; above?: string }>> = {
  k3: { below: 'the step is too small to see', above: 'the steps overshoot' },
  clip_fraction: { above: 'most rows have left the trust region' },
};

/** One sentence for each reading that is ten times below or above its band. */
export function farFromBand(values: Readings): string[] {
  const out: string[] = [];
  for (const { name, label, band } of readings) {
    const said = meaning[name as keyof Readings];
    if (!said || !band) continue;
    const value = values[name as keyof Readings];
    const [low, high] = band;
    const usual = `its usual band of ${number(low ?? undefined)} to ${number(high ?? undefined)}`;
    const nothing = 'nothing is proved wrong';
    if (said.below && value === 0)
      out.push(`${label} is exactly 0, far from ${usual}; ${nothing}, but no step moved the policy`);
    else if (said.below && low !== null && value > 0 && value <= low / 10)
      out.push(`${label} ${number(value)}: ${orders(low / value)} below ${usual}; ${nothing}, ${said.below}`);
    else if (said.above && high !== null && value >= 10 * high)
      out.push(`${label} ${number(value)}: ${orders(value / high)} above ${usual}; ${nothing}, ${said.above}`);
  }
  return out;
}
