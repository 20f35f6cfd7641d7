/** What a reported KL, clip fraction or entropy rightly may be, and the forms of it that are known to mislead. */
import type { StepStat } from '../evidence/steps/step-stats.ts';
import { limits } from '../limits.ts';
import { MetricForm, type MetricOver, type MetricQuantity } from '../transforms/loss/metric-form.ts';

type Pick = (stat: StepStat, context: Context) => number;

export interface Context {
  first: StepStat;
  last: StepStat;
  epochLast: StepStat;
  mean: (pick: (stat: StepStat) => number, epoch?: number) => number;
}

export interface Metric {
  column: string;
  /** Forms that say what they claim to. */
  right: Record<string, Pick>;
  /** Forms that are known to mislead. */
  wrong: readonly Form[];
  /** Whether a step tells the forms apart. */
  tells: (stat: StepStat, reported: number, noise: number) => boolean;
  slack: (stat: StepStat, noise: number) => number;
}

const means = (name: string, pick: (stat: StepStat) => number): Record<string, Pick> => ({
  [name]: pick,
  [`${name}, mean of the epoch`]: (stat, context) => context.mean(pick, stat.epoch),
  [`${name}, mean of the update`]: (_, context) => context.mean(pick),
});

/** Where gradients are accumulated over two passes, programs tell the mean of both passes' readings. */
const byHalves = (name: string) => `${name}, mean of two halves`;
/** A reading may be over all rows where the loss leaves some out. */
const overAll = (name: string) => `${name}, over all rows`;

type Form = [MetricForm, Pick];
const form = (quantity: MetricQuantity, pick: Pick, over?: MetricOver): Form => [new MetricForm(quantity, over), pick];

const edges = (quantity: MetricQuantity, pick: (stat: StepStat) => number): Form[] => [
  form(quantity, (_, context) => pick(context.last), 'last-minibatch'),
  form(quantity, (_, context) => pick(context.epochLast), 'last-minibatch-of-epoch'),
  form(quantity, (_, context) => pick(context.first), 'first-step'),
];

export const k1 = new MetricForm('k1');

export const table: readonly Metric[] = [
  {
    column: 'approx_kl',
    right: {
      ...means('k3', (stat) => stat.k3),
      ...means('k2', (stat) => stat.k2),
      ...means('k1', (stat) => stat.k1),
      ...means('k3 after the step', (stat) => stat.after3),
      ...means('k2 after the step', (stat) => stat.after2),
      ...means('k1 after the step', (stat) => stat.after1),
      ...means('KL of the distributions', (stat) => stat.forwardKl ?? Number.NaN),
      ...means('KL of the distributions, from the new one', (stat) => stat.backwardKl ?? Number.NaN),
    },
    wrong: [
      ...edges('k3', (stat) => stat.k3),
      ...edges('k2', (stat) => stat.k2),
      form('half-k2', (stat) => stat.k2 / 2),
      form('doubled-k2', (stat) => stat.k2 * 2),
      form('doubled-k3', (stat) => stat.k3 * 2),
      form('negated-k1', (stat) => -stat.k1),
      form('k3', (stat) => stat.k3 * stat.weight, 'sum'),
    ],
    tells: (stat, _, noise) => !stat.before && stat.k2 > limits.klVisible.value * noise,
    slack: (_, noise) => noise,
  },
  {
    column: 'clip_fraction',
    right: {
      ...means('share outside the clip range', (stat) => stat.clipFraction),
      ...means('share on which the clip binds', (stat) => stat.clipBinding),
    },
    wrong: edges('clip-fraction', (stat) => stat.clipFraction),
    // A clip that a schedule ended at 0 cuts what rounding moves.
    tells: (stat, reported) =>
      !stat.before && Math.sqrt(2 * stat.k2) > limits.movedRows.value && (stat.clipFraction > 0 || reported > 0),
    slack: (stat) => limits.clipRows.value / stat.rows,
  },
  {
    column: 'entropy',
    right: means('entropy', (stat) => stat.entropy),
    wrong: [
      ...edges('entropy', (stat) => stat.entropy),
      form('entropy-in-bits', (stat) => stat.entropy / Math.LN2),
      form('log-count', (stat) => stat.logCount),
      form('negated-entropy', (stat) => -stat.entropy),
      form('entropy', (stat) => stat.entropy * stat.weight, 'sum'),
    ],
    tells: (stat) => stat.entropy > limits.entropyVisible.value,
    slack: () => limits.entropySlack.value,
  },
];

/** What each metric rightly may be, under the names of its three readings. */
export const rightForms = new Map(
  table.map((metric) => [
    metric,
    Object.entries(metric.right).map(([name, pick]) => ({ name, halves: byHalves(name), all: overAll(name), pick })),
  ]),
);
