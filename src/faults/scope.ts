/** Where a fault strikes: from which iteration on, for whom, and in what share of the rows. A row is chosen by its name, so a resumed run chooses the same. */
import type { Learner } from '../algorithms/learner.ts';
import type { RandomStream } from '../math/random.ts';
import { keptWhole } from '../training/record/recorder.ts';
import { between, type FaultContext, rounded, type Strength } from './fault.ts';

export interface ScopeOptions {
  /** Whether it may begin late; yes unless said otherwise. */
  onset?: boolean;
  /** Whether it may leave some agents out, or some policies where it cannot tell agents apart. */
  agents?: 'rows' | 'policies' | 'all';
  /** The least share of the rows that it may strike. */
  share?: number;
}

/** Fewest iterations that are recorded whole from the onset on. */
const fewestRecorded = 2;

export class Scope {
  private constructor(
    readonly onset: number,
    /** The agents it strikes; null strikes all. */
    readonly agents: ReadonlySet<number> | null,
    readonly share: number,
    private readonly salt: number,
  ) {}

  /** Draws always the same number of times, so that what is drawn after it does not depend on the game. */
  static draw(stream: RandomStream, context: FaultContext, options: ScopeOptions = {}): Scope {
    const late = stream.uniform() < 1 / 3;
    const drawnOnset = 1 + Math.floor(stream.uniform() * Math.max(1, Math.floor(context.iterations / 3)));
    const some = stream.uniform() < 0.5;
    const drawnAgents = stream.int32();
    const partial = stream.uniform() < 0.5;
    const drawnShare = rounded(between(stream, options.share ?? 1, 1));
    const salt = stream.int32();
    const onset = late && options.onset !== false && leavesEnough(context, drawnOnset) ? drawnOnset : 0;
    const share = partial && options.share !== undefined ? drawnShare : 1;
    return new Scope(onset, some ? drawAgents(context, options, drawnAgents) : null, share, salt);
  }

  begun(iteration: number): boolean {
    return iteration >= this.onset;
  }

  agent(agent: number): boolean {
    return this.agents === null || this.agents.has(agent);
  }

  /** Whether a policy is struck; one that several agents share is struck for all of them. */
  learner(learner: Learner): boolean {
    return learner.agents.some((agent) => this.agent(agent));
  }

  /** Whether a row is struck, its agent and iteration apart. */
  chosen(iteration: number, row: number): boolean {
    return this.share >= 1 || chance(this.salt, iteration, row) < this.share;
  }

  row(iteration: number, row: number, agent: number): boolean {
    return this.begun(iteration) && this.agent(agent) && this.chosen(iteration, row);
  }

  get strength(): Strength {
    return {
      onset: this.onset,
      agents: this.agents === null ? 'all' : [...this.agents].join(' '),
      share: this.share,
    };
  }
}

function leavesEnough(context: FaultContext, onset: number): boolean {
  let recorded = 0;
  for (let iteration = onset; iteration < context.iterations && recorded < fewestRecorded; iteration++)
    if (keptWhole(context.settings.recording, iteration)) recorded++;
  return recorded >= fewestRecorded;
}

function drawAgents(context: FaultContext, options: ScopeOptions, bits: number): ReadonlySet<number> | null {
  const { learning } = context.traits;
  if ((options.agents ?? 'rows') === 'all' || learning.length < 2) return null;
  if (options.agents === 'policies' && context.settings.sharing === 'shared') return null;
  const chosen = learning.filter((_, i) => ((bits >>> (i % 16)) & 1) === 1);
  if (chosen.length === learning.length) return null;
  return new Set(chosen.length > 0 ? chosen : [learning[(bits >>> 16) % learning.length]]);
}

/** A number in [0, 1) that belongs to a salt and two numbers: a fixed choice, not a random draw. */
export function chance(salt: number, a: number, b: number): number {
  let h = salt ^ Math.imul(a | 0, 0x9e3779b1) ^ Math.imul(b | 0, 0x85ebca77);
  h = Math.imul(h ^ (h >>> 16), 0x21f0aaad);
  h = Math.imul(h ^ (h >>> 15), 0x735a2d97);
  return ((h ^ (h >>> 15)) >>> 0) / 4294967296;
}
