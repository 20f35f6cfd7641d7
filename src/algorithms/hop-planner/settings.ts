/** The settings of HOP with its planner beyond those of PPO. Without the planner its agents are PPO agents that also model the others. */
import { z } from 'zod';

const share = () => z.number().min(0).max(1);
const whole = (low: number, high: number) => z.number().int().min(low).max(high);

export const plannerModules = ['planner', 'beliefs', 'models'] as const;
export type PlannerModule = (typeof plannerModules)[number];

export const plannerSchema = z.strictObject({
  without: z
    .array(z.enum(plannerModules))
    .default([])
    .describe(
      'What is left out: planner (then PPO decides and learns), beliefs (every goal is as likely), models (others choose at random).',
    ),
  world: z
    .enum(['rules', 'learnt'])
    .default('rules')
    .describe(
      "What moves are tried out in: the game's own rules, or the world model of HOP+, learnt from play with the settings hop.worldModel.",
    ),
  simulations: whole(1, 100_000)
    .default(64)
    .describe('Simulations for one move, shared by all goals that are sampled; time grows in proportion.'),
  samples: whole(1, 64)
    .default(4)
    .describe("How often the others' goals are drawn from the beliefs for one move; each draw has a tree of its own."),
  exploration: z.number().min(0).default(2).describe('Weight of the prior in the choice of the move to be tried next.'),
  rationality: z
    .number()
    .min(0)
    .default(12)
    .describe(
      'How strictly the better move is preferred: the weight of a value, in units of the spread of returns, in the exponent.',
    ),
  noise: share()
    .default(0.05)
    .describe('Share of moves that are drawn at random in training; none are where nothing is learnt.'),
  judged: share()
    .default(0.1)
    .describe(
      'Share of training episodes in which no move is drawn at random; what they return is the reading return.judged.',
    ),
  horizonWeight: share()
    .default(0.8)
    .describe('How much of what was believed before an episode is kept for the next one.'),
  models: z
    .strictObject({
      hidden: z.array(whole(1, 1024)).max(3).default([64]).describe('Widths of the hidden layers.'),
      capacity: whole(64, 1_000_000).default(8192).describe('How many steps of play are kept.'),
      window: whole(1, 1000)
        .default(16)
        .describe('How many steps before a goal was reached count as steps towards it.'),
      batch: whole(8, 65_536).default(128).describe('Steps of play that one optimiser step sees.'),
      updates: whole(0, 10_000).default(16).describe('Optimiser steps per iteration.'),
      learningRate: z.number().positive().default(3e-3).describe('Step size of Adam.'),
    })
    .prefault({})
    .describe("The others' policies, given their goals."),
});

export type PlannerSettings = z.output<typeof plannerSchema>;
