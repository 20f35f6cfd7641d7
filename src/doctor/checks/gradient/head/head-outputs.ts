/** What one row's log-probability and entropy gain by each output of the head: logits of its candidates, or means and deviations. The one thing to get wrong: outputs count as the head's own only where there are as many as its bias has entries. */

import { digamma, trigamma } from '../../../../math/gamma.ts';
import { entropyOf } from '../../../continuous/density.ts';
import { BetaLaw, ChoicesLaw, familyOf, GaussianLaw, type Law, lawsOf, vector } from '../../../continuous/laws.ts';
import type { Iteration } from '../../../evidence/iteration.ts';
import type { Numbers } from '../../../evidence/rows.ts';
import type { Run } from '../../../evidence/run.ts';

import { limits } from '../../../limits.ts';
import { Distribution, type Scores } from '../../../pairing/scoring.ts';
import { updateScores } from '../../../pairing/update-scores.ts';

/** Ways to read the outputs, the usual one first. Of a Gaussian: all together, or means or deviations alone, where the others are made of theirs in a way that is not known. Of a beta distribution: by what made its concentrations of them. */
export const readings = [0, 1, 2] as const;
export type Reading = (typeof readings)[number];
const parts = ['all', 'mean', 'deviation'] as const;
/** The slope of a concentration by its output: 1 + softplus, softplus, exponential. */
const links = [(c: number) => -Math.expm1(1 - c), (c: number) => -Math.expm1(-c), (c: number) => c] as const;

/** Tensors whose gradients together are those of the outputs, and how many outputs there are. */
export interface Witness {
  readonly tensors: readonly number[];
  readonly size: number;
}

export abstract class Outputs {
  /** Of the row that was looked at: the outputs that it moves, and what each gives. */
  count = 0;
  ids = new Int32Array(0);
  towards = new Float64Array(0);
  entropy = new Float64Array(0);

  abstract witness(run: Run, policy: number): Witness | null;
  /** False where the row cannot be told, or is not of a head of that size. */
  abstract look(row: number, sample: number, size?: number): boolean;

  /** By how much more entropy in the row would raise the log-probability of its action. */
  get entropyPush(): number {
    let push = 0;
    for (let c = 0; c < this.count; c++) push += this.towards[c] * this.entropy[c];
    return push;
  }

  protected room(count: number): void {
    this.count = count;
    if (this.ids.length >= count) return;
    this.ids = new Int32Array(2 * count);
    this.towards = new Float64Array(2 * count);
    this.entropy = new Float64Array(2 * count);
  }
}

export function outputsOf(iteration: Iteration, reading: Reading): Outputs | null {
  const { samples, replays } = iteration;
  if (!samples || !replays) return null;
  const action = samples.column('action');
  const scores = action && reading === 0 ? updateScores(iteration) : null;
  if (action && scores?.logits) return new Categorical(scores, action);
  const family = familyOf(samples);
  const laws = typeof family === 'string' ? lawsOf(replays, family) : null;
  const [scored, drawn] = [replays.list('action_values'), samples.list('action_values')];
  if (!laws || !(scored ?? drawn) || !laws(0)) return null;
  const actionOf = (row: number, sample: number, width: number) =>
    vector(scored, row, width) ?? vector(drawn, sample, width);
  if (family === 'categoricals') return reading === 0 ? new Choices(laws, actionOf) : null;
  if (family === 'beta') return new Concentrations(laws, actionOf, links[reading]);
  return new Gaussian(iteration, laws, actionOf, parts[reading]);
}

type ActionOf = (row: number, sample: number, width: number) => Float64Array | null;

const biases = (run: Run, policy: number) =>
  run.tensors.flatMap((info, tensor) =>
    info.policy === policy && info.role === 'head' && /bias/i.test(info.name) ? [{ ...info, tensor }] : [],
  );

class Categorical extends Outputs {
  private readonly distribution = new Distribution();

  constructor(
    private readonly scores: Scores,
    private readonly action: Numbers,
  ) {
    super();
  }

