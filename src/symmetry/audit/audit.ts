/** Goes through one recording and takes, agent by agent, the figures that must be the same for equal agents. What was declared is compared with what the rows show. */
import { iterations, type Slice } from '../../doctor/evidence/reading/stream.ts';
import type { Recording } from '../../recording/recording.ts';
import { type ClipEstimate, ClipFit } from './clip.ts';
import { CoefficientFit, type Coefficients } from './coefficients.ts';
import { type Counts, readCounters } from './counters.ts';
import { CreditFit, type CreditRule } from './credit.ts';
import { type ImaginedRows, ImaginedWatch } from './imagined.ts';
import { PerspectiveWatch, type Turns } from './perspective.ts';
import { type LearningRates, RateWatch } from './rates.ts';
import { RewardWatch, type StoredRewards } from './rewards.ts';
import { type RowCounts, RowWatch } from './rows.ts';

export interface Audit {
  agents: string[];
  /** Whether each agent learns. Where no agent declares a policy, all are taken to. */
  learns: boolean[];
  /** The policy of each agent, -1 where it is not declared or scripted. */
  policyOf: number[];
  /** Declared settings by agent. */
  declared: Record<string, unknown>[];
  rates: LearningRates;
  coefficients: Coefficients[];
  clips: ClipEstimate[];
  credit: CreditRule[];
  counts: Counts;
  rewards: StoredRewards[];
  rows: RowCounts[];
  turns: Turns[];
  imagined: ImaginedRows[];
  /** Whether any sample was kept. */
  samples: number;
}

/** One figure taken while the iterations pass by. */
export interface Watch<T> {
  iteration(slice: Slice): void;
  finish(): T;
}

export async function auditRecording(recording: Recording): Promise<Audit> {
  const { manifest } = recording;
  const agents = (manifest.agents ?? []).map(({ name }) => name);
  const policyOf = (manifest.agents ?? []).map(({ policy }) => policy ?? -1);
  const undeclared = (manifest.agents ?? []).every(
    ({ policy, player }) => policy === undefined && player === undefined,
  );
  const policies = Math.max(manifest.policies?.length ?? 0, ...policyOf.map((policy) => policy + 1));
  const declaredRates = (manifest.tensors ?? []).map(({ policy, role }) => ({
    policy: policy ?? 0,
    role: role ?? 'other',
  }));
  const watches = {
    rates: new RateWatch(policies, declaredRates),
    coefficients: new CoefficientFit(policies),
    clips: new ClipFit(policies),
    credit: new CreditFit(agents.length),
    rewards: new RewardWatch(agents.length),
    rows: new RowWatch(agents.length),
    turns: new PerspectiveWatch(agents.length),
    imagined: new ImaginedWatch(agents.length),
  };
  let samples = 0;
  for await (const slice of iterations(recording)) {
    samples += slice.tables.samples?.rows ?? 0;
    for (const watch of Object.values(watches)) watch.iteration(slice);
  }
  await watches.rows.readEpisodes(recording);
  return {
    agents,
    learns: policyOf.map((policy) => undeclared || policy >= 0),
    policyOf,
    declared: agents.map((_, agent) => (manifest.agent_settings?.[agent] ?? {}) as Record<string, unknown>),
    rates: watches.rates.finish(),
    coefficients: watches.coefficients.finish(),
    clips: watches.clips.finish(),
    credit: watches.credit.finish(),
    counts: await readCounters(recording, agents.length),
    rewards: watches.rewards.finish(),
    rows: watches.rows.finish(),
    turns: watches.turns.finish(),
    imagined: watches.imagined.finish(),
    samples,
  };
}
