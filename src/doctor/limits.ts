/** Every limit that decides between verdicts, with its reason. None belongs to a game or a fault: each is a definition, a numerical tolerance, a statistical test or a score. What is only a matter of time is in budgets.ts. */
import { buffers } from './limits/buffers.ts';
import { common } from './limits/common.ts';
import { continuous } from './limits/continuous.ts';
import { credit } from './limits/credit.ts';
import { gradient } from './limits/gradient.ts';
import { logs } from './limits/logs.ts';
import { memory } from './limits/memory.ts';
import { network } from './limits/network.ts';
import { pairing } from './limits/pairing.ts';
import { planning } from './limits/planning.ts';
import { reading } from './limits/reading.ts';
import { replay } from './limits/replay.ts';
import { rewards } from './limits/rewards.ts';
import { scores } from './limits/scores.ts';
import { tokens } from './limits/tokens.ts';

export type { Limit } from './limits/limit.ts';

/** By topic, as docs/limits.md shows them. */
export const topics = {
  common,
  replay,
  credit,
  rewards,
  pairing,
  gradient,
  network,
  reading,
  scores,
  tokens,
  continuous,
  memory,
  planning,
  buffers,
  logs,
} as const;

/** What makes a figure of a log a symptom; a name here may also be one of rows. */
export const logLimits = logs;

export const limits = {
  ...common,
  ...replay,
  ...credit,
  ...rewards,
  ...pairing,
  ...gradient,
  ...network,
  ...reading,
  ...scores,
  ...tokens,
  ...continuous,
  ...memory,
  ...planning,
  ...buffers,
} as const;
