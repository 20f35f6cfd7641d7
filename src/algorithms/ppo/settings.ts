/** The settings of the learning rule and of the networks, each with its default and one sentence. */
import { z } from 'zod';

const whole = (low: number, high: number) => z.number().int().min(low).max(high);
const share = () => z.number().min(0).max(1);
const positive = () => z.number().positive();

export const ppoSchema = z.strictObject({
  epochs: whole(1, 1000).default(4).describe('How many times an update goes through the whole batch.'),
  minibatches: whole(1, 4096).default(4).describe('Into how many optimiser steps one pass through the batch is cut.'),
  clip: positive()
    .max(10)
    .default(0.2)
    .describe('How far the probability ratio may leave 1 before it earns nothing more.'),
  gamma: share().default(0.99).describe('Discount of a reward per decision of the same agent.'),
  lambda: share().default(0.95).describe('How far credit trusts rewards (1) over the critic (0).'),
  learningRate: positive()
    .default(1e-3)
    .describe('Step size of Adam for the trunk, and for head and critic unless they have their own.'),
  headLearningRate: positive()
    .nullable()
    .default(null)
    .describe('Step size of the policy head alone; null takes learningRate.'),
  criticLearningRate: positive()
    .nullable()
    .default(null)
    .describe('Step size of the critic alone; null takes learningRate.'),
  anneal: z
    .boolean()
    .default(false)
    .describe('Lets the learning rates fall in a straight line to 0 at the last iteration.'),
  weightDecay: z
    .number()
    .min(0)
    .default(0)
    .describe('Weight decay of every group, added to the gradient; above 0 it pulls the policy without any reward.'),
  headWeightDecay: z
    .number()
    .min(0)
    .nullable()
    .default(null)
    .describe('Weight decay of the policy head alone; null takes weightDecay.'),
  adamEpsilon: positive()
    .default(1e-5)
    .describe("The number that Adam adds below the fraction, so that a quiet gradient's step stays small."),
  entropyCoefficient: z.number().default(0.01).describe('How much the loss pays for spread-out choices.'),
  valueCoefficient: z.number().min(0).default(0.5).describe('Weight of the critic in the whole loss.'),
  valueLoss: z
    .enum(['mse', 'huber'])
    .default('mse')
    .describe('How the critic is judged: squared error, or Huber where returns have outliers.'),
  huberDelta: positive()
    .default(10)
    .describe('Where the Huber loss turns from square to straight, in the units the critic learns in.'),
  valueClip: positive()
    .nullable()
    .default(null)
    .describe(
      'How far the critic may move from its old value in one update before it earns nothing more; null is off.',
    ),
  valueNormalisation: z
    .boolean()
    .default(true)
    .describe('Lets the critic learn returns of spread 1; recorded values stay in the units of the rewards.'),
  maxGradNorm: positive()
    .nullable()
    .default(0.5)
    .describe('The longest gradient that is let through; longer ones are scaled down; null is off.'),
  gradClip: z
    .enum(['global', 'role'])
    .default('global')
    .describe('Whether one length limit holds for all parameters together or for each role.'),
  advantageNormalisation: z
    .enum(['batch', 'minibatch', 'none'])
    .default('batch')
    .describe("Over what advantages get mean 0 and spread 1: an agent's whole batch, a minibatch, or not at all."),
  advantageClamp: positive()
    .nullable()
    .default(null)
    .describe('The largest advantage, after normalisation, that enters the loss; null is off.'),
  targetKl: positive()
    .nullable()
    .default(null)
    .describe('Ends the passes of an update once k3 exceeds 1.5 times this; null is off.'),
  adaptiveKl: positive()
    .nullable()
    .default(null)
    .describe(
      'Adapts the learning rate to the KL measured after each update: below 0.2 times this it grows by 1.5, above 2 times it halves; null is off.',
    ),
  adaptiveBounds: z
    .tuple([positive(), positive()])
    .default([0.05, 20])
    .describe('The least and the greatest factor that adaptiveKl may put on the learning rates.'),
});

export const networkSchema = z.strictObject({
  hidden: z.array(whole(1, 4096)).min(0).max(3).default([64, 64]).describe("Widths of the actor's hidden layers."),
  criticHidden: z
    .array(whole(1, 4096))
    .min(0)
    .max(3)
    .nullable()
    .default(null)
    .describe("Widths of the critic's hidden layers; null takes hidden."),
  activation: z.enum(['tanh', 'relu']).default('tanh').describe('What follows every hidden layer.'),
  head: z
    .enum(['auto', 'fixed', 'pointer'])
    .default('auto')
    .describe(
      'fixed has one logit per global action, pointer scores candidates by their features; auto points where the game has features.',
    ),
  gain: positive().default(Math.SQRT2).describe('Orthogonal gain of the hidden layers.'),
  headGain: positive().default(0.01).describe('Orthogonal gain of the policy head; small starts near uniform choice.'),
  criticGain: positive().default(1).describe("Orthogonal gain of the critic's last layer."),
});

export type PpoSettings = z.output<typeof ppoSchema>;
export type NetworkSettings = z.output<typeof networkSchema>;
