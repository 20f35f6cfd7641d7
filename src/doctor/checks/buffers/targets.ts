/** Are targets what the stored rewards, ends and bootstraps give? Rows that are not are explained by the formula that gives them and all others too. */
import { told } from '../../../language/language.ts';
import { budgets } from '../../budgets.ts';
import { type Bootstrap, bootstrapOf, healthyBootstraps, otherBootstraps } from '../../buffers/bootstraps.ts';
import { fitTarget, termsOf } from '../../buffers/target-fit.ts';
import { type Stored, type TargetForm, targetForms, targetOf, usual } from '../../buffers/target-forms.ts';
import { type Check, confidence, fewestRows, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome, percent } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Lists } from '../../evidence/rows.ts';
import type { Run } from '../../evidence/run.ts';
import { proved } from '../../found.ts';
import { limits } from '../../limits.ts';
import { type TargetParts, TargetWith } from '../../transforms/buffers/target-with.ts';

const check = 'targets';

export const targets: Check = {
  id: check,
  group: 'credit',
  question: ['Are targets what stored rewards, ends and bootstraps give?', '目标是否由所存的奖励、结束和自举值给出？'],
  needs: [['targets.target'], ['targets.rewards'], ['targets.bootstrap', 'targets.next_values']],
  causes: [
    'target-crosses-end',
    'truncation-treated-as-termination',
    'n-step-off-by-one',
    'entropy-temperature-sign',
    'target-network-unused',
    'credit-formula-differs',
    'critic-context-misaligned',
  ],
  of: 'targets',
  start: (run) => new TargetsPass(run),
};

type Row = Stored & {
  target: number;
  iteration: number;
  /** The bootstrap as the program had it, and what the networks give. */
  own: number;
  values: Lists | null;
  online: Lists | null;
  at: number;
};

class TargetsPass implements Pass {
  private readonly rows: Row[] = [];
  private looked = 0;

  constructor(private readonly run: Run) {}

  iteration({ targets: table, number }: Iteration): void {
    const [target, bootstrap] = [table?.column('target'), table?.column('bootstrap')];
    const [rewards, values, online] = ['rewards', 'next_values', 'next_online'].map(
      (name) => table?.list(name) ?? null,
    );
    if (!table || !target || !(bootstrap || values) || !rewards) return;
    const [terminated, truncated] = [table.list('terminated'), table.list('truncated')];
    const [n, discount, logp, temperature] = ['n', 'discount', 'next_logp', 'temperature'].map((name) =>
      table.column(name),
    );
    const declared = this.run.number('gamma');
    // Declared so, a time limit is an end like any other.
    const alike = this.run.setting('truncation_bootstraps') === false;
    const none = new Uint8Array(rewards.values.length);
    const aligned = (lists: typeof terminated) =>
      lists?.values.length === rewards.values.length ? lists.values : none;
    const [ended, cut] = [aligned(terminated), aligned(truncated)];
    for (let i = 0; i < table.rows && this.rows.length < budgets.coverRows; i++) {
      const from = rewards.offsets[i];
      const gamma = discount && !Number.isNaN(discount[i]) ? discount[i] : declared;
      const own = bootstrap?.[i] ?? Number.NaN;
      if (!Number.isFinite(target[i]) || !(values || Number.isFinite(own)) || Number.isNaN(gamma)) continue;
      this.looked++;
      this.rows.push({
        rewards: rewards.values,
        terminated: alike ? either(ended, cut) : ended,
        truncated: alike ? none : cut,
        from,
        length: rewards.offsets[i + 1] - from,
        n: n && n[i] > 0 ? n[i] : 1,
        gamma,
        bootstrap: own,
        own,
        values,
        online,
        at: i,
        soft: logp && temperature ? logp[i] * temperature[i] : 0,
        target: target[i],
        iteration: number,
      });
    }
  }

