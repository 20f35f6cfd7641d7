/** Does the loss draw every prediction towards its own target? Read off the derivative of the loss by each prediction, whatever code made it: it has the sign of prediction minus target and grows with it, for squares, Huber's loss and weights alike. */
import { told } from '../../../language/language.ts';
import { type Check, confidence, fewestRows, noticedShare, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome, percent } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { LossIs } from '../../transforms/loss/loss-is.ts';

const check = 'critic-loss';

export const criticLoss: Check = {
  id: check,
  group: 'gradient',
  question: ['Does the loss draw every prediction towards its own target?', '损失是否把每个预测拉向它自己的目标？'],
  needs: [['targets.prediction'], ['targets.coef', 'targets.prediction_again']],
  causes: ['broadcast-mismatch', 'loss-summed', 'critic-context-misaligned', 'advantage-sign-flipped'],
  of: 'targets',
  start: () => new CriticLossPass(),
};

type Part = Omit<Finding, 'agents' | 'onset' | 'evidence'>;
type Kind = 'own' | 'outer' | 'away' | 'other';

class CriticLossPass implements Pass {
  private readonly kinds: Record<Kind, number> = { own: 0, outer: 0, away: 0, other: 0 };
  private steps = 0;
  private readonly slopes: number[] = [];
  private rows = 0;
  private again = 0;
  private differing = 0;
  private onset = -1;
  private readonly outer = new ProofStore();
  private readonly predicted = new ProofStore();

  iteration({ targets, number }: Iteration): void {
    const [prediction, target, coef, again, weight] = [
      'prediction',
      'target',
      'coef',
      'prediction_again',
      'weight',
    ].map((name) => targets?.column(name));
    if (!targets || !prediction || !target) return;
    const [epoch, minibatch] = [targets.column('epoch')!, targets.column('minibatch')!];
    if (again) this.compare(number, prediction, again);
    if (!coef) return;
    for (let from = 0; from < targets.rows; ) {
      let to = from + 1;
      while (to < targets.rows && epoch[to] === epoch[from] && minibatch[to] === minibatch[from]) to++;
      const cut = (column: ArrayLike<number>) => Array.from({ length: to - from }, (_, i) => column[from + i]);
      const per = weight ? cut(weight) : null;
      this.step(
        number,
        cut(prediction),
        cut(target),
        cut(coef).map((value, i) => (per && per[i] > 0 ? value / per[i] : value)),
      );
      from = to;
    }
  }

  private compare(iteration: number, prediction: ArrayLike<number>, again: ArrayLike<number>): void {
    const [shown, own]: [number[], number[]] = [[], []];
    for (let i = 0; i < prediction.length; i++) {
      if (!Number.isFinite(prediction[i]) || !Number.isFinite(again[i])) continue;
      this.again++;
      if (Math.abs(prediction[i] - again[i]) <= limits.targetExact.value * (1 + Math.abs(again[i]))) continue;
      this.differing++;
      shown.push(prediction[i]);
      own.push(again[i]);
    }
    this.predicted.rows(iteration, Float64Array.from(shown), Float64Array.from(own));
  }

  private step(iteration: number, p: readonly number[], t: readonly number[], g: readonly number[]): void {
    if (p.length < fewestRows || !g.every(Number.isFinite) || !t.every(Number.isFinite)) return;
    this.steps++;
    this.rows += p.length;
    const kind = kindOf(p, t, g);
    this.kinds[kind]++;
    if (kind === 'own') this.slopes.push(slopeOf(p, t, g));
    else if (this.onset < 0) this.onset = iteration;
    if (kind !== 'outer') return;
    const shown = outerOf(p, t);
    const scale = along(shown, g);
    const own = p.map((value, i) => value - t[i]);
    this.outer.rows(
      iteration,
      Float64Array.from(g),
      Float64Array.from(own, (value) => value * along(own, g)),
      Float64Array.from(shown, (value) => value * scale),
    );
  }

  finish(): Outcome {
    const { kinds, steps } = this;
    const measured: Outcome['measured'] = {
      rows: Math.max(this.rows, this.again),
      steps,
      ...kinds,
      other_predictions: this.differing,
    };
    const expected = { outer: 0, away: 0, other: 0, other_predictions: 0 };
    if (measured.rows === 0) return { status: 'not-checked', measured, expected, findings: [] };
    const most = (count: number) => count >= fewestRows && count >= limits.most.value * steps;
    const found = this.found(most);
    if (found) {
      const finding: Finding = {
        agents: [],
        onset: Math.max(0, this.onset),
        told: true,
        evidence: [{ check, measured, expected }],
        ...found,
      };
      return { status: 'fail', measured, expected, findings: [finding] };
    }
    const odd = kinds.other + kinds.outer + kinds.away;
    if (odd < Math.max(fewestRows, noticedShare * steps)) return { status: 'pass', measured, expected, findings: [] };
    const share = odd / steps;
    const open = { rows: Math.round(share * this.rows), share, onset: Math.max(0, this.onset), agents: [] };
    return { status: 'fail', measured, expected, findings: [], open };
  }

