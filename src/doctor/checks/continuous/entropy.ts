/** Is the entropy in the loss that of the distribution that the update scored? Sums and means over dimensions, and minus the log-probability, are all in use; what is exact for another distribution is not. */
import { told } from '../../../language/language.ts';
import { budgets } from '../../budgets.ts';
import { type Check, confidence, fewestRows, type Pass } from '../../check.ts';
import { entropyOf, type Reduce } from '../../continuous/density.ts';
import { type Deviation, familyOf, type Law, lawsOf } from '../../continuous/laws.ts';
import { figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { proved } from '../../found.ts';
import { limits } from '../../limits.ts';
import { ScoredAs } from '../../transforms/continuous/scored-as.ts';

const check = 'gaussian-entropy';

export const gaussianEntropy: Check = {
  id: check,
  group: 'gradient',
  question: ['Is the entropy in the loss that of the distribution of the actions?', '损失中的熵是否属于动作的分布？'],
  needs: [
    ['replays.entropy'],
    ['replays.log_std', 'samples.log_std', 'replays.choice_logits', 'samples.choice_logits'],
  ],
  causes: ['entropy-of-another-distribution'],
  of: 'continuous',
  start: () => new EntropyPass(),
};

type Kind = readonly [Reduce, Deviation];
const healthy: readonly Kind[] = [
  ['sum', 'own'],
  ['mean', 'own'],
];
const wrong: readonly Kind[] = (['sum', 'mean', 'first', 'last'] as const)
  .flatMap((reduce) =>
    (['own', 'exponential', 'variance', 'root', 'unit'] as const).map((deviation): Kind => [reduce, deviation]),
  )
  .filter(([reduce, deviation]) => !healthy.some(([r, d]) => r === reduce && d === deviation));

class EntropyPass implements Pass {
  private readonly rows: { entropy: number; law: Law; minus: number; iteration: number }[] = [];

  iteration({ samples, replays, before, own, number }: Iteration): void {
    const entropy = replays?.column('entropy');
    if (!samples || !replays || !entropy || !before) return;
    const family = familyOf(samples);
    if (typeof family !== 'string') return;
    const [updated, sampled] = [lawsOf(replays, family), lawsOf(samples, family)];
    const [sample, fresh] = [replays.column('sample')!, replays.measured('new_logp')!];
    const stride = Math.max(1, Math.floor(replays.rows / budgets.fitRows));
    for (let i = 0; i < replays.rows; i += stride) {
      if (own[i] === 0 || !Number.isFinite(entropy[i])) continue;
      const law = updated(i) ?? (before[i] === 1 ? sampled(sample[i]) : null);
      if (law && Number.isFinite(entropyOf('sum', 'own', law)))
        this.rows.push({ entropy: entropy[i], law, minus: -fresh[i], iteration: number });
    }
  }

  finish(): Outcome {
    const { rows } = this;
    const measured: Outcome['measured'] = { rows: rows.length };
    const expected = { error: 0 };
    if (rows.length < limits.decidingRows.value) return { status: 'not-checked', measured, expected, findings: [] };
    const exact = (value: (row: (typeof rows)[number]) => number) => {
      let off = 0;
      for (const row of rows)
        if (!(Math.abs(value(row) - row.entropy) <= limits.steadyEntropy.value * (1 + Math.abs(row.entropy)))) off++;
      return off <= (1 - limits.formShare.value) * rows.length;
    };
    const gives = ([reduce, kind]: Kind) => exact(({ law }) => entropyOf(reduce, kind, law));
    if (healthy.some(gives) || exact(({ minus }) => minus)) return { status: 'pass', measured, expected, findings: [] };
    const gaussian = rows[0].law.family === 'gaussian';
    const found = wrong.find((kind) => (gaussian || kind[1] === 'own') && gives(kind));
    if (!found || rows.length < fewestRows)
      return {
        status: 'pass',
        measured,
        expected,
        findings: [],
        note: told(
          'the entropy is an estimate, or of a distribution that is not known here',
          '熵是估计值，或属于此处未知的分布',
        ),
      };
    const [reduce, kind] = found;
    const transform = new ScoredAs('entropy', {
      ...(reduce === 'first' || reduce === 'last' ? { reduce } : {}),
      ...(kind === 'own' ? {} : { deviation: kind }),
    });
    const column = ([r, d]: Kind) => Float64Array.from(rows, ({ law }) => entropyOf(r, d, law));
    const proof = proved({
      quantity: 'entropy',
      labels: { target: 'in the loss', before: 'of the actions', after: transform.describe() },
      iteration: rows[0].iteration,
      point: 'row',
      target: Float64Array.from(rows, ({ entropy }) => entropy),
      before: column([reduce === 'mean' ? 'mean' : 'sum', 'own']),
      after: column(found),
    });
    return {
      status: 'fail',
      measured: { ...measured, error: figure(proof.before ?? Number.NaN) },
      expected,
      findings: [
        {
          cause: 'entropy-of-another-distribution',
          confidence: confidence(1, rows.length),
          agents: [],
          onset: rows[0].iteration,
          rows: rows.length,
          transform,
          ...proof,
          told: true,
          summary: told(
            `The entropy in the loss is exactly that of another distribution than the one that actions are drawn from: ${transform.describe()}.`,
            `损失中的熵恰好属于另一个分布，而不是动作所用的分布：${transform.describe()}。`,
          ),
          evidence: [{ check, measured, expected }],
        },
      ],
    };
  }
}
