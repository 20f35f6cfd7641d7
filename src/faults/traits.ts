/** What a run offers to be broken: lists that differ, masks, truncations and so on. Found by playing a little at random, so it holds for games not known here. */

import type { GameMaker } from '../games/game.ts';
import { gameMaker } from '../games/index.ts';
import { randomPlayer } from '../games/players.ts';
import { type Pair, told } from '../language/language.ts';
import { RandomStream } from '../math/random.ts';
import { agentNames } from '../training/collect/seating.ts';
import { asksToLearn } from '../training/lineup/entry.ts';
import type { Settings } from '../training/settings.ts';

export interface Traits {
  /** The game's name. */
  game: string;
  seats: number;
  /** The agents that learn. */
  learning: readonly number[];
  separate: boolean;
  /** Agents have modules of HOP+. */
  modules: boolean;
  /** Agents search for their moves with beliefs and models. */
  planner: boolean;
  /** Two learning agents decide in the same step. */
  together: boolean;
  fixedHead: boolean;
  /** Some candidate is illegal. */
  masks: boolean;
  /** Candidate lists are not always 0, 1, 2 and so on. */
  lists: boolean;
  /** Decisions differ in their number of candidates. */
  counts: boolean;
  truncation: boolean;
  termination: boolean;
  /** Length of an observation. */
  observation: number;
  actions: number;
  candidates: number;
  horizon: number;
  /** Steps of the longest episode that was played, or of the part that was played of it. */
  longest: number;
  /** Steps, or episodes, that a world plays in an iteration. */
  rollout: number;
  wholeEpisodes: boolean;
  /** Optimiser steps of one update. */
  updateSteps: number;
}

const meanings = {
  'stag-hunt': [['the stag hunt', '猎鹿游戏'], (t: Traits) => t.game === 'stag-hunt'],
  agents: [['at least two learning agents', '至少两个学习的智能体'], (t: Traits) => t.learning.length > 1],
  separate: [
    [
      'at least two policies (sharing separate, two learning agents)',
      '至少两个策略（sharing separate，两个学习的智能体）',
    ],
    (t: Traits) => t.separate && t.learning.length > 1,
  ],
  modules: [
    ['every module of HOP+ (--algorithm hop --without none)', 'HOP+ 的每个模块（--algorithm hop --without none）'],
    (t: Traits) => t.modules,
  ],
  planner: [
    [
      'agents that plan with beliefs and models (--algorithm hop-planner)',
      '带信念与模型的规划智能体（--algorithm hop-planner）',
    ],
    (t: Traits) => t.planner,
  ],
  'three-seats': [['at least three seats', '至少三个座位'], (t: Traits) => t.seats > 2],
  together: [
    ['two learning agents that decide in the same step', '两个在同一步决策的学习智能体'],
    (t: Traits) => t.together,
  ],
  'fixed-head': [
    ['a fixed head (network.head fixed)', '固定的输出头（network.head fixed）'],
    (t: Traits) => t.fixedHead,
  ],
  masks: [['candidates that are sometimes illegal', '有时非法的候选'], (t: Traits) => t.masks],
  lists: [
    ['candidate lists that differ from 0, 1, 2 and so on', '不同于 0、1、2…… 的候选列表'],
    (t: Traits) => t.lists,
  ],
  counts: [['decisions with different numbers of candidates', '候选数不同的决策'], (t: Traits) => t.counts],
  'five-candidates': [
    ['decisions with up to five candidates or more', '有五个或更多候选的决策'],
    (t: Traits) => t.candidates >= 5,
  ],
  truncation: [['episodes that are truncated', '会被截断的局'], (t: Traits) => t.truncation],
  termination: [['episodes that terminate', '会终止的局'], (t: Traits) => t.termination],
  'several-steps': [['episodes of several decisions', '含多次决策的局'], (t: Traits) => t.horizon > 1],
  ends: [
    ['episodes that end and are followed by others within a rollout', '在一次 rollout 内结束并接着新的局'],
    (t: Traits, n: number) => followedEnds(t, n),
  ],
  'several-updates': [
    ['more than one optimiser step per update', '每次更新不止一步优化'],
    (t: Traits) => t.updateSteps > 1,
  ],
  'several-iterations': [
    ['at least 3 iterations', '至少 3 次迭代'],
    (_: Traits, iterations: number) => iterations >= 3,
  ],
} as const satisfies Record<string, [Pair, (traits: Traits, iterations: number) => boolean]>;

