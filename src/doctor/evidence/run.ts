/** What a recording declares, in the form that checks ask for. Declared figures are compared with the rows and never believed over them. */
import type { Manifest } from '../../recording/manifest.ts';
import type { Remark } from '../diagnosis.ts';
import { limits } from '../limits.ts';
import type { TokenEvidence } from '../tokens/evidence.ts';
import type { NotFinite } from './not-finite.ts';

export interface TensorInfo {
  name: string;
  policy: number;
  role: string;
  size: number;
  /** No gradient is wanted. */
  frozen: boolean;
  /** Its optimiser was watched and never stepped, says the recorder. */
  neverStepped: boolean;
}

export class Run {
  readonly agents: string[];
  readonly policies: string[];
  readonly tensors: TensorInfo[];
  /** Columns in which something was known, as table.column. */
  readonly seen = new Set<string>();
  /** Per policy, the root mean square of what it saw; filled where observations were kept. */
  readonly inputSize = new Map<number, number>();
  /** Rows of each table so far. */
  readonly rows: Record<string, number> = {};
  /** Per agent, its rows in iterations whose updates were recorded, and how often they were used there. */
  readonly updates = new Map<number, { sampled: number; used: number }>();
  /** By episode and agent (`withAgent`), what episodes are said to have returned. */
  readonly returns = new Map<number, number>();
  /** What is not finite among returns of episodes, counts and logged numbers. */
  notFinite: readonly NotFinite[] = [];
  /** Agents declared, or seen in the rows where more are. */
  agentCount: number;
  /** Where the recording is one of a language model: its responses and tokens. */
  tokens: TokenEvidence | null = null;
  /** What the call that recorded the updates got wrong, where the updates themselves are sound. */
  misrecorded: string | null = null;
  /** Customs of the recording that were recognised before the checks looked. */
  readonly remarks: Remark[] = [];
  private readonly settings: Record<string, unknown>;

  constructor(readonly manifest: Manifest) {
    this.agents = (manifest.agents ?? []).map((agent) => agent.name);
    this.agentCount = Math.max(1, this.agents.length);
    this.policies = (manifest.policies ?? []).map((policy) => policy.name);
    this.tensors = (manifest.tensors ?? []).map((tensor) => ({
      name: tensor.name,
      policy: tensor.policy ?? 0,
      role: tensor.role ?? 'other',
      size: tensor.size ?? Number.NaN,
      frozen: tensor.frozen === true,
      neverStepped: tensor.never_stepped === true,
    }));
    this.settings = manifest.settings ?? {};
  }

  /** A declared number; NaN where there is none. */
  number(name: string): number {
    const value = this.settings[name];
    return typeof value === 'number' ? value : Number.NaN;
  }

  text(name: string): string | null {
    const value = this.settings[name];
    return typeof value === 'string' ? value : null;
  }

  setting(name: string): unknown {
    return this.settings[name];
  }

  /** Agents with rows in updates that were recorded, none of which was used. */
  unrecorded(): number[] {
    return [...this.updates]
      .filter(([, { sampled, used }]) => used === 0 && sampled >= limits.decidingRows.value)
      .map(([agent]) => agent)
      .sort((a, b) => a - b);
  }

  declares(name: string): boolean {
    return this.settings[name] !== undefined;
  }

  optimizer(name: string): unknown {
    const optimizer = this.settings.optimizer;
    return typeof optimizer === 'object' && optimizer !== null
      ? (optimizer as Record<string, unknown>)[name]
      : undefined;
  }

  /** The policy that plays for an agent, or -1 where that is not declared. */
  policyOf(agent: number): number {
    return this.manifest.agents?.[agent]?.policy ?? (this.policies.length === 1 ? 0 : -1);
  }

  agentsOf(policy: number): number[] {
    return this.agents.map((_, agent) => agent).filter((agent) => this.policyOf(agent) === policy);
  }

  agentName(agent: number): string {
    return this.agents[agent] ?? `agent ${agent}`;
  }

  has(...columns: string[]): boolean {
    return columns.every((column) => this.seen.has(column));
  }
}
