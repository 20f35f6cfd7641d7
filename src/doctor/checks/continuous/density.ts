/** Are log-probabilities of continuous actions what mean, deviation and action give? Two passes that compute them by different formulas are told apart by the formula that gives each of them exactly. What is wrong on both sides alike cancels in the ratio, and is named only where it does not. */
import { told } from '../../../language/language.ts';
import { budgets } from '../../budgets.ts';
import { absurdLogp, type Check, confidence, fewestRows, logpTolerance, noticedShare, type Pass } from '../../check.ts';
import { alike } from '../../continuous/alike.ts';
import { behind } from '../../continuous/behind.ts';
import { Bounds } from '../../continuous/bounds.ts';
import { type Form, type Given, givenBy, logpOf, type Row } from '../../continuous/density.ts';
import { causeOf, crossed, difference, fitted, formsFor, oddness, type Scoring } from '../../continuous/forms.ts';
import { OtherInputs } from '../../continuous/inputs.ts';
import { familyOf, lawsOf, vector } from '../../continuous/laws.ts';
import { Noise } from '../../continuous/noise.ts';
import { type PartsRow, partsRow, toldByParts } from '../../continuous/parts.ts';
import { type Pointed, pointed } from '../../continuous/pointed.ts';
import { unfitted } from '../../continuous/unfitted.ts';
import { type Finding, figure, type Outcome, percent } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { proved } from '../../found.ts';
import { limits } from '../../limits.ts';
import { ScoredAs } from '../../transforms/continuous/scored-as.ts';

const check = 'density';

export const density: Check = {
  id: check,
  group: 'replay',
  question: [
    'Are log-probabilities of continuous actions what mean, deviation and action give, in both passes?',
    '两次前向中，连续动作的对数概率是否由均值、标准差和动作给出？',
  ],
  needs: [
    ['samples.action_values', 'replays.action_values', 'samples.logp_parts', 'replays.logp_parts'],
    ['samples.old_logp'],
    ['replays.new_logp'],
  ],
  causes: [
    'squash-correction-wrong',
    'clipped-action-stored',
    'dimensions-reduced-wrong',
    'deviation-scale-wrong',
    'inputs-differ',
    'stale-samples',
    'old-logp-wrong',
  ],
  of: 'continuous',
  start: () => new DensityPass(),
};

type Base = Pick<Finding, 'confidence' | 'agents' | 'onset' | 'rows' | 'evidence' | 'told'>;

class DensityPass implements Pass {
  private readonly rows: Scoring[] = [];
  private readonly parts: (PartsRow & { differs: boolean })[] = [];
  private how: Given | null = null;
  private known = false;
  private looked = 0;
  private disagreeing = 0;
  private readonly bounds = new Bounds();
  /** Disagreeing rows with a dimension at a bound, those without; and rows that agree without. */
  private readonly counts = { wrong: 0, wrongInside: 0, rightInside: 0 };
  private readonly noise = new Noise();
  private readonly inputs = new OtherInputs();
  private other = '';
  private points: Pointed | null = null;

  iteration(iteration: Iteration): void {
    const { samples, replays, chains } = iteration;
    if (!samples || iteration.probed) return;
    const family = familyOf(samples);
    if (typeof family !== 'string') {
      this.other = family.unknown;
      return;
    }
    if (family === 'gaussian') this.noise.iteration(iteration);
    if (!replays) return;
    const [raw, given, raw2] = [
      samples.list('action_values'),
      samples.list('env_action'),
      replays.list('action_values'),
    ];
    const [sampledLaw, updatedLaw] = [lawsOf(samples, family), lawsOf(replays, family)];
    if (!this.known && raw) {
      const stride = Math.max(1, Math.floor(samples.rows / budgets.fitRows));
      this.how = givenBy(
        samples,
        Array.from({ length: Math.floor(samples.rows / stride) }, (_, i) => i * stride),
      );
      this.known = true;
    }
    const [fresh, stored, used] = [
      replays.measured('new_logp')!,
      samples.measured('old_logp')!,
      replays.column('old_logp'),
    ];
    const [sample, agent] = [replays.column('sample')!, samples.column('agent')!];
    // Choices are few, and each of them is met again and again.
    if (raw && family !== 'categoricals') this.bounds.see(raw);
    for (const i of iteration.first) {
      const s = sample[i];
      const old = used && !Number.isNaN(used[i]) ? used[i] : stored[s];
      if (!(Math.abs(old) < absurdLogp) || !(Math.abs(fresh[i]) < absurdLogp)) continue;
      const differs = Math.abs(fresh[i] - old) > Math.max(logpTolerance, limits.density.value * Math.abs(old));
      this.looked++;
      if (differs) this.disagreeing++;
      const inside = !raw || !this.bounds.holds(raw, s);
      if (differs) this.counts[inside ? 'wrongInside' : 'wrong']++;
      else if (inside) this.counts.rightInside++;
      if (this.rows.length >= budgets.coverRows || this.parts.length >= budgets.coverRows) continue;
      const parts = partsRow(iteration, i, s, old);
      if (parts) this.parts.push({ ...parts, differs });
      const action = raw ? vector(raw, s) : vector(raw2, i);
      const width = action?.length;
      const [first, second] = [sampledLaw(s), updatedLaw(i)];
      const law = first ?? second;
      if (!action || !law || law.width !== width) continue;
      const sampled: Row = { action, given: vector(given, s, width), law };
      const updated: Row = {
        action: vector(raw2, i, width) ?? action,
        given: sampled.given,
        law: second ?? law,
      };
      const own = {
        sampled: first !== null,
        updated: second !== null,
        old: Math.abs(old - stored[s]) <= logpTolerance,
      };
      const row = {
        iteration: iteration.number,
        agent: agent[s],
        sampled,
        updated,
        old,
        fresh: fresh[i],
        differs,
        own,
      };
      this.rows.push(row);
      const [before, after] = chains ? [chains.previous[s], chains.next[s]] : [-1, -1];
      this.inputs.add(row, before >= 0 ? sampledLaw(before) : null, after >= 0 ? sampledLaw(after) : null);
    }
  }

