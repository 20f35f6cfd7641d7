/** The arrows of HOP+, each one function: log a subgoal, remember a diary, learn each module, file what was imagined. Agents call them only through one `HopStages` object, so what is to be studied broken is replaced from outside. */
import type { AgentBuffers, HopAgent } from './agent.ts';
import type { Diary } from './modules/diary.ts';
import { copyRow } from './modules/ring.ts';

export interface HopStages {
  /** Logs the subgoal that `agent` was shown at a row of its diary: row `place` of `code`, of `width` values. */
  logSubgoal(diary: Diary, row: number, code: Float32Array, place: number, width: number, agent: number): void;
  /** Takes an iteration's diary of `agent` into its buffers. */
  remember(hop: HopAgent, diary: Diary, buffers: AgentBuffers, agent: number): void;
  /** Each module learns from what `agents` saw; they share it where there are several. Returns the mean loss, NaN without any. */
  learnWorld(hop: HopAgent, agents: readonly number[], iteration: number): number;
  learnOthers(hop: HopAgent, agents: readonly number[], iteration: number): number;
  /** The losses of prior and posterior. */
  learnSubgoals(
    hop: HopAgent,
    agents: readonly number[],
    diaries: readonly Diary[],
    iteration: number,
  ): [number, number];
  /** The agent whose rows the episodes become that `agent` imagined. */
  fileImagined(agent: number): number;
}

export const cleanHopStages: HopStages = {
  logSubgoal(diary, row, code, place, width) {
    copyRow(code, place, diary.code, row, width);
    diary.subgoals++;
  },
  remember: (hop, diary, buffers) => hop.remember(diary, buffers),
  learnWorld: (hop, _agents, iteration) => hop.learnWorld(iteration),
  learnOthers: (hop, _agents, iteration) => hop.learnOthers(iteration),
  learnSubgoals: (hop, _agents, diaries, iteration) => hop.learnSubgoals(diaries, iteration),
  fileImagined: (agent) => agent,
};
