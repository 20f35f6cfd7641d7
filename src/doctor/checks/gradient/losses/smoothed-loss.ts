/** Losses that a program prints as a running mean: each is k times the one before plus 1 - k times that of its own step, with one k for the whole run. Steps of different iterations are never joined: what lies between them may not have been recorded. */

import { figure } from '../../../diagnosis.ts';
import { ProofStore } from '../../../found.ts';
import { limits } from '../../../limits.ts';
import { Smoothed } from '../../../transforms/loss/smoothed.ts';

interface Step {
  iteration: number;
  reported: number;
  /** What the rows of the step give, and how far rounding may take it. */
  given: number;
  slack: number;
}

export class SmoothedLoss {
  private readonly steps: Step[] = [];

  add(step: Step): void {
    this.steps.push(step);
  }

  /** The running mean that gives every reported number from the one before, if there is one, and what proves it. */
  find(): { transform: Smoothed; proof: ProofStore; steps: number } | null {
    const pairs = this.steps.flatMap((now, i): { before: number; now: Step }[] =>
      i > 0 && this.steps[i - 1].iteration === now.iteration ? [{ before: this.steps[i - 1].reported, now }] : [],
    );
    if (pairs.length < limits.fewestSteps.value) return null;
    let [moved, apart] = [0, 0];
    for (const { before, now } of pairs) {
      moved += (now.reported - before) * (now.given - before);
      apart += (now.given - before) ** 2;
    }
    const taken = moved / apart;
    if (!(taken > limits.formulaSame.value && taken < 1 - limits.formulaSame.value)) return null;
    const proof = new ProofStore();
    for (const { before, now } of pairs) {
      const mean = before + taken * (now.given - before);
      if (Math.abs(now.reported - mean) > now.slack + limits.rounding.value * Math.abs(now.given)) return null;
      proof.step(now.reported, now.given, mean);
    }
    return { transform: new Smoothed(Number(figure(1 - taken))), proof, steps: pairs.length };
  }
}