  finish(): Outcome {
    const share = this.disagreeing / Math.max(1, this.looked);
    const measured: Outcome['measured'] = {
      rows: this.looked,
      disagreeing: this.disagreeing,
      share: figure(share),
      ...(this.how ? { given: this.how.how } : {}),
      ...this.noise.measured(),
    };
    const expected = { share: 0, squared_noise: 1 };
    const silent = (note: string): Outcome => ({ status: 'not-checked', measured, expected, findings: [], note });
    if (this.other !== '')
      return silent(
        told(`actions of the distribution ${this.other} are not recomputed`, `不重新计算分布 ${this.other} 的动作`),
      );
    if (this.looked < fewestRows)
      return silent(told('no replay of a continuous action precedes the first step', '第一步之前没有连续动作的重放'));
    const findings = this.findings(share, [{ check, measured, expected }]);
    if (findings.length > 0) {
      const points = this.points ? { points: this.points } : {};
      return { status: 'fail', measured, expected, findings, ...points };
    }
    // What disagrees for another reason is the replay check's to tell.
    const note =
      this.rows.length === 0 && this.parts.length === 0
        ? told(
            'needs samples.mean and samples.log_std, or samples.logp_parts and replays.logp_parts, for more',
            '更多检查需要 samples.mean 和 samples.log_std，或 samples.logp_parts 和 replays.logp_parts',
          )
        : null;
    const points = this.points ? { points: this.points } : {};
    return { status: 'pass', measured, expected, findings: [], ...points, ...(note ? { note } : {}) };
  }

  private findings(share: number, evidence: Finding['evidence']): Finding[] {
    const differing = this.rows.filter(({ differs }) => differs);
    const split = share >= noticedShare && this.disagreeing >= fewestRows;
    const rows = split ? differing : this.rows;
    const base: Base = {
      confidence: confidence(1, split ? this.disagreeing : rows.length),
      agents: [...new Set(rows.map(({ agent }) => agent))].sort((a, b) => a - b),
      onset: rows[0]?.iteration ?? 0,
      rows: split ? this.disagreeing : rows.length,
      evidence,
      told: true,
    };
    const few = rows.filter((_, i) => i % Math.max(1, Math.floor(rows.length / budgets.fitRows)) === 0);
    const forms =
      few.length >= fewestRows ? formsFor(few[0].sampled.action.length, this.how, few[0].sampled.law.family) : [];
    const [old, fresh] = [fitted(forms, few, 'old', this.how), fitted(forms, few, 'new', this.how)];
    if (rows.length === 0) return this.byParts(split, share, base);
    if (split) this.points = pointed(rows, [old, fresh], this.how, this.rows[0].iteration);
    if (split && old && fresh && causeOf(difference(old, fresh)) === null) {
      // Each pass is right by its own law: the update's may be a form of the one that acting drew from.
      const form = fitted(forms, crossed(few), 'new', this.how);
      return form
        ? this.apart(old, form, crossed(rows), share, base)
        : [behind(this.rows, share, base) ?? this.inputs.finding(old, this.how, share, base)];
    }
    if (split) return this.apart(old, fresh, rows, share, base);
    return old && fresh ? alike(old, fresh, rows, { how: this.how, noise: this.noise }, base) : [];
  }

