/** Gradients that are gathered over micro-batches and not brought together as the mean over the step's rows. Asked only where that mean does not give the critic's gradient. */
import { told } from '../../../language/language.ts';
import { confidence } from '../../check.ts';
import type { Finding } from '../../diagnosis.ts';
import type { Run } from '../../evidence/run.ts';
import { declaredParts } from '../../evidence/steps/slices.ts';
import { limits } from '../../limits.ts';
import { type Found, findGathering, Gathered, type GatheredStep } from '../../transforms/loss/gathered.ts';

/** What gives most steps of a policy's critic; null where nothing does, or no parts are declared. `factors` are what a mean of errors is multiplied by. */
export function gatheredParts(
  run: Run,
  critics: ReadonlyMap<number, readonly GatheredStep[]>,
  policy: number,
  pulls: readonly ((error: number) => number)[],
  factors: readonly number[],
): { findings: (evidence: Finding['evidence']) => Finding[] } | null {
  const parts = declaredParts(run);
  if (parts === 1 || run.text('loss_reduction') === 'sum') return null;
  for (const [tensor, steps] of critics)
    for (const pull of run.tensors[tensor].policy === policy ? pulls : [])
      for (const factor of factors) {
        const found = findGathering(steps, parts, pull, factor);
        // Parts of about one size may be weighed alike.
        const right = found?.how === 'alike' && found.smallest > limits.raggedPart.value;
        if (found) return { findings: (evidence) => (right ? [] : [finding(run, policy, found, evidence)]) };
      }
  return null;
}

function finding(run: Run, policy: number, found: Found, evidence: Finding['evidence']): Finding {
  const { how, parts, fits, told: all, proof } = found;
  const name = run.policies[policy] ?? `policy ${policy}`;
  const transform = new Gathered(how, parts);
  return {
    cause: how === 'last' ? 'loss-formula-differs' : 'loss-normaliser-wrong',
    confidence: confidence(fits / all, fits * limits.perStep.value),
    agents: run.agentsOf(policy),
    onset: 0,
    rows: fits,
    transform,
    ...proof.prove("length of the critic's bias gradient", 'as recorded', "that of the step's rows", transform),
    told: true,
    summary: told(
      `The gradient of ${name}'s critic is not that of the mean over the step's rows; on ${fits} of ${all} steps that tell it is that of: ${transform.describe()}.`,
      `${name} 的价值网络的梯度不是该步各行均值的梯度；在能区分的 ${all} 步中，有 ${fits} 步的梯度来自：${transform.describe()}。`,
    ),
    evidence,
  };
}
