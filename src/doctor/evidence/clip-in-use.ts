/** The clip range that an update really used, where a schedule moves it away from the declared one: whichever single range gives the reported losses and clip fractions of nearly all its steps. One reading alone fits some range by chance, so several must agree. */
import { limits } from '../limits.ts';
import { byHalves, forms, givesAll, lossRows, type WeighedRow } from '../transforms/loss/loss-rows.ts';
import type { Iteration } from './iteration.ts';
import { stepKey } from './steps/step-key.ts';
import { declaredClip, type StepStat, type StepStats } from './steps/step-stats.ts';

interface Interval {
  from: number;
  to: number;
}

/** No program clips farther; halvings of it give every digit. */
const widest = 4;
const halvings = 40;
const fewestReadings = limits.fitRows.value;

/** Per policy, the range in use where it is another than the declared one and the readings agree on it. */
export function clipsInUse(iteration: Iteration, { whole, halves }: StepStats): Map<number, number> {
  const { steps, run } = iteration;
  const clips = new Map<number, number>();
  const losses = steps?.column('policy_loss');
  const fractions = steps?.column('clip_fraction');
  if (!steps || (!losses && !fractions)) return clips;
  const summed = run.text('loss_reduction') === 'sum';
  const readings = new Map<number, { key: number; row: number; stat: StepStat }[]>();
  let odd = 0;
  for (const { row, key } of keyed(iteration)) {
    const stat = whole.get(key);
    if (!stat) continue;
    if (stat.before) {
      if (losses && !isLoss(losses[row], stat, () => halves().get(key), summed)) return clips;
      continue;
    }
    const told = losses && !Number.isNaN(stat.loss) ? losses[row] / (summed ? stat.weight : 1) : Number.NaN;
    if (Math.abs(told - stat.loss) > slackOf(told, stat)) odd++;
    if (fractions && Math.abs(fractions[row] - stat.clipFraction) > limits.clipRows.value / stat.rows) odd++;
    const own = readings.get(stat.policy) ?? [];
    own.push({ key, row, stat });
    readings.set(stat.policy, own);
  }
  if (odd === 0) return clips;
  const rows = lossRows(iteration);
  for (const [policy, own] of readings) {
    const intervals = (over: (rows: readonly WeighedRow[], of: (rows: readonly WeighedRow[]) => number) => number) =>
      own.flatMap(({ key, row, stat }) => {
        const list = rows.get(key);
        if (!list) return [];
        const found: (Interval | null)[] = [];
        if (losses && Number.isFinite(losses[row]) && !Number.isNaN(stat.loss)) {
          const told = losses[row] / (summed ? stat.weight : 1);
          // The right range gives a loss to rounding; a formula that is a little off needs more.
          found.push(between((clip) => over(list, (part) => lossOf(part, clip)), told, stat.noise));
        }
        if (fractions && Number.isFinite(fractions[row]))
          found.push(
            between(
              (clip) => over(list, (part) => fractionOf(part, clip)),
              fractions[row],
              limits.clipRows.value / stat.rows,
            ),
          );
        return found;
      });
    const declared = declaredClip(iteration);
    const clip = common(intervals(atOnce), declared) ?? (summed ? null : common(intervals(byHalves), declared));
    if (clip !== null && !otherFormula(iteration, own, losses, rows, summed)) clips.set(policy, clip);
  }
  return clips;
}

/** Whether another formula gives the same losses with the clip that is declared: then none is needed that nobody declared. */
function otherFormula(
  iteration: Iteration,
  steps: readonly { key: number; row: number; stat: StepStat }[],
  losses: ArrayLike<number> | null | undefined,
  rows: ReadonlyMap<number, WeighedRow[]>,
  summed: boolean,
): boolean {
  if (!losses || !iteration.run.declares('clip')) return false;
  const clip = declaredClip(iteration);
  const told = steps
    .filter(({ row, stat }) => Number.isFinite(losses[row]) && !Number.isNaN(stat.loss))
    .map(({ key, row, stat }) => ({
      told: losses[row] / (summed ? stat.weight : 1),
      slack: stat.noise,
      rows: rows.get(key) ?? [],
      clip,
    }));
  return told.length > 0 && forms.some((form) => givesAll(form, told));
}

/** Before the first step every ratio is 1 and no clip tells: a loss that is off there follows another formula, not another clip. */
function isLoss(told: number, stat: StepStat, halved: () => StepStat | undefined, summed: boolean): boolean {
  if (!Number.isFinite(told) || Number.isNaN(stat.loss)) return true;
  const fits = (loss: number, weight: number) => Math.abs(told / weight - loss) <= slackOf(told / weight, stat);
  if (fits(stat.loss, summed ? stat.weight : 1)) return true;
  const half = halved();
  return half !== undefined && fits(half.loss, 1);
}

const slackOf = (told: number, { noise }: StepStat) => limits.lossRelative.value * Math.abs(told) + noise;

function* keyed({ steps }: Iteration): Generator<{ row: number; key: number }> {
  const epoch = steps!.column('epoch')!;
  const minibatch = steps!.column('minibatch')!;
  const policy = steps!.column('policy');
  const skipped = steps!.column('skipped');
  for (let row = 0; row < steps!.rows; row++)
    if (skipped?.[row] !== 1) yield { row, key: stepKey(epoch[row], minibatch[row], policy ? policy[row] : 0) };
}

const atOnce = <Result>(rows: readonly WeighedRow[], of: (rows: readonly WeighedRow[]) => Result) => of(rows);

function lossOf(rows: readonly WeighedRow[], clip: number): number {
  let [sum, total] = [0, 0];
  for (const { ratio, advantage: a, weight } of rows) {
    sum -= weight * Math.min(ratio * a, Math.min(Math.max(ratio, 1 - clip), 1 + clip) * a);
    total += weight;
  }
  return sum / total;
}

function fractionOf(rows: readonly WeighedRow[], clip: number): number {
  let [beyond, total] = [0, 0];
  for (const { ratio, weight } of rows) {
    if (Math.abs(ratio - 1) > clip) beyond += weight;
    total += weight;
  }
  return beyond / total;
}

/** The ranges that give a reading. A wider one never raises the loss or the fraction, so that they are an interval. */
function between(of: (clip: number) => number, told: number, slack: number): Interval | null {
  if (!(of(0) >= told - slack && of(widest) <= told + slack)) return null;
  const where = (wanted: number) => {
    let [low, high] = [0, widest];
    for (let i = 0; i < halvings; i++) {
      const middle = (low + high) / 2;
      if (of(middle) > wanted) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  };
  const from = of(0) <= told + slack ? 0 : where(told + slack);
  const to = of(widest) >= told - slack ? widest : where(told - slack);
  return { from, to };
}

/** The middle of what nearly all intervals have in common. */
function common(intervals: readonly (Interval | null)[], declared: number): number | null {
  const bounded = intervals.filter((one) => one !== null && (one.from > 0 || one.to < widest)) as Interval[];
  if (bounded.length < fewestReadings) return null;
  const within = (clip: number) =>
    intervals.filter((one) => one && clip >= one.from - limits.rounding.value && clip <= one.to + limits.rounding.value)
      .length;
  const enough = limits.formulaExact.value * intervals.length;
  if (within(declared) >= enough) return null;
  const edges = bounded.flatMap(({ from, to }) => [from, to]).filter((clip) => within(clip) >= enough);
  if (edges.length === 0) return null;
  const middle = (Math.min(...edges) + Math.max(...edges)) / 2;
  return middle > limits.rounding.value && within(middle) >= enough ? middle : null;
}
