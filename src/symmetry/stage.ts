/** What a stage of an investigation is given and what it reports. A stage says what it did, what it found, with what power, and what that rules out; it never says "equal" for lack of evidence. */
import type { Diagnosis, Figures } from '../doctor/diagnosis.ts';
import { type Pair, told } from '../language/language.ts';
import type { BlockSums, ValueAndRankSums } from '../math/block-sums.ts';
import type { Recording } from '../recording/recording.ts';
import type { Band } from '../sweep/compare.ts';
import type { EvaluationResult } from '../sweep/work.ts';
import type { Settings } from '../training/settings.ts';
import type { Audit } from './audit/audit.ts';

export type StageId =
  | 'phenomenon'
  | 'random-play'
  | 'names-and-seats'
  | 'settings-and-updates'
  | 'data'
  | 'ladder'
  | 'sharing'
  | 'explanation';

const titles: Record<StageId, Pair> = {
  phenomenon: ['Do equal agents come out unequal?', '相同的智能体结果会不平等吗？'],
  'random-play': ['Is the game fair?', '游戏本身公平吗？'],
  'names-and-seats': ['The seat, or the name?', '是位置，还是名称？'],
  'settings-and-updates': ['Are agents set up and updated alike?', '各智能体的设置与更新相同吗？'],
  data: ['Does each agent learn from its own data?', '每个智能体都只用自己的数据学习吗？'],
  ladder: ['At which rung does the order appear?', '次序从哪一级开始出现？'],
  sharing: ['Does the order survive shared parameters?', '共享参数后次序还在吗？'],
  explanation: ['What explains it?', '原因是什么？'],
};

/** Every stage, in the order of the plan. */
export const stageIds = Object.keys(titles) as StageId[];

/** Its question. */
export const stageTitle = (id: StageId): string => told(...titles[id]);

/** `clear`: looked and found nothing, though it would have seen an effect of a tenth of the mean return. `open`: could not have seen it. `not-run`: why not is said. */
export type StageStatus = 'found' | 'clear' | 'open' | 'not-run';

export interface StageTest {
  name: string;
  statistic: number;
  p: number;
  /** The share of the family-wise level that this test may use. */
  level: number;
  significant: boolean;
  method?: string;
}

/** A cause that a stage names. `proof` is `rows` where numbers contradict each other, and `statistics` where chance had to be ruled out. */
export interface SymmetryFinding {
  cause: string;
  proof: 'rows' | 'statistics';
  confidence: number;
  /** Indices of the agents, or seats, that stand out; empty where all do. */
  agents: number[];
  summary: string;
  evidence: { check: string; measured: Figures; expected: Figures };
  /** Rows that show it, and the first iteration; 0 where it is no matter of rows. */
  rows: number;
  onset: number;
}

/** One agent's results over seeds, for a box plot. */
export interface Box {
  label: string;
  values: number[];
}

export type StageChart =
  | { kind: 'curves'; title: string; note: string; bands: Band[]; x?: string; y?: string }
  | { kind: 'boxes'; title: string; note: string; unit: string; groups: { label: string; boxes: Box[] }[] }
  | {
      kind: 'effects';
      title: string;
      note: string;
      unit: string;
      effects: { label: string; mean: number; low: number; high: number }[];
      /** Equality is claimed within so much of 0. */
      margin?: number;
    };

/** Figures that are compared agent by agent: what is counted or set, and each agent's own. */
export interface StageTable {
  title: string;
  head: string[];
  rows: string[][];
}

export interface StageReport {
  id: StageId;
  title: string;
  status: StageStatus;
  did: string;
  found: string;
  /** What would have been seen, and how surely. */
  power: string;
  rulesOut: { cause: string; by: string }[];
  tests: StageTest[];
  findings: SymmetryFinding[];
  figures: Figures;
  charts: StageChart[];
  tables: StageTable[];
  /** What repeats the stage's figures. */
  command: string;
  seconds: number;
}

/** Random play as sums over episodes, by seat and by name. */
export interface PlayedSums {
  seats: ValueAndRankSums;
  names: BlockSums;
}

export interface PlayOrder {
  /** Names the streams. */
  purpose: string;
  episodes: number;
  /** Deals names to seats anew in every episode. */
  deal: boolean;
}

export interface TrainOrder {
  label: string;
  /** Over the investigation's own settings. */
  settings: Record<string, unknown>;
  seed: number;
  evaluate?: { episodes: number; deal: boolean }[];
}

export interface TrainedRun {
  label: string;
  seed: number;
  recording: Recording;
  folder: string;
  evaluations: EvaluationResult[];
}

/** What the first observations look like from each seat. */
export interface ViewSums {
  episodes: number;
  entries: number;
  /** By seat and entry, over episodes: own value minus the mean of the other seats', its square, and how often it was not 0. */
  sum: number[][];
  squares: number[][];
  nonzero: number[][];
}

/** What does the work: training and play, on threads, in a page or anywhere else. Finished work is not repeated. */
export interface Laboratory {
  play(order: PlayOrder): Promise<PlayedSums>;
  views(episodes: number): Promise<ViewSums>;
  /** What exact relabelling found wrong; empty where nothing is, null where the game cannot relabel. */
  relabel(episodes: number): Promise<string[] | null>;
  /** Runs that fail are left out and said. */
  train(orders: readonly TrainOrder[]): Promise<TrainedRun[]>;
}

export interface Plan {
  /** The first run's seed is one more. */
  firstSeed: number;
  seeds: number;
  /** Steps of a run of stage 1 and the experiments. */
  steps: number;
  /** Steps of the runs whose every row is looked at. */
  auditSteps: number;
  /** The most episodes of random play. */
  episodes: number;
  /** Episodes with names dealt. */
  dealtEpisodes: number;
  /** Episodes of learnt play with names dealt, by seed. */
  learntEpisodes: number;
  quick: boolean;
  all: boolean;
  /** What a budget took away, and what that costs in power. */
  cost?: string;
}

export interface Investigation {
  settings: Settings;
  names: readonly string[];
  seats: number;
  plan: Plan;
  lab: Laboratory;
  /** What the user typed, without the stages' own options. */
  command: string;
  reports: StageReport[];
  /** What the runs whose every row was kept show, once they were made. */
  audits: { usual: Audit; reversed: Audit | null; doctor: Diagnosis | null } | null;
  say(sentence: string): void;
  /** Whether the budget has room for training every seed so many times again; it has where none is set. */
  affords?(times: number): boolean;
}

export function emptyReport(id: StageId, command: string): StageReport {
  return {
    id,
    title: stageTitle(id),
    status: 'open',
    did: '',
    found: '',
    power: '',
    rulesOut: [],
    tests: [],
    findings: [],
    figures: {},
    charts: [],
    tables: [],
    command,
    seconds: 0,
  };
}