  /** Without means and deviations, the log-probabilities of single dimensions tell. */
  private byParts(split: boolean, share: number, base: Base): Finding[] {
    const rows = this.parts.filter(({ differs }) => differs || !split);
    const found = toldByParts(rows, split);
    const cause = found && causeOf(found.form);
    if (!found || !cause) return [];
    const transform = new ScoredAs(found.side, found.form, this.how?.how);
    const whose = {
      old: told('acting', '行动时'),
      new: told('the update', '更新时'),
      both: told('both passes', '两次前向'),
    };
    return [
      {
        ...base,
        rows: split ? this.disagreeing : rows.length,
        confidence: confidence(1, rows.length),
        agents: [...new Set(rows.map(({ agent }) => agent))].sort((a, b) => a - b),
        onset: rows[0].iteration,
        ...proved({
          quantity: 'log-probability',
          labels: {
            target: 'as recorded',
            before: told('by the usual formula', '按通常的公式'),
            after: transform.describe(),
          },
          iteration: rows[0].iteration,
          point: 'row',
          target: Float64Array.from(rows, ({ old, fresh }) => (found.side === 'new' ? fresh : old)),
          before: Float64Array.from(rows, found.usual),
          after: Float64Array.from(rows, found.given),
        }),
        cause,
        transform,
        summary: told(
          `The log-probabilities of single dimensions show another formula in ${whose[found.side]}: ${transform.describe()}. Before the first step ${percent(share)} of the rows disagree.`,
          `各维的对数概率表明${whose[found.side]}用了另一个公式：${transform.describe()}。第一步之前 ${percent(share)} 的行不一致。`,
        ),
      },
    ];
  }

  /** The two passes disagree. */
  private apart(old: Form | null, fresh: Form | null, rows: readonly Scoring[], share: number, base: Base): Finding[] {
    if (!old || !fresh) {
      const clipped = this.clippedUnseen(old, fresh, rows);
      if (clipped) return [{ ...base, ...clipped }];
      const inside = this.counts.wrongInside / Math.max(1, this.disagreeing);
      return unfitted(rows, [old, fresh], { how: this.how, share, inside }, base);
    }
    const parts = difference(old, fresh);
    const cause = causeOf(parts);
    if (!cause) return [];
    // The odd side is the one that departs from the usual formula, and of two that squash the one that forgets something.
    const oldIsOdd = oddness(old) > oddness(fresh);
    const [odd, right] = oldIsOdd ? [old, fresh] : [fresh, old];
    const transform = new ScoredAs(oldIsOdd ? 'old' : 'new', difference(right, odd), this.how?.how);
    const proof = this.proof(rows, oldIsOdd, transform, odd);
    const side = oldIsOdd ? told('acting', '行动时') : told('the update', '更新时');
    return [
      {
        ...base,
        ...proof,
        cause,
        transform,
        summary: told(
          `Before the first step ${percent(share)} of the rows have another log-probability in the update than when they were sampled, because ${side} computes it by another formula: ${transform.describe()}.`,
          `第一步之前，${percent(share)} 的行在更新中的对数概率与采样时不同，因为${side}用了另一个公式：${transform.describe()}。`,
        ),
      },
    ];
  }

  /** The log-probabilities of the odd pass beside those of the other, and by the formula that gives them. */
  private proof(rows: readonly Scoring[], oldIsOdd: boolean, transform: ScoredAs, odd: Form | null) {
    const labels = ['old_logp, as stored', 'new_logp before the first step'];
    if (!oldIsOdd) labels.reverse();
    return proved({
      quantity: 'log-probability',
      labels: { target: labels[0], before: labels[1], after: transform.describe() },
      iteration: rows[0]?.iteration ?? 0,
      point: 'row',
      target: Float64Array.from(rows, ({ old, fresh }) => (oldIsOdd ? old : fresh)),
      before: Float64Array.from(rows, ({ old, fresh }) => (oldIsOdd ? fresh : old)),
      after: Float64Array.from(rows, ({ sampled, updated }) =>
        odd ? logpOf(odd, oldIsOdd ? sampled : updated, this.how)[0] : Number.NaN,
      ),
    });
  }

  /** Only one pass is what the recorded action gives, and rows disagree only where an action lies at a bound: the other pass had the action before it was clipped. */
  private clippedUnseen(
    old: Form | null,
    fresh: Form | null,
    rows: readonly Scoring[],
  ): Pick<Finding, 'cause' | 'transform' | 'summary'> | null {
    const { wrong, wrongInside, rightInside } = this.counts;
    if (wrong < fewestRows || wrongInside > (1 - limits.formShare.value) * wrong || rightInside < fewestRows)
      return null;
    const oldIsOdd = old !== null && fresh === null;
    const transform = new ScoredAs(oldIsOdd ? 'old' : 'new', { action: 'given' });
    return {
      ...this.proof(rows, oldIsOdd, transform, oldIsOdd ? old : fresh),
      cause: 'clipped-action-stored',
      transform,
      summary: told(
        `Before the first step the two passes disagree on ${wrong} rows whose action lies at a bound, and on ${wrongInside} others: one of them scored the action as it was drawn, the other the clipped one.`,
        `第一步之前，两次前向在 ${wrong} 个动作处于边界的行上不一致，其余仅 ${wrongInside} 行：一次对采样的原始动作打分，另一次对裁剪后的动作打分。`,
      ),
    };
  }
}
