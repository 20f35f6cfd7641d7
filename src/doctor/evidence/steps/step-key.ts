/** One number for an optimiser step within an iteration, by which checks find what belongs to it. */

export const stride = 1048576;

export function stepKey(epoch: number, minibatch: number, policy: number): number {
  return (policy * 4096 + epoch) * stride + minibatch;
}

export const keyOf = (step: { epoch: number; minibatch: number; policy: number }): number =>
  stepKey(step.epoch, step.minibatch, step.policy);

export function policyOfStep(key: number): number {
  return Math.floor(key / stride / 4096);
}
