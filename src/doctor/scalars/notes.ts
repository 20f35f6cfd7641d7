/** What is worth knowing about a log and is no symptom: how far its length goes, readings that look odd and are healthy, an order of agents that wants several seeds. */
import { figure } from '../diagnosis.ts';
import { logLimits } from './limits.ts';
import type { Owner } from './series.ts';
import type { View } from './view.ts';

export function notes(views: readonly View[], owners: readonly Owner[], updates: number, candidates: number): string[] {
  const out: string[] = [];
  const [first] = views;
  const enough = logLimits.updates.value;
  if (updates < enough)
    out.push(
      `The log has ${updates} updates: what is exactly 0 or not a number shows in 3, a growth that all rows share in 6, and a shift within noise only from ${enough} on.`,
    );
  if (views.some(({ nothingToChoose }) => nothingToChoose))
    out.push(
      'The entropy is 0 from the first update on: there was nothing to choose, or the policy had collapsed before the log begins.',
    );
  const { kl } = first;
  if (kl && !kl.tells(logLimits.zeroKl.value) && kl.least === 0)
    out.push(
      `${kl.series.name} is written with a fixed number of decimals: its 0 is anything below ${figure(kl.series.rounding)}, so the log does not tell whether it is exactly 0. Print more digits, or log to a file.`,
    );
  const exact = kl?.tells(logLimits.zeroKl.value) ? kl : undefined;
  const zero = exact?.share((value) => Math.abs(value) < 10 * logLimits.zeroKl.value) === 1;
  if (zero && first.stepsPerBatch === 1)
    out.push(`${exact.series.name} is 0, as it must be with one optimiser step per batch.`);
  else if (zero && Number.isNaN(first.stepsPerBatch))
    out.push(
      'A KL of 0 is healthy with one optimiser step per batch; the log does not say how many there are. If there is one: --setting epochs=1 --setting minibatches=1.',
    );
  const negative = kl?.values.filter((value) => value < -logLimits.zeroKl.value).length ?? 0;
  if (kl && negative > 0)
    out.push(
      `${kl.series.name} is negative in ${negative} of ${kl.count} updates, which no KL is: it is the mean of old minus new log-probability, an unbiased and noisy estimate. The mean of ratio - 1 - log ratio is never negative.`,
    );
  const spreads = first.owner.get('advantage_std');
  if (spreads && (spreads.median > 10 || (spreads.median > 1e-6 && spreads.median < 0.1)))
    out.push(
      `${spreads.series.name} has a median of ${figure(spreads.median)}: if these are the advantages that enter the loss, they are not normalised, and the step follows the scale of the rewards.`,
    );
  const gradient = first.owner.get('grad_norm', enough);
  const bound = first.run.number('max_grad_norm');
  if (gradient && bound > 0 && gradient.share((value) => Math.abs(value - bound) < 0.01 * bound) >= 0.95)
    out.push(
      `${gradient.series.name} is at the clip of ${figure(bound)} in every update: the step has one length whatever the rows say. Look at the scale of rewards and of the value loss.`,
    );
  const flat = views.filter(
    ({ returns, improved }) => returns && returns.count >= enough && !improved && Math.abs(returns.rise) < 2,
  );
  if (flat.length > 0 && candidates === 0)
    out.push(
      `${flat[0].returns!.series.name} does not rise over ${flat[0].returns!.count} points, and nothing else in this log tells why. Rows would: a log cannot show whether credit belongs to its samples.`,
    );
  const ranking = ranked(owners);
  if (ranking) out.push(ranking);
  return out;
}

/** Ordered by the agents' number, from the first to the last, without exception: worth a look over seeds, and in one run no evidence. */
function ranked(owners: readonly Owner[]): string | undefined {
  const late = owners.map((owner) => owner.get('return', logLimits.updates.value)).map((figures) => figures?.late);
  if (owners.length < 3 || late.some((values) => !values)) return undefined;
  const means = late.map((values) => values!.reduce((a, b) => a + b) / values!.length);
  const down = means.every((value, i) => i === 0 || value < means[i - 1]);
  const up = means.every((value, i) => i === 0 || value > means[i - 1]);
  if (!down && !up) return undefined;
  return `Late returns are in the order of the agents' numbers (${means.map((value) => figure(value)).join(', ')}). One run in ${factorial(owners.length) / 2} does that by chance; trueline symmetry asks several seeds.`;
}

const factorial = (n: number): number => (n <= 1 ? 1 : n * factorial(n - 1));