  witness(run: Run, policy: number): Witness | null {
    const found = biases(run, policy)
      .filter(({ size }) => size > 1)
      .at(-1);
    return found ? { tensors: [found.tensor], size: found.size } : null;
  }

  look(row: number, sample: number, size?: number): boolean {
    const { scores, action } = this;
    const temperature = scores.temperatureOf(row);
    const found = this.distribution.of(scores, row, temperature, true);
    // Without ids a row's candidates are the head's own outputs only where there are as many.
    if (size !== undefined && !scores.subset && found.count !== size) return false;
    this.room(found.count);
    for (let c = 0; c < found.count; c++) {
      const id = scores.id(row, c);
      const p = found.probability(c);
      if (!(id < (size ?? Number.POSITIVE_INFINITY)) || !Number.isFinite(p)) return false;
      this.ids[c] = id;
      this.towards[c] = ((c === action[sample] ? 1 : 0) - p) / temperature;
      this.entropy[c] = p > 0 ? (-p * (found.logp(c) + found.entropy)) / temperature : 0;
    }
    return true;
  }
}

/** Logits of all choices of all dimensions, from one layer or from one for each. */
class Choices extends Outputs {
  constructor(
    private readonly laws: (row: number) => Law | null,
    private readonly actionOf: ActionOf,
  ) {
    super();
  }

  witness(run: Run, policy: number): Witness | null {
    const all = (this.laws(0) as ChoicesLaw).logps.length;
    const found = biases(run, policy);
    const [one] = found.filter(({ size }) => size === all);
    const several = found.reduce((sum, { size }) => sum + size, 0) === all ? found : null;
    const tensors = (one ? [one] : several)?.map(({ tensor }) => tensor);
    return tensors ? { tensors, size: all } : null;
  }

  look(row: number, sample: number, size?: number): boolean {
    const law = this.laws(row);
    const action = law && this.actionOf(row, sample, law.width);
    if (!(law instanceof ChoicesLaw) || !action) return false;
    const { logps, begins } = law;
    if (size !== undefined && size !== logps.length) return false;
    this.room(logps.length);
    for (let d = 0; d < law.width; d++) {
      const entropy = law.entropy(d);
      for (let i = begins[d]; i < begins[d + 1]; i++) {
        const p = Math.exp(logps[i]);
        if (!Number.isFinite(p)) return false;
        this.ids[i] = i;
        this.towards[i] = (i - begins[d] === action[d] ? 1 : 0) - p;
        this.entropy[i] = p > 0 ? -p * (logps[i] + entropy) : 0;
      }
    }
    return true;
  }
}

/** First concentrations of all dimensions, then second ones. */
class Concentrations extends Outputs {
  constructor(
    private readonly laws: (row: number) => Law | null,
    private readonly actionOf: ActionOf,
    private readonly slope: (concentration: number) => number,
  ) {
    super();
  }

  witness(run: Run, policy: number): Witness | null {
    const width = this.laws(0)!.width;
    const heads = biases(run, policy);
    const both = heads.filter(({ size }) => size === 2 * width).at(-1);
    const halves = heads.filter(({ size }) => size === width);
    const tensors = both ? [both.tensor] : halves.length === 2 ? halves.map(({ tensor }) => tensor) : null;
    return tensors ? { tensors, size: 2 * width } : null;
  }

  look(row: number, sample: number, size?: number): boolean {
    const law = this.laws(row);
    const action = law && this.actionOf(row, sample, law.width);
    if (!(law instanceof BetaLaw) || !action || (size !== undefined && size !== 2 * law.width)) return false;
    this.room(2 * law.width);
    for (let d = 0; d < law.width; d++) {
      const own = law.concentrations(d);
      const both = own[0] + own[1];
      for (const side of [0, 1] as const) {
        const at = d + side * law.width;
        const c = own[side];
        const outer = this.slope(c);
        const log = side === 0 ? Math.log(action[d]) : Math.log1p(-action[d]);
        this.ids[at] = at;
        this.towards[at] = outer * (log - digamma(c) + digamma(both));
        this.entropy[at] = outer * ((1 - c) * trigamma(c) + (both - 2) * trigamma(both));
        if (!Number.isFinite(this.towards[at])) return false;
      }
    }
    return true;
  }
}

