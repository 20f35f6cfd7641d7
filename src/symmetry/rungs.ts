/** The ablation ladder of each algorithm, from everything to plain PPO. What a rung has beyond the next is what it may be blamed for. */
import type { Pair } from '../language/language.ts';

export interface Rung {
  label: Pair;
  /** Over the investigation's settings; null for the runs as they are. */
  settings: Record<string, unknown> | null;
  /** The causes that are left where the order appears between this rung and the next, the likeliest first. */
  blames?: string[];
}

const without = (...modules: string[]) => ({ hop: { without: modules } });

const planning: Rung[] = [
  { label: ['full', '完整'], settings: null, blames: ['other-agent-model-bias'] },
  {
    label: ['without beliefs', '去掉信念'],
    settings: { planner: { without: ['beliefs'] } },
    blames: ['other-agent-model-bias'],
  },
  {
    label: ['without models of the others too', '再去掉对他人的模型'],
    settings: { planner: { without: ['beliefs', 'models'] } },
  },
  {
    label: ['without the planner, plain ppo', '去掉规划，纯 PPO'],
    settings: { planner: { without: ['planner', 'beliefs', 'models'] } },
  },
];

export function rungsOf(algorithm: string): Rung[] {
  if (algorithm === 'hop-planner') return planning;
  if (algorithm !== 'hop') return [{ label: [algorithm, algorithm], settings: null }];
  return [
    { label: ['full', '完整'], settings: null, blames: ['world-model-bias'] },
    {
      label: ['without world model and imagination', '去掉世界模型与想象'],
      settings: without('world-model'),
      blames: ['subgoal-bias'],
    },
    {
      label: ['without subgoals too', '再去掉子目标'],
      settings: without('world-model', 'subgoals'),
      blames: ['other-agent-model-bias'],
    },
    { label: ['plain ppo', '纯 PPO'], settings: without('world-model', 'subgoals', 'other-agents') },
  ];
}
