/** What is worth knowing about a log and is no symptom: how far its length goes, readings that look odd and are healthy, an order of agents that wants several seeds. */
import { told } from '../../language/language.ts';
import { figure } from '../diagnosis.ts';
import { logLimits } from '../limits.ts';
import type { Owner } from './series.ts';
import type { View } from './view.ts';

export function notes(views: readonly View[], owners: readonly Owner[], updates: number, candidates: number): string[] {
  const out: string[] = [];
  const [first] = views;
  const enough = logLimits.updates.value;
  if (updates > 0 && updates < enough)
    out.push(
      told(
        `The log has ${updates} updates: what is exactly 0 or not a number shows in 3, a growth that all rows share in 6, and a shift within noise only from ${enough} on.`,
        `日志有 ${updates} 次更新：恰好为 0 或不是数的情形 3 次即可看出，所有行共有的增长需要 6 次，噪声中的变化要从 ${enough} 次起才能看出。`,
      ),
    );
  if (views.some(({ nothingToChoose }) => nothingToChoose))
    out.push(
      told(
        'The entropy is 0 from the first update on: there was nothing to choose, or the policy had collapsed before the log begins.',
        '熵从第一次更新起就是 0：没有可选择的余地，或者策略在日志开始之前已经坍缩。',
      ),
    );
  const { kl } = first;
  if (kl && !kl.tells(logLimits.zeroKl.value) && kl.least === 0)
    out.push(
      told(
        `${kl.series.name} is written with a fixed number of decimals: its 0 is anything below ${figure(kl.series.rounding)}, so the log does not tell whether it is exactly 0. Print more digits, or log to a file.`,
        `${kl.series.name} 以固定的小数位数写出：它的 0 可以是低于 ${figure(kl.series.rounding)} 的任何数，因此日志看不出它是否恰好为 0。请多打印几位，或记录到文件。`,
      ),
    );
  const exact = kl?.tells(logLimits.zeroKl.value) ? kl : undefined;
  const zero = exact?.share((value) => Math.abs(value) < logLimits.nearZero.value * logLimits.zeroKl.value) === 1;
  if (zero && first.stepsPerBatch === 1)
    out.push(
      told(
        `${exact.series.name} is 0, as it must be with one optimiser step per batch.`,
        `${exact.series.name} 为 0；每批只有一次优化器步时本应如此。`,
      ),
    );
  else if (zero && Number.isNaN(first.stepsPerBatch))
    out.push(
      told(
        'A KL of 0 is healthy with one optimiser step per batch; the log does not say how many there are. If there is one: --setting epochs=1 --setting minibatches=1.',
        '每批只有一次优化器步时 KL 为 0 是正常的；日志没有说明有几次。如果只有一次：--setting epochs=1 --setting minibatches=1。',
      ),
    );
  const negative = kl?.values.filter((value) => value < -logLimits.zeroKl.value).length ?? 0;
  if (kl && negative > 0)
    out.push(
      told(
        `${kl.series.name} is negative in ${negative} of ${kl.count} updates, which no KL is: it is the mean of old minus new log-probability, an unbiased and noisy estimate. The mean of ratio - 1 - log ratio is never negative.`,
        `${kl.series.name} 在 ${kl.count} 次更新中有 ${negative} 次为负，而 KL 不会为负：它是旧减新对数概率的均值，一个无偏但噪声大的估计。ratio - 1 - log ratio 的均值从不为负。`,
      ),
    );
  const spreads = first.owner.get('advantage_std');
  const { someSpread, smallSpread, largeSpread, atBound, nearlyAlways } = logLimits;
  const small = spreads && spreads.median > someSpread.value && spreads.median < smallSpread.value;
  if (spreads && (spreads.median > largeSpread.value || small))
    out.push(
      told(
        `${spreads.series.name} has a median of ${figure(spreads.median)}: if these are the advantages that enter the loss, they are not normalised, and the step follows the scale of the rewards.`,
        `${spreads.series.name} 的中位数为 ${figure(spreads.median)}：如果这些就是进入损失的优势，它们没有归一化，步长随奖励的尺度而变。`,
      ),
    );
  const gradient = first.owner.get('grad_norm', enough);
  const bound = first.run.number('max_grad_norm');
  const cut = (value: number) => Math.abs(value - bound) < atBound.value * bound;
  if (gradient && bound > 0 && gradient.share(cut) >= nearlyAlways.value)
    out.push(
      told(
        `${gradient.series.name} is at the clip of ${figure(bound)} in every update: the step has one length whatever the rows say. Look at the scale of rewards and of the value loss.`,
        `${gradient.series.name} 在每次更新中都顶着裁剪值 ${figure(bound)}：无论数据行如何，步长都一样。请查看奖励与价值损失的尺度。`,
      ),
    );
  const flat = views.filter(
    ({ returns, improved }) => returns && returns.count >= enough && !improved && Math.abs(returns.rise) < 2,
  );
  if (flat.length > 0 && candidates === 0)
    out.push(
      told(
        `${flat[0].returns!.series.name} does not rise over ${flat[0].returns!.count} points, and nothing else in this log tells why. Rows would: a log cannot show whether credit belongs to its samples.`,
        `${flat[0].returns!.series.name} 在 ${flat[0].returns!.count} 个点上没有上升，而日志里没有别的内容说明原因。数据行可以：日志看不出优势是否属于它的样本。`,
      ),
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
  return told(
    `Late returns are in the order of the agents' numbers (${means.map((value) => figure(value)).join(', ')}). One run in ${factorial(owners.length) / 2} does that by chance; trueline symmetry asks several seeds.`,
    `后期回报按智能体编号排列（${means.map((value) => figure(value)).join(', ')}）。偶然之下每 ${factorial(owners.length) / 2} 次训练就有一次如此；trueline symmetry 会查看多个种子。`,
  );
}

const factorial = (n: number): number => (n <= 1 ? 1 : n * factorial(n - 1));