  private found(most: (count: number) => boolean): Part | null {
    const { kinds, steps } = this;
    const sure = { confidence: confidence(1, this.rows), rows: this.rows };
    if (this.differing >= Math.max(fewestRows, noticedShare * this.again))
      return {
        cause: 'critic-context-misaligned',
        confidence: confidence(1, this.differing),
        rows: this.differing,
        ...this.predicted.prove('prediction', 'in the loss', 'of the stored observation and action'),
        summary: told(
          `${percent(this.differing / this.again)} of the predictions in the loss are not what the network gives for the stored observation and action.`,
          `损失中 ${percent(this.differing / this.again)} 的预测不是网络对所存观测和动作给出的值。`,
        ),
      };
    if (most(kinds.outer)) {
      const transform = new LossIs('all-pairs', 'value');
      return {
        cause: 'broadcast-mismatch',
        ...sure,
        transform,
        ...this.outer.prove('derivative of the loss', 'as it was', 'towards its own target', transform),
        summary: told(
          `In ${kinds.outer} of ${steps} steps the loss draws every prediction towards all targets of the minibatch, as a column compared with a row does.`,
          `${steps} 步中有 ${kinds.outer} 步，损失把每个预测拉向小批的所有目标，正如一列与一行相比较那样。`,
        ),
      };
    }
    if (most(kinds.away))
      return {
        cause: 'advantage-sign-flipped',
        ...sure,
        summary: told(
          `In ${kinds.away} of ${steps} steps the loss pushes predictions away from their targets.`,
          `${steps} 步中有 ${kinds.away} 步，损失把预测推离其目标。`,
        ),
      };
    const slope = median(this.slopes);
    const size = this.rows / Math.max(1, steps);
    // A mean over so many rows gives each a slope of 2 or 1 over their number; a sum gives 2 or 1.
    if (this.slopes.length >= fewestRows && size >= limits.summedRows.value && slope >= limits.summedSlope.value)
      return {
        cause: 'loss-summed',
        ...sure,
        summary: told(
          `The loss changes by ${figure(slope)} times a prediction's error, whatever the ${figure(size)} rows of a minibatch: it is their sum, not their mean.`,
          `无论小批有 ${figure(size)} 行，损失都按预测误差的 ${figure(slope)} 倍变化：它是各行之和而非均值。`,
        ),
      };
    return null;
  }
}

/** How the derivatives of one step follow from predictions and targets. */
function kindOf(p: readonly number[], t: readonly number[], g: readonly number[]): Kind {
  const error = p.map((value, i) => value - t[i]);
  const sizes = g.map(Math.abs);
  const top = Math.max(...sizes);
  if (!(top > 0)) return 'other';
  const reach = Math.max(...error.map(Math.abs));
  const clear = error.map((value, i) => Math.abs(value) > limits.targetExact.value * (reach + Math.abs(t[i])));
  const against = error.filter((value, i) => clear[i] && value * g[i] < 0).length;
  const order = error.map((_, i) => i).sort((a, b) => error[a] - error[b]);
  let falls = 0;
  for (let k = 1; k < order.length; k++) if (g[order[k]] < g[order[k - 1]] - limits.coefExact.value * top) falls++;
  const few = (1 - limits.formShare.value) * p.length;
  if (against <= few && falls <= few) return 'own';
  if (matches(outerOf(p, t), g, top) || matches(outerOf(p, t, true), g, top)) return 'outer';
  return clear.filter(Boolean).length - against <= few ? 'away' : 'other';
}

/** Each prediction against all targets: their mean, or by Huber's loss the mean of the clipped differences. */
function outerOf(p: readonly number[], t: readonly number[], huber = false): number[] {
  const mean = t.reduce((sum, value) => sum + value, 0) / t.length;
  return huber
    ? p.map((value) => t.reduce((sum, one) => sum + Math.max(-1, Math.min(1, value - one)), 0) / t.length)
    : p.map((value) => value - mean);
}

function along(shape: readonly number[], g: readonly number[]): number {
  const square = shape.reduce((sum, value) => sum + value * value, 0);
  return square > 0 ? shape.reduce((sum, value, i) => sum + value * g[i], 0) / square : 0;
}

function matches(shape: readonly number[], g: readonly number[], top: number): boolean {
  const scale = along(shape, g);
  return scale > 0 && shape.every((value, i) => Math.abs(scale * value - g[i]) <= limits.coefExact.value * top);
}

/** Of small errors, where squares and Huber's loss are alike. */
function slopeOf(p: readonly number[], t: readonly number[], g: readonly number[]): number {
  const all = p.map((value, i) => [value - t[i], g[i]]).filter(([error]) => error !== 0 && Math.abs(error) < 1);
  return median(all.map(([error, value]) => value / error));
}

function median(list: readonly number[]): number {
  const sorted = list.filter(Number.isFinite).sort((a, b) => a - b);
  return sorted.length === 0 ? Number.NaN : sorted[sorted.length >> 1];
}
