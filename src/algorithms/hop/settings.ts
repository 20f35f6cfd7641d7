/** The settings of HOP+ beyond those of PPO. Every module can be left out by itself; without all of them HOP+ is PPO, bit for bit. */

import { z } from 'zod';
import type { Game } from '../../games/game.ts';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';

const positive = () => z.number().positive();
const share = () => z.number().min(0).max(1);
const whole = (low: number, high: number) => z.number().int().min(low).max(high);

/** How a module learns. */
const learning = (defaults: { batch: number; updates: number; learningRate: number }) => ({
  batch: whole(8, 65_536).default(defaults.batch).describe('Steps of play that one optimiser step sees.'),
  updates: whole(0, 10_000).default(defaults.updates).describe('Optimiser steps of each network per iteration.'),
  learningRate: positive().default(defaults.learningRate).describe('Step size of Adam.'),
});

export const hopModules = ['world-model', 'other-agents', 'subgoals'] as const;
export type HopModule = (typeof hopModules)[number];

export const hopSchema = z.strictObject({
  without: z
    .array(z.enum(hopModules))
    .default([])
    .describe('Which modules are left out: world-model (and imagination with it), other-agents, subgoals.'),
  planner: z
    .enum(['off', 'learnt', 'rules'])
    .default('off')
    .describe(
      "Whether moves are found by tree search, with the settings planner.simulations, samples, exploration, rationality and noise: not at all, in the agent's own world model, or in the game's rules. Then its networks learn what the search found, and nothing is imagined.",
    ),
  heldOut: share()
    .default(0.1)
    .describe('Share of the episodes that no module is trained on; its error is measured there.'),
  worldModel: z
    .strictObject({
      members: whole(1, 16).default(3).describe('How many networks of each kind the ensemble has.'),
      hidden: z.array(whole(1, 1024)).max(3).default([48]).describe('Widths of the hidden layers.'),
      capacity: whole(64, 10_000_000).default(16_384).describe('How many steps of play are kept for each agent.'),
      ...learning({ batch: 128, updates: 12, learningRate: 0.01 }),
      early: whole(0, 1_000_000)
        .default(15)
        .describe('Iterations with so many optimiser steps; later ones take a quarter of them.'),
    })
    .prefault({})
    .describe('The world model.'),
  otherAgents: z
    .strictObject({
      hidden: z.array(whole(1, 1024)).max(3).default([64]).describe('Widths of the hidden layers.'),
      capacity: whole(64, 10_000_000)
        .default(16_384)
        .describe('How many steps of each other agent are kept; few, because others change.'),
      ...learning({ batch: 256, updates: 8, learningRate: 2e-3 }),
      feed: z.boolean().default(true).describe("Whether the policy sees the others' predicted choices."),
    })
    .prefault({})
    .describe('The model of other agents, one network for each of them.'),
  subgoals: z
    .strictObject({
      size: whole(1, 64).default(8).describe('Dimensions of a subgoal.'),
      horizon: whole(1, 1000).default(5).describe('How many steps ahead a subgoal may lie.'),
      choose: z
        .enum(['optimistic', 'conservative'])
        .default('optimistic')
        .describe('Whether the subgoal is the future state of best or of worst value.'),
      hidden: z.array(whole(1, 1024)).max(3).default([64]).describe('Widths of the hidden layers.'),
      ...learning({ batch: 128, updates: 5, learningRate: 0.01 }),
      memory: share().default(0.7).describe('How much of the history is kept from one step to the next.'),
      divergence: z.number().min(0).default(0.1).describe("Weight of the prior's divergence from the unit normal."),
      mixIterations: whole(0, 1_000_000)
        .default(20)
        .describe('Over how many iterations the share of the prior in what the policy sees falls from 1 to 0.'),
    })
    .prefault({})
    .describe("Inference of the others' subgoals."),
  imagination: z
    .strictObject({
      longest: whole(0, 100).default(5).describe('The most steps of an imagined rollout; 0 imagines nothing.'),
      error: share()
        .default(0.1)
        .describe(
          'The largest chance of a wrong step in a whole rollout, by the held-out error, at which it may be so long.',
        ),
      realShare: share().default(0.9).describe('The least share of real rows among those a policy learns from.'),
    })
    .prefault({})
    .describe('Imagined rollouts.'),
});

export type HopSettings = z.output<typeof hopSchema>;

/** Why nothing of a game can be modelled or searched move by move: in English and Chinese. */
export const whyNot = ({ name, shape }: Pick<Game, 'name' | 'shape'>): readonly [string, string] =>
  shape.features > 0 || shape.candidates !== shape.actions
    ? [
        `in ${name} every decision has candidates of its own, so no model and no search can count its moves`,
        `而 ${name} 的每次决策都有自己的候选，模型和搜索都无法逐一列出走法`,
      ]
    : [`${name} is none of them`, `${name} 不属于此类`];

/** The models see planes, and nothing else. */
export const cannotModel = (game: Pick<Game, 'name' | 'shape'>): BadInput =>
  new BadInput(
    told(
      `hop models games whose observation is made of planes, such as stag-hunt and snowdrift; ${whyNot(game)[0]}. Use --algorithm ppo, or ppo in that seat`,
      `hop 只会为由平面组成的观测建模，例如 stag-hunt 和 snowdrift；${whyNot(game)[1]}。请用 --algorithm ppo，或在该座位用 ppo`,
    ),
  );
