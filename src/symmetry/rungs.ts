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

export function rungsOf(algorithm: string): Rung[] {
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
