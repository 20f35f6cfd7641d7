/** Mean and spread of the advantages that entered the loss. Without declared normalisation only a constant, or a scale far from 1, is a fault. */

import { Pairs, spread } from '../../../math/statistics.ts';
import { type Check, confidence, fewestRows, type Pass } from '../../check.ts';
import { conventionRemark } from '../../conventions.ts';
import { type Finding, figure, type Outcome, type Remark } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { withAgent } from '../../evidence/keys.ts';
import { gather } from '../../evidence/rows.ts';
import type { Run } from '../../evidence/run.ts';
import { merge, ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { cellsOf } from '../../pairing/consensus.ts';
import { Constant } from '../../transforms/credit/constant.ts';
import { Raw } from '../../transforms/rows/raw.ts';
import type { Transform } from '../../transforms/transform.ts';
import { centred, formText, type OddForm, oddForm, oneSign } from './normaliser-form.ts';

export const normalisation: Check = {
  id: 'normalisation',
  group: 'credit',
  question: ['Do advantages in the loss have a sane mean and spread?', '损失中的优势均值与标准差合理吗？'],
  needs: [['replays.advantage']],
  causes: ['advantage-degenerate', 'advantage-not-normalised'],
  start: (run) => new NormalisationPass(run),
};

/** How far the mean may be from 0 and the spread from 1 where normalisation is declared. */
const meanSlack = limits.normalisedMean.value;
const stdSlack = limits.normalisedSpread.value;
const centredMean = limits.centredMean.value;
/** Without normalisation: rewards and advantages beyond these are not of unit scale, and the step follows theirs. */
const widest = limits.widest.value;
const narrowest = limits.narrowest.value;

/** Credit that is spread less than this is divided by the normaliser's own epsilon as well. */
const epsilon = limits.normaliserEpsilon.value;

const beyond = (size: number) => size > widest || size < narrowest;

interface Policy {
  updates: number;
  rows: number;
  constant: number;
  oneSided: number;
  unnormalised: number;
  wild: number;
  odd: number;
  form: OddForm | null;
  /** Updates of unusual scale that the program means: it declares to keep the scale, or takes the mean away and nothing else. */
  meant: number;
  onset: Record<Kind, number>;
  latest: { mean: number; std: number };
  proofs: Record<Kind, ProofStore>;
}

type Kind = 'constant' | 'oneSided' | 'unnormalised' | 'wild' | 'odd';

class NormalisationPass implements Pass {
  private readonly policies = new Map<number, Policy>();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { replays, samples } = iteration;
    const used = replays?.column('advantage');
    if (!replays || !used || iteration.probed) return;
    const weight = replays.column('weight');
    const policy = replays.column('policy');
    const sample = replays.column('sample')!;
    const epoch = replays.column('epoch')!;
    const minibatch = replays.column('minibatch')!;
    const agent = samples?.column('agent');
    const found = new Int32Array(replays.rows);
    let count = 0;
    for (let i = 0; i < found.length; i++)
      if (epoch[i] === 0 && !(weight && weight[i] === 0) && Number.isFinite(used[i])) found[count++] = i;
    const who = (row: number) => (agent && sample[row] < agent.length ? agent[sample[row]] : 0);
    const levels = [
      () => 0,
      who,
      (row: number) => minibatch[row],
      (row: number) => withAgent(minibatch[row], who(row)),
    ];
    for (const list of cellsOf(found.subarray(0, count), (row) => (policy ? policy[row] : 0), fewestRows).lists) {
      const own = this.of(policy ? policy[list[0]] : 0);
      const values = gather(used, list);
      const whole = spread(values);
      own.updates++;
      own.rows += list.length;
      own.latest = whole;
      const note = (kind: Kind) => {
        own[kind]++;
        own.onset[kind] = Math.min(own.onset[kind], iteration.number);
        const column = samples?.column('advantage');
        const raw = column ? gather(column, gather(sample, list)) : undefined;
        const centred = values.map((value) => (value - whole.mean) / (whole.std || 1));
        if (kind !== 'constant') own.proofs[kind].rows(iteration.number, values, centred, raw);
        else if (raw) own.proofs[kind].rows(iteration.number, values, raw, values);
      };
      if (whole.std <= limits.rounding.value * Math.max(limits.smallScale.value, Math.abs(whole.mean))) {
        // Each agent's credit may have been normalised by itself.
        const cells = cellsOf(list, who, 1).lists.map((cell) => cell.map((row) => sample[row]));
        if (cells.some((rowsOf) => this.varies(iteration, rowsOf))) note('constant');
      } else if (Math.abs(whole.mean) > limits.oneSided.value * whole.std && this.declared && oneSign(used, list))
        note('oneSided');
      else if (this.form(iteration, own, used, list, levels)) note('odd');
      else if (!this.declared) {
        if (!beyond(whole.std) || !this.rewardsBeyond(iteration)) continue;
        if (this.keeps || this.shifted(iteration, values, list) || levels.some((level) => centred(used, list, level)))
          own.meant++;
        else note('wild');
      } else {
        const inside = (key: (row: number) => number) => {
          const cells = cellsOf(list, key, limits.cellRows.value).lists.map((cell) => spread(gather(used, cell)));
          const right = cells.filter(
            ({ mean, std }) =>
              Math.abs(mean) <= meanSlack && (Math.abs(std - 1) <= stdSlack || std < limits.rounding.value),
          );
          return cells.length > 0 && right.length >= limits.most.value * cells.length;
        };
        const roughly =
          Math.abs(whole.mean) < limits.roughlyMean.value * meanSlack &&
          Math.abs(whole.std - 1) < limits.roughlySpread.value * stdSlack;
        if (roughly || list.length / Math.max(1, cellsOf(list, levels[2], 1).lists.length) < limits.minibatchRows.value)
          continue;
        const far = Math.abs(whole.mean) > 1 || Math.abs(Math.log(whole.std)) > Math.log(limits.unnormalised.value);
        if (levels.some(inside)) continue;
        const samplesOf = list.map((row) => sample[row]);
        const scaled = this.followsScale(iteration, used, list, levels);
        if (!far && !scaled && !this.isRaw(iteration, values, whole.mean, samplesOf)) continue;
        // A critic that foresees everything leaves no credit to normalise.
        if ((this.credit(iteration, samplesOf)?.std ?? Number.POSITIVE_INFINITY) > epsilon) note('unnormalised');
      }
    }
  }

  private form(
    iteration: Iteration,
    own: Policy,
    used: ArrayLike<number>,
    list: Int32Array,
    levels: readonly ((row: number) => number)[],
  ): boolean {
    const column = iteration.samples?.column('advantage');
    const sample = iteration.replays!.column('sample')!;
    const found = column ? oddForm(used, (row) => column[sample[row]], list, levels) : null;
    own.form = found ?? own.form;
    return found !== null;
  }

  /** Whether the rewards themselves, where there are any, are far from unit scale. */
  private rewardsBeyond(iteration: Iteration): boolean {
    const reward = iteration.samples?.column('reward');
    if (!reward) return true;
    let [squares, count] = [0, 0];
    for (let i = 0; i < reward.length; i++) {
      if (reward[i] === 0 || Number.isNaN(reward[i])) continue;
      squares += reward[i] ** 2;
      count++;
    }
    return count > 0 && beyond(Math.sqrt(squares / count));
  }

  /** Whether the loss got the advantages at the scale at which they were computed. */
  private isRaw(iteration: Iteration, used: Float64Array, mine: number, samplesOf: Int32Array): boolean {
    const column = iteration.samples?.column('advantage');
    if (!column) return true;
    // Taking the mean away is not what keeps the step from following the scale.
    const raw = gather(column, samplesOf);
    const theirs = spread(raw).mean;
    let same = 0;
    for (let i = 0; i < used.length; i++) {
      const value = used[i] - mine;
      if (Math.abs(value - (raw[i] - theirs)) <= limits.rawCredit.value * (1 + Math.abs(value))) same++;
    }
    return same >= limits.nearlyAll.value * used.length;
  }

  /** Whether the loss got the advantages at their own scale with one number taken away from all of them. */
  private shifted(iteration: Iteration, used: Float64Array, list: Int32Array): boolean {
    const column = iteration.samples?.column('advantage');
    if (!column) return false;
    const sample = iteration.replays!.column('sample')!;
    const line = new Pairs();
    for (let i = 0; i < used.length; i++) line.add(column[sample[list[i]]], used[i]);
    const { slope, intercept, spreadY, correlation } = line;
    return (
      correlation ** 2 > 1 - limits.rounding.value &&
      Math.abs(slope - 1) < limits.formulaSame.value &&
      Math.abs(intercept) > centredMean * spreadY
    );
  }

  /** Whether the spread in the loss grows with that of the rows' own credit: normalised advantages are of one spread in every cell, however the credit is spread there. */
  private followsScale(
    iteration: Iteration,
    used: ArrayLike<number>,
    list: Int32Array,
    levels: readonly ((row: number) => number)[],
  ): boolean {
    const column = iteration.samples?.column('advantage');
    if (!column) return false;
    const sample = iteration.replays!.column('sample')!;
    return levels.slice(1).some((level) => {
      const cells = cellsOf(list, level, fewestRows).lists;
      const pairs = new Pairs();
      for (const cell of cells) {
        const own = spread(gather(column, gather(sample, cell))).std;
        const there = spread(gather(used, cell)).std;
        if (own > epsilon && there > epsilon) pairs.add(Math.log(own), Math.log(there));
      }
      return (
        pairs.count >= limits.fewestSteps.value &&
        pairs.spreadX > limits.scaleSpread.value &&
        pairs.correlation > limits.scaleFollowed.value &&
        pairs.slope > limits.most.value
      );
    });
  }

  /** Whether the rows' own credit differs; where nothing could be earned, equal advantages are right. */
  private varies(iteration: Iteration, rows: Int32Array): boolean {
    const credit = this.credit(iteration, rows);
    return !credit || credit.std > limits.equalCredit.value * Math.max(limits.smallScale.value, Math.abs(credit.mean));
  }

  /** Mean and spread of the rows' own credit, or null where nothing tells it. */
  private credit(iteration: Iteration, rows: Int32Array) {
    const { samples } = iteration;
    const gamma = this.run.number('gamma');
    const lambda = this.run.number('lambda');
    const known = iteration.credit && Number.isFinite(gamma + lambda);
    const truth = known
      ? iteration.advantages('asRecorded', { gamma, lambda })
      : (samples?.column('advantage') ?? samples?.column('reward'));
    return truth ? spread(gather(truth, rows)) : null;
  }

  private of(policy: number): Policy {
    const never = Number.POSITIVE_INFINITY;
    const own = this.policies.get(policy) ?? {
      updates: 0,
      rows: 0,
      constant: 0,
      oneSided: 0,
      unnormalised: 0,
      wild: 0,
      odd: 0,
      form: null,
      meant: 0,
      onset: { constant: never, oneSided: never, unnormalised: never, wild: never, odd: never },
      latest: { mean: Number.NaN, std: Number.NaN },
      proofs: {
        constant: new ProofStore(),
        oneSided: new ProofStore(),
        unnormalised: new ProofStore(),
        wild: new ProofStore(),
        odd: new ProofStore(),
      },
    };
    this.policies.set(policy, own);
    return own;
  }

  /** Whether the run says that it normalises. */
  private get declared(): boolean {
    return this.run.text('advantage_normalisation') !== null && !this.keeps;
  }

  /** Whether the run says that it keeps the scale of its advantages; centred ones have the mean taken away and keep their spread. */
  private get keeps(): boolean {
    return ['none', 'off', 'centred'].includes(this.run.text('advantage_normalisation') ?? '');
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = {};
    const expected: Outcome['expected'] = this.declared
      ? { mean: 0, spread: 1 }
      : { spread: `${narrowest} to ${widest}` };
    const findings: Finding[] = [];
    const remarks: Remark[] = [];
    for (const [policy, own] of this.policies) {
      const name = this.run.policies[policy] ?? `policy ${policy}`;
      measured[`${name}.mean`] = figure(own.latest.mean);
      measured[`${name}.spread`] = figure(own.latest.std);
      findings.push(...this.policy(policy, own));
      if (own.meant > limits.most.value * own.updates && remarks.length === 0) {
        const summary = `Advantages enter the loss with a spread of ${figure(own.latest.std)}, as the program means it (${this.keeps ? 'it declares that it keeps their scale' : 'it takes their mean away and nothing else'}).`;
        remarks.push(conventionRemark('advantages-keep-their-scale', summary));
      }
    }
    for (const finding of findings) finding.evidence = [{ check: 'normalisation', measured, expected }];
    if (this.policies.size === 0) return { status: 'not-checked', measured, expected, findings: [] };
    return { status: findings.length > 0 ? 'fail' : 'pass', measured, expected, findings: merge(findings), remarks };
  }

  private policy(policy: number, own: Policy): Finding[] {
    const findings: Finding[] = [];
    const { mean, std } = own.latest;
    const most = (kind: Kind) =>
      own[kind] > 0 && (own[kind] >= limits.most.value * own.updates || (own.onset[kind] > 0 && own[kind] >= 2));
    const add = (cause: string, kind: Kind, transform: Transform | undefined, summary: string, sure = 1) => {
      const quantity = 'advantage in the loss';
      const proof = own.proofs[kind].prove(quantity, quantity, 'as it should be', transform);
      const undone = { ...proof, ...(transform && proof.after !== undefined ? { transform } : {}) };
      findings.push({
        cause,
        confidence: Math.min(sure, confidence(1, (own.rows * own[kind]) / own.updates)),
        agents: this.run.agentsOf(policy),
        onset: own.onset[kind],
        rows: Math.round((own.rows * own[kind]) / own.updates),
        ...undone,
        summary,
        evidence: [],
      });
    };
    if (most('constant'))
      add(
        'advantage-degenerate',
        'constant',
        new Constant(),
        'All advantages of an update are the same number: nothing tells a good action from a bad one.',
      );
    else if (most('oneSided'))
      add(
        'advantage-degenerate',
        'oneSided',
        undefined,
        `Advantages in the loss are all of one sign (mean ${figure(mean)}, spread ${figure(std)}).`,
      );
    if (most('odd')) add('advantage-not-normalised', 'odd', undefined, formText(own.form!));
    else if (most('unnormalised'))
      add(
        'advantage-not-normalised',
        'unnormalised',
        new Raw(),
        `Normalisation is declared, but advantages enter the loss with mean ${figure(mean)} and spread ${figure(std)}.`,
      );
    else if (own.wild >= limits.most.value * own.updates && own.wild > 0)
      add(
        'advantage-not-normalised',
        'wild',
        new Raw(),
        `Advantages enter the loss with a spread of ${figure(std)}: the step follows the scale of the rewards.`,
        limits.byScale.value,
      );
    return findings;
  }
}
