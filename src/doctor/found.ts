/** From a transform that explains rows to a finding with its proof. Residuals are read off the proof, which is what pictures draw. */
import { budgets } from './budgets.ts';
import { confidence } from './check.ts';
import { type Evidence, type Finding, percent } from './diagnosis.ts';
import { limits } from './limits.ts';
import type { Explained, Hypothesis } from './pairing/cover.ts';
import { type Proof, residual } from './proof.ts';
import type { Transform } from './transforms/transform.ts';

export interface Wording {
  quantity: string;
  target: string;
  before: string;
  /** The sentence up to what the transform is. */
  summary: (share: string) => string;
  evidence: Evidence[];
}

export function foundBy<H extends Hypothesis>(
  { hypothesis, transform, rows, share, agents, onset, proof }: Explained<H>,
  wording: (hypothesis: H) => Wording,
): Finding[] {
  const { quantity, target, before, summary, evidence } = wording(hypothesis);
  const whole: Proof = {
    ...proof,
    quantity,
    labels: { target, before, after: transform.describe() },
    point: 'row',
  };
  return [hypothesis.cause, ...(hypothesis.beside ? [hypothesis.beside] : [])].map((cause) => ({
    cause,
    confidence: confidence(share, rows),
    agents,
    onset,
    rows,
    transform,
    ...proved(whole),
    summary: `${summary(percent(share))}: ${transform.describe()}.`,
    evidence,
  }));
}

/** The part of a finding that its proof gives. What is not brought far nearer is not shown as undone: a list that was not recorded whole, for one, cannot be scored again. */
export function proved(proof: Proof): Pick<Finding, 'proof' | 'before' | 'after'> {
  const before = residual(proof, 'before');
  const after = residual(proof, 'after');
  if (after <= limits.undone.value * before) return { proof, before, after };
  return { proof: { ...proof, after: proof.after.map(() => Number.NaN) }, before };
}

/** Numbers of the run that disagree with what they should be: those of the iteration where they differ most, or one for each step or iteration. */
export class ProofStore {
  constructor(private readonly point: 'step' | 'iteration' = 'step') {}

  private kept: Pick<Proof, 'iteration' | 'target' | 'before' | 'after'> | null = null;
  private widest = -1;
  private readonly steps: { target: number[]; before: number[]; after: number[] } = {
    target: [],
    before: [],
    after: [],
  };

  /** The disagreeing rows of one iteration. */
  rows(iteration: number, target: Float64Array, before: Float64Array, after?: Float64Array): void {
    let gap = 0;
    for (let i = 0; i < target.length; i++) gap += Math.abs(target[i] - before[i]);
    if (!(gap > this.widest) || target.length === 0) return;
    this.widest = gap;
    this.kept = { iteration, target, before, after: after ?? new Float64Array(target.length).fill(Number.NaN) };
  }

  step(target: number, before: number, after: number): void {
    const { steps } = this;
    if (steps.target.length >= budgets.proofSteps) return;
    steps.target.push(target);
    steps.before.push(before);
    steps.after.push(after);
  }

  /** Without a transform there is no other side. */
  private forget(): void {
    this.kept?.after.fill(Number.NaN);
    this.steps.after.fill(Number.NaN);
  }

  /** The proof and its residuals; nothing where nothing was kept. */
  prove(quantity: string, target: string, before: string, transform?: Transform): Partial<ReturnType<typeof proved>> {
    const labels = { target, before, after: transform?.describe() ?? '' };
    if (!transform) this.forget();
    if (this.kept) return proved({ ...this.kept, quantity, labels, point: 'row' });
    if (this.steps.target.length === 0) return {};
    const column = (side: 'target' | 'before' | 'after') => Float64Array.from(this.steps[side]);
    const columns = { target: column('target'), before: column('before'), after: column('after') };
    return proved({ ...columns, iteration: 0, quantity, labels, point: this.point });
  }
}

/** The same cause of several policies is one finding. */
export function merge(findings: Finding[]): Finding[] {
  const byCause = new Map<string, Finding>();
  for (const finding of findings) {
    const first = byCause.get(finding.cause);
    if (!first) {
      byCause.set(finding.cause, finding);
      continue;
    }
    first.agents = [...new Set([...first.agents, ...finding.agents])].sort((a, b) => a - b);
    first.rows += finding.rows;
    first.onset = Math.min(first.onset, finding.onset);
    first.confidence = Math.max(first.confidence, finding.confidence);
  }
  return [...byCause.values()];
}