/** Means first, then logarithms of deviations. Squashing an action changes neither gradient, because the action stays what it was. */
class Gaussian extends Outputs {
  private readonly spoken: Numbers | null;
  private readonly fresh: Numbers;
  private readonly used: boolean;

  constructor(
    iteration: Iteration,
    private readonly laws: (row: number) => Law | null,
    private readonly actionOf: ActionOf,
    private readonly part: (typeof parts)[number],
  ) {
    super();
    this.spoken = iteration.replays!.column('entropy');
    this.fresh = iteration.replays!.measured('new_logp')!;
    this.used = iteration.run.number('entropy_coefficient') !== 0;
  }

  witness(run: Run, policy: number): Witness | null {
    const width = this.laws(0)!.width;
    const own = run.tensors
      .map((info, tensor) => ({ ...info, tensor }))
      .filter((info) => info.policy === policy && info.role !== 'critic');
    const isDeviation = (name: string) => /log_?(std|sigma|scale|dev)/i.test(name);
    const deviation = own.find(({ name, size }) => isDeviation(name) && !/weight/i.test(name) && size === width);
    const heads = biases(run, policy).filter(({ name }) => !isDeviation(name));
    const mean =
      heads.filter(({ size }) => size === width).at(-1) ??
      own.find(({ name, size }) => /(mean|mu)\w*\.bias/i.test(name) && size === width);
    const both = heads.filter(({ size }) => size === 2 * width).at(-1);
    const all = both && !mean ? [both] : mean && deviation ? [mean, deviation] : null;
    const wanted = this.part === 'all' ? all : this.part === 'mean' ? mean && [mean] : deviation && [deviation];
    if (!wanted || width === 0) return null;
    return { tensors: wanted.map(({ tensor }) => tensor), size: this.part === 'all' ? 2 * width : width };
  }

  look(row: number, sample: number, size?: number): boolean {
    const law = this.laws(row);
    const action = law && this.actionOf(row, sample, law.width);
    if (!(law instanceof GaussianLaw) || !action) return false;
    const { mean, logStd } = law;
    const count = (this.part === 'all' ? 2 : 1) * mean.length;
    if (size !== undefined && size !== count) return false;
    const bonus = this.bonus(row, law);
    if (!bonus) return false;
    const [shared, sampled] = bonus;
    this.room(count);
    let at = 0;
    const put = (towards: number, entropy: number) => {
      this.ids[at] = at;
      this.towards[at] = towards;
      this.entropy[at++] = entropy - sampled * towards;
    };
    const z = (d: number) => (action[d] - mean[d]) / Math.exp(logStd[d]);
    if (this.part !== 'deviation') for (let d = 0; d < mean.length; d++) put(z(d) / Math.exp(logStd[d]), 0);
    if (this.part !== 'mean') for (let d = 0; d < mean.length; d++) put(z(d) ** 2 - 1, shared);
    return this.towards.subarray(0, count).every(Number.isFinite);
  }

  /** What the entropy in the loss gains by the logarithm of each deviation, and how much of it is minus the log-probability; null where it is neither a sum or mean over dimensions nor that. */
  private bonus(row: number, law: GaussianLaw): [shared: number, sampled: number] | null {
    const said = this.spoken?.[row] ?? Number.NaN;
    if (!this.used || Number.isNaN(said)) return [1, 0];
    const is = (value: number) => Math.abs(said - value) <= limits.steadyEntropy.value * (1 + Math.abs(value));
    if (is(entropyOf('sum', 'own', law))) return [1, 0];
    if (is(entropyOf('mean', 'own', law))) return [1 / law.width, 0];
    return is(-this.fresh[row]) ? [0, 1] : null;
  }
}
