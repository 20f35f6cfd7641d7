/** The ablation ladder of each algorithm, from everything to plain PPO. What a rung has beyond the next is what it may be blamed for. */

export interface Rung {
  label: string;
  /** Over the investigation's settings; null for the runs as they are. */
  settings: Record<string, unknown> | null;
  /** The causes that are left where the order appears between this rung and the next, the likeliest first. */
  blames?: string[];
}

const without = (...modules: string[]) => ({ hop: { without: modules } });

export function rungsOf(algorithm: string): Rung[] {
  if (algorithm !== 'hop') return [{ label: algorithm, settings: null }];
  return [
    { label: 'full', settings: null, blames: ['world-model-bias'] },
    { label: 'without world model and imagination', settings: without('world-model'), blames: ['subgoal-bias'] },
    { label: 'without subgoals too', settings: without('world-model', 'subgoals'), blames: ['other-agent-model-bias'] },
    { label: 'plain ppo', settings: without('world-model', 'subgoals', 'other-agents') },
  ];
}
