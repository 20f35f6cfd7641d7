/** What an iteration tells its caller. */
import type { AgentReturn } from './collect/episodes.ts';
import type { Readings } from './record/readings.ts';

/**
 * What one iteration gave.
 *
 * @example
 * const report: IterationReport = await trainer.iterate();
 * console.log(report.iteration, report.steps);
 */
export interface IterationReport {
  iteration: number;
  /** Decisions of learning agents: in this iteration, and so far. */
  rows: number;
  steps: number;
  /** Per policy. */
  readings: Readings[];
  /** Per policy: losses and held-out errors of the modules, where there are any. */
  modules: Record<string, number>[];
  /** Per agent, over the episodes that ended in this iteration. */
  returns: AgentReturn[];
  order: number[];
  recorded: boolean;
  /** The probes that were in force, joined by +; empty where there were none. */
  probe: string;
}