export type Need = keyof typeof meanings;

/** In rollouts of a few steps an end lies inside one of them, sooner or later, once the run is longer than an episode. */
function followedEnds(traits: Traits, iterations: number): boolean {
  if (traits.wholeEpisodes) return traits.rollout > 1;
  return traits.rollout > 1 && traits.rollout * iterations > traits.longest;
}

/** The needs that are not met, in words. */
export function unmetNeeds(needs: readonly Need[], traits: Traits, iterations: number): string[] {
  const unmet: string[] = [];
  for (const need of needs) {
    const [words, holds] = meanings[need];
    if (!holds(traits, iterations)) unmet.push(told(words[0], words[1]));
  }
  return unmet;
}

const steps = 400;

export function findTraits(settings: Settings, make?: GameMaker): Traits {
  const game = (make ?? gameMaker(settings.game, settings.gameSettings))(1);
  const { seats, candidates, actions, features, horizon, observation } = game.shape;
  const agents = agentNames(settings, game)
    .map((_, agent) => agent)
    .filter((agent) => asksToLearn(settings.players?.[agent]));
  const { head } = settings.network;
  const traits: Traits = {
    game: game.name,
    seats,
    learning: agents,
    separate: settings.sharing === 'separate',
    modules: settings.algorithm === 'hop' && settings.hop.without.length === 0,
    planner: settings.algorithm === 'hop-planner' && settings.planner.without.length === 0,
    together: false,
    fixedHead: head === 'fixed' || (head === 'auto' && features === 0),
    masks: false,
    lists: false,
    counts: false,
    truncation: false,
    termination: false,
    observation,
    actions,
    candidates,
    horizon,
    longest: 0,
    rollout: settings.rollout,
    wholeEpisodes: settings.collect === 'episodes',
    updateSteps: settings.ppo.epochs * settings.ppo.minibatches,
  };
  const stream = RandomStream.of(0, 'traits');
  const chosen = new Int32Array(seats);
  let count = -1;
  let begun = 0;
  let length = 0;
  game.reset(0, RandomStream.of(0, 'traits', begun++));
  for (let step = 0; step < steps; step++) {
    let acting = 0;
    for (let seat = 0; seat < seats; seat++) {
      if (game.acting[seat] === 0) continue;
      acting++;
      const own = game.numActions[seat];
      if (count >= 0 && own !== count) traits.counts = true;
      count = own;
      for (let c = 0; c < own; c++) {
        if (game.legal[seat * candidates + c] === 0) traits.masks = true;
        if (game.subset[seat * candidates + c] !== c) traits.lists = true;
      }
      chosen[seat] = randomPlayer.act(game, seat, stream);
    }
    if (acting > 1 && agents.length > 1) traits.together = true;
    game.step(chosen);
    traits.longest = Math.max(traits.longest, ++length);
    if (game.truncated.includes(1)) traits.truncation = true;
    if (game.terminated.includes(1)) traits.termination = true;
    if (game.over[0] === 0) continue;
    length = 0;
    game.reset(0, RandomStream.of(0, 'traits', begun++));
  }
  return traits;
}

/** How many iterations a run will about have. */
export function expectedIterations(settings: Settings, traits: Traits): number {
  const each = settings.collect === 'steps' ? settings.rollout : settings.rollout * traits.horizon;
  return Math.max(1, Math.round(settings.steps / (settings.worlds * each * Math.max(1, traits.learning.length))));
}
