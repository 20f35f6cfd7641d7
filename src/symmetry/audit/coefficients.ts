/** The coefficients that make the reported whole loss of its reported parts: loss - policy loss = c value loss - e entropy, two unknowns by least squares. */
import type { Slice } from '../../doctor/evidence/reading/stream.ts';
import type { Watch } from './audit.ts';
import { SquareSums, solvePair } from './least-squares.ts';

export interface Coefficients {
  value: number;
  entropy: number;
  /** Share of the left side that the two do not explain; above 1e-3 the formula is another one. */
  residual: number;
  steps: number;
}

export class CoefficientFit implements Watch<Coefficients[]> {
  private readonly sums: SquareSums[];

  constructor(policies: number) {
    this.sums = Array.from({ length: policies }, () => new SquareSums());
  }

  iteration({ tables }: Slice): void {
    const { steps } = tables;
    const [loss, policyLoss, valueLoss, entropy] = ['loss', 'policy_loss', 'value_loss', 'entropy'].map((name) =>
      steps?.column(name),
    );
    if (!loss || !policyLoss || !valueLoss || !entropy) return;
    const policy = steps?.column('policy');
    const skipped = steps?.column('skipped');
    for (let row = 0; row < loss.length; row++)
      if (skipped?.[row] !== 1)
        this.sums[policy?.[row] ?? 0]?.add(valueLoss[row], -entropy[row], loss[row] - policyLoss[row]);
  }

  finish(): Coefficients[] {
    return this.sums.map((sums) => {
      const { a, b, residual } = solvePair(sums);
      return { value: a, entropy: b, residual, steps: sums.count };
    });
  }
}