  finish(): Outcome {
    // A network that values choices is asked for the best of them.
    const declared =
      this.run.text('bootstrap') ?? (/dqn|rainbow/i.test(this.run.manifest.algorithm ?? '') ? 'max' : null);
    const asked = this.rows.some(({ values }) => values !== null);
    const healthy: (Bootstrap | null)[] = asked ? healthyBootstraps(declared) : [null];
    // Of several healthy ways the program's own is the one that gives most targets.
    const [{ rows, wrong }] = healthy
      .map((way) => {
        const own = bootstrapped(this.rows, way);
        return { rows: own, wrong: own.filter((row) => off(usual, row)) };
      })
      .sort((a, b) => a.wrong.length - b.wrong.length);
    const measured: Outcome['measured'] = {
      rows: this.looked,
      disagreeing: wrong.length,
      share: figure(wrong.length / Math.max(1, rows.length)),
    };
    const expected = { share: 0 };
    if (rows.length === 0) return { status: 'not-checked', measured, expected, findings: [] };
    if (wrong.length < Math.max(fewestRows, limits.targetShare.value * rows.length))
      return { status: 'pass', measured, expected, findings: [] };
    const forms = targetForms(
      rows.some(({ n }) => n > 1),
      rows.some(({ soft }) => soft !== 0),
    );
    const few = (list: readonly Row[]) =>
      list.filter((_, i) => i % Math.max(1, Math.floor(list.length / budgets.fitRows)) === 0);
    const [bad, right] = [few(wrong), few(rows.filter((row) => !off(usual, row)))];
    const fits = (form: TargetForm, list: readonly Row[]) => {
      let missed = 0;
      for (const row of list) if (off(form, row)) missed++;
      return missed <= (1 - limits.formShare.value) * list.length;
    };
    const ways = asked ? [...healthy, ...otherBootstraps(declared), null] : [null];
    const found = ways
      .map((way): (TargetForm & { bootstrap: Bootstrap | null }) | null => {
        const [worse, better] = [bootstrapped(bad, way), bootstrapped(right, way)];
        const form = forms.find((one) => fits(one, worse) && fits(one, better));
        return form ? { ...form, bootstrap: healthy.includes(way) ? null : way } : null;
      })
      .find((form, i) => form !== null && (ways[i] !== null || !asked || causeOf(form) !== null));
    const onset = wrong[0].iteration;
    const share = wrong.length / rows.length;
    // Soft targets without their entropy are a choice that some make on purpose.
    if (
      found &&
      !found.bootstrap &&
      found.ends === 'own' &&
      found.rewards === 0 &&
      found.power === 0 &&
      found.entropy === 0
    )
      return {
        status: 'pass',
        measured,
        expected,
        findings: [],
        remarks: [
          {
            id: 'entropy-not-in-targets',
            summary: told('Targets do not hold the entropy of the next action.', '目标不含下一动作的熵。'),
            remedy: told(
              'Some do so on purpose; if not, take temperature times next_logp off the bootstrap.',
              '有人有意如此；若非有意，请从自举中减去温度乘以 next_logp。',
            ),
          },
        ],
      };
    const cause = found && causeOf(found);
    if (!found || !cause) {
      const terms = found ? null : fitTarget(few(rows));
      if (terms) return this.fitted(terms, few(rows), wrong.length, share, measured, expected, onset);
      return {
        status: 'fail',
        measured,
        expected,
        findings: [],
        open: { rows: wrong.length, share, onset, agents: [] },
      };
    }
    const transform = new TargetWith(difference(found));
    const finding: Finding = {
      cause,
      confidence: confidence(1, wrong.length),
      agents: [],
      onset,
      rows: wrong.length,
      transform,
      ...proved({
        quantity: 'target',
        labels: { target: 'as used', before: 'as the stored window gives it', after: transform.describe() },
        iteration: onset,
        point: 'row',
        target: Float64Array.from(bad, (row) => row.target),
        before: Float64Array.from(bad, (row) => targetOf(usual, row)),
        after: Float64Array.from(bootstrapped(bad, found.bootstrap ?? null), (row) => targetOf(found, row)),
      }),
      told: true,
      summary: told(
        `${percent(share)} of ${rows.length} targets are not what their stored window gives, and are with ${transform.describe()}.`,
        `${rows.length} 个目标中有 ${percent(share)} 与所存窗口算出的不符，而按此则相符：${transform.describe()}。`,
      ),
      evidence: [{ check, measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: [finding] };
  }

  /** No formula that is known gives the targets, and one that was read off them does. */
  private fitted(
    terms: readonly number[],
    rows: readonly Row[],
    wrong: number,
    share: number,
    measured: Outcome['measured'],
    expected: Outcome['expected'],
    onset: number,
  ): Outcome {
    const transform = new TargetWith({ terms });
    const finding: Finding = {
      cause: 'credit-formula-differs',
      confidence: confidence(1, wrong),
      agents: [],
      onset,
      rows: wrong,
      transform,
      ...proved({
        quantity: 'target',
        labels: { target: 'as used', before: 'as the stored window gives it', after: transform.describe() },
        iteration: onset,
        point: 'row',
        target: Float64Array.from(rows, (row) => row.target),
        before: Float64Array.from(rows, (row) => targetOf(usual, row)),
        after: Float64Array.from(rows, (row) => termsOf(row).reduce((sum, term, i) => sum + term * terms[i], 0)),
      }),
      told: true,
      summary: told(
        `${percent(share)} of the targets are not what their stored window gives; they follow ${transform.describe()} exactly.`,
        `${percent(share)} 的目标与所存窗口算出的不符；它们严格遵循${transform.describe()}。`,
      ),
      evidence: [{ check, measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: [finding] };
  }
}

/** Rows with what their targets would bootstrap from; null: what the program had. */
function bootstrapped(rows: readonly Row[], way: Bootstrap | null): Row[] {
  return rows.map((row) => ({
    ...row,
    // Where the networks were not asked, the program's own counts.
    bootstrap:
      way && row.values && row.values.offsets[row.at + 1] > row.values.offsets[row.at]
        ? bootstrapOf(way, row.values, row.online, row.at)
        : row.own,
  }));
}

function off(form: TargetForm, row: Row): boolean {
  const size = 1 + Math.abs(row.target) + (Number.isFinite(row.bootstrap) ? Math.abs(row.bootstrap) : 0);
  return !(Math.abs(targetOf(form, row) - row.target) <= limits.targetExact.value * size);
}

function either(a: ArrayLike<number>, b: ArrayLike<number>): Uint8Array {
  return Uint8Array.from({ length: a.length }, (_, i) => (a[i] === 1 || b[i] === 1 ? 1 : 0));
}

function causeOf(form: TargetForm & { bootstrap?: Bootstrap | null }): string | null {
  if (form.entropy === -1) return 'entropy-temperature-sign';
  if (form.rewards !== 0 || form.power !== 0) return 'n-step-off-by-one';
  if (form.ends === 'limit-is-end') return 'truncation-treated-as-termination';
  if (form.ends !== 'own') return 'target-crosses-end';
  return form.bootstrap ? (form.bootstrap.of === 'online' ? 'target-network-unused' : 'credit-formula-differs') : null;
}

function difference(form: TargetForm & { bootstrap?: Bootstrap | null }): TargetParts {
  const parts = (Object.keys(usual) as (keyof TargetForm)[]).filter((key) => form[key] !== usual[key]);
  return {
    ...Object.fromEntries(parts.map((key) => [key, form[key]])),
    ...(form.bootstrap ? { bootstrap: form.bootstrap } : {}),
  };
}
