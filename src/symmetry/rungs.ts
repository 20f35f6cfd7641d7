/** The ablation ladder of a run, from everything to plain PPO: the modules of its algorithm, or of those that its seats have. What a rung has beyond the next is what it may be blamed for. */
import type { Pair } from '../language/language.ts';
import { readEntry } from '../training/lineup/entry.ts';

export interface Rung {
  label: Pair;
  /** Over the investigation's settings; null for the runs as they are. */
  settings: Record<string, unknown> | null;
  /** The causes that are left where the order appears between this rung and the next, the likeliest first. */
  blames?: string[];
}

interface Step {
  label: Pair;
  without: string[];
  /** Where the order appears with what this step leaves out. */
  blames: string[];
}

/** By algorithm, and where its settings are. */
const ladders = {
  'hop-planner': {
    room: 'planner',
    steps: [
      { label: ['without beliefs', '去掉信念'], without: ['beliefs'], blames: ['other-agent-model-bias'] },
      {
        label: ['without models of the others too', '再去掉对他人的模型'],
        without: ['beliefs', 'models'],
        blames: ['other-agent-model-bias'],
      },
      {
        label: ['without the planner, plain ppo', '去掉规划，纯 PPO'],
        without: ['planner', 'beliefs', 'models'],
        blames: [],
      },
    ],
  },
  hop: {
    room: 'hop',
    steps: [
      {
        label: ['without world model and imagination', '去掉世界模型与想象'],
        without: ['world-model'],
        blames: ['world-model-bias'],
      },
      {
        label: ['without subgoals too', '再去掉子目标'],
        without: ['world-model', 'subgoals'],
        blames: ['subgoal-bias'],
      },
      {
        label: ['plain ppo', '纯 PPO'],
        without: ['world-model', 'subgoals', 'other-agents'],
        blames: ['other-agent-model-bias'],
      },
    ],
  },
} satisfies Record<string, { room: string; steps: Step[] }>;

interface Ran {
  readonly algorithm: string;
  readonly players?: readonly string[] | null | undefined;
}

export function rungsOf({ algorithm, players }: Ran): Rung[] {
  const entries = (players ?? []).map(readEntry);
  const plays = (name: string) =>
    entries.length === 0
      ? name === algorithm
      : entries.some((one) => !one.scripted && !one.origin && (one.algorithm ?? algorithm) === name);
  const kinds = (Object.keys(ladders) as (keyof typeof ladders)[]).filter(plays);
  if (kinds.length === 0) return [{ label: [algorithm, algorithm], settings: null }];
  const rungs: Rung[] = [{ label: ['full', '完整'], settings: null }];
  let lineup = players ? [...players] : undefined;
  let rooms: Record<string, unknown> = {};
  for (const kind of kinds)
    for (const { label, without, blames } of ladders[kind].steps as Step[]) {
      rungs[rungs.length - 1].blames = blames;
      rooms = { ...rooms, [ladders[kind].room]: { without } };
      lineup = lineup?.map((text) => lessened(text, kind, algorithm, without));
      const prefix = kinds.length > 1 ? `${kind} ` : '';
      const named: Pair = [`${prefix}${label[0]}`, `${prefix}${label[1]}`];
      rungs.push({ label: named, settings: { ...rooms, ...(lineup ? { players: lineup } : {}) } });
    }
  return rungs;
}

/** A seat that leaves out modules of its own leaves out these too; the others go by the run's settings. */
function lessened(text: string, kind: string, algorithm: string, without: readonly string[]): string {
  const entry = readEntry(text);
  if (!entry.without || entry.origin || (entry.algorithm ?? algorithm) !== kind) return text;
  const all = [...new Set([...entry.without, ...without])];
  return [`${kind} without ${all.join('+')}`, ...entry.sets.map((set) => `with ${set}`)].join(' ');
}
