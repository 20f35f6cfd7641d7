/** Are KL and clip fraction reported as the tokens of the same step give them? Only steps that were recorded whole can tell. */
import { told } from '../../../language/language.ts';
import { mean } from '../../../math/statistics.ts';
import { type Figures, type Finding, figure } from '../../diagnosis.ts';
import { limits } from '../../limits.ts';
import { resolution } from '../../pairing/scoring.ts';
import type { TokenEvidence } from '../../tokens/evidence.ts';
import { LossRows } from '../../tokens/loss-rows.ts';
import type { Step } from '../../tokens/steps.ts';
import { type Looked, tokenCheck, tokenFinding } from '../../tokens/token-check.ts';
import { MetricForm, type MetricOver, type MetricQuantity } from '../../transforms/loss/metric-form.ts';

const check = 'token-metrics';

export const tokenMetrics = tokenCheck({
  id: check,
  group: 'reading',
  question: ['Are KL and clip fraction reported as the tokens give them?', 'KL 与裁剪比例是否与词元算出的一致？'],
  needs: [['steps.approx_kl', 'steps.clip_fraction'], ['replays.new_logp']],
  causes: ['metric-misreported'],
  look,
});

type Column = 'approxKl' | 'clipFraction';
type Value = (i: number) => number;
type Whole = readonly [step: Step, rows: readonly number[]];

/** What a form of a metric gives for each step; one that is right is right for all of them. */
interface Form {
  quantity: MetricQuantity;
  over: MetricOver;
  values: Map<Step, number>;
}

function look(evidence: TokenEvidence): Looked {
  const all = new LossRows(evidence, false);
  const steps = new Map<Step, number[]>();
  for (const [i, step] of all.step.entries()) {
    const list = steps.get(step);
    if (list) list.push(i);
    else steps.set(step, [i]);
  }
  // The first step of an iteration has ratio 1 and says nothing.
  const whole: Whole[] = [...steps].filter(
    ([step, own]) => step.epoch + step.minibatch > 0 && step.tokens === own.length && step.tokens > 0,
  );
  const rows = whole.reduce((sum, [, own]) => sum + own.length, 0);
  if (rows === 0)
    return {
      rows: 0,
      note: told(
        'no step after the first of its iteration was recorded whole',
        '没有完整录下迭代中第一步之后的任何一步',
      ),
    };
  const noise = limits.klRounding.value * resolution(evidence.uses.column('new_logp'));
  const measured: Figures = { steps: whole.length };
  const findings: Finding[] = [];
  for (const [name, column, right] of metrics(all)) {
    const honest = right.flatMap(([quantity, value]) => averages(all, whole, quantity, value));
    const slack = (step: Step) => (column === 'approxKl' ? noise : limits.clipRows.value / step.tokens);
    const off = (step: Step, value: number) =>
      Math.abs(step[column] - value) > slack(step) + limits.metric.value * Math.abs(value);
    const told = whole.map(([step]) => step).filter((step) => Number.isFinite(step[column]));
    const telling = told.filter((step) =>
      column === 'approxKl'
        ? step[column] > limits.klVisible.value * noise
        : step[column] > 0 || honest[0].values.get(step)! > 0,
    );
    const misses = ({ values }: Form) => telling.filter((step) => off(step, values.get(step)!));
    const fewest = Math.min(...honest.map((form) => misses(form).length));
    measured[`${name}_off`] = fewest;
    if (fewest < Math.max(limits.fewestSteps.value, limits.metricShare.value * telling.length)) continue;
    const form = honest.flatMap(misleading).find((own) => misses(own).length === 0);
    const [step] = misses(honest[0]);
    findings.push({
      ...tokenFinding({
        cause: 'metric-misreported',
        check,
        rows,
        share: form ? 1 : limits.circumstantial.value,
        onset: step.iteration,
        ...(form ? { transform: new MetricForm(form.quantity, form.over) } : {}),
        summary: `${name} is reported as ${figure(step[column])} where the tokens of its step give ${figure(honest[0].values.get(step)!)}`,
        measured: { steps: telling.length, disagreeing: fewest },
        expected: { disagreeing: 0 },
      }),
      reading: name,
    });
  }
  return { rows, measured, findings };
}

function metrics(all: LossRows): [name: string, Column, right: [MetricQuantity, Value][]][] {
  const { settings } = all.evidence;
  const [low, high] = [settings.clip_low ?? settings.clip, settings.clip_high ?? settings.clip];
  const moves: Value[] = [
    (i) => all.logRatio[i],
    ...(settings.ratio !== undefined && settings.ratio !== 'token' ? [(i: number) => Math.log(all.ratio[i])] : []),
  ];
  const outside: Value = (i) => (all.ratio[i] > 1 + high! || all.ratio[i] < 1 - low! ? 1 : 0);
  const binding: Value = (i) =>
    (all.advantage[i] > 0 && all.ratio[i] > 1 + high!) || (all.advantage[i] < 0 && all.ratio[i] < 1 - low!) ? 1 : 0;
  return [
    [
      'approx_kl',
      'approxKl',
      moves.flatMap((log): [MetricQuantity, Value][] => [
        ['k3', (i) => Math.expm1(log(i)) - log(i)],
        ['k2', (i) => log(i) ** 2 / 2],
        ['k1', (i) => -log(i)],
      ]),
    ],
    ...(low === undefined || high === undefined
      ? []
      : [
          [
            'clip_fraction',
            'clipFraction',
            [
              ['clip-fraction', outside],
              ['clip-fraction', binding],
            ],
          ] as [string, Column, [MetricQuantity, Value][]],
        ]),
  ];
}

/** Means that are usual: over the tokens of the step, over its responses, over its micro-batches. */
function averages(all: LossRows, whole: readonly Whole[], quantity: MetricQuantity, value: Value): Form[] {
  return [() => 0, (i: number) => all.responseOf(i), (i: number) => all.sliceOf(i)].map((partOf) => ({
    quantity,
    over: 'step',
    values: new Map(
      whole.map(([step, rows]) => {
        const parts = new Map<number, { sum: number; count: number }>();
        for (const i of rows) {
          const own = parts.get(partOf(i)) ?? { sum: 0, count: 0 };
          parts.set(partOf(i), own);
          own.sum += value(i);
          own.count++;
        }
        return [step, mean([...parts.values()].map(({ sum, count }) => sum / count))];
      }),
    ),
  }));
}

/** The same over padding, too, by the widths that a batch can have; and with another factor. */
function misleading({ quantity, values }: Form): Form[] {
  const times = (as: MetricQuantity, over: MetricOver, factor: (step: Step) => number): Form => ({
    quantity: as,
    over,
    values: new Map([...values].map(([step, value]) => [step, value * factor(step)])),
  });
  const places = ({ counted, sequences }: Step, width: number) => counted.tokens / (sequences * width);
  return [
    times(quantity, 'padding', (step) => places(step, step.counted.widest)),
    times(quantity, 'padding', (step) => places(step, step.counted.whole)),
    times(quantity, 'padding', (step) => places(step, step.counted.whole - 1)),
    times(quantity, 'sum', (step) => step.tokens),
    ...(quantity === 'k2' ? [times('half-k2', 'step', () => 1 / 2), times('doubled-k2', 'step', () => 2)] : []),
    ...(quantity === 'k3' ? [times('doubled-k3', 'step', () => 2)] : []),
    ...(quantity === 'k1' ? [times('negated-k1', 'step', () => -1)] : []),
  ];
}
