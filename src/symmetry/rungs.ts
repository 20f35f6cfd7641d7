/** The ablation ladder of each algorithm, from everything to plain PPO. What a rung adds over the next is what it may be blamed for. */

export interface Rung {
  label: string;
  /** Over the investigation's settings; null for the runs as they are. */
  settings: Record<string, unknown> | null;
  /** The causes that are left where the order appears between this rung and the next, the likeliest first. */
  blames?: string[];
}

export function rungsOf(algorithm: string): Rung[] {
  return [{ label: algorithm, settings: null }];
}
