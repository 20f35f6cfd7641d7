/** What is called how in Redis. A queue belongs to one version of the program, so that no worker of another ever gets its jobs. */
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { version } from '../../recording/version.ts';
import type { Job } from '../job.ts';

/** What travels in the queue: data, never code, and never a path. */
export interface QueuedData {
  job: Job;
  /** Whether the run goes to the disk that all machines share; otherwise it comes back through Redis. */
  shared?: boolean;
}

/** What BullMQ keeps as the job's progress. */
export interface QueuedProgress {
  steps: number;
  allSteps: number;
  secondsLeft: number;
  machine: string;
}

/** Attempts of a job that fails, and the wait before the second; it doubles. */
export const attempts = 3;
export const backoff = { type: 'exponential', delay: 1000 } as const;
/** A worker that dies is not the job's fault, so this is generous; a job that kills every worker ends here. */
export const mostStalls = 10;

export function checkName(name: string): string {
  if (!/^[\w.-]{1,64}$/.test(name))
    throw new BadInput(
      told(
        `--queue ${JSON.stringify(name)}: a queue's name is up to 64 letters, digits, dots and dashes`,
        `--queue ${JSON.stringify(name)}：队列名最多 64 个字母、数字、点和短横`,
      ),
    );
  return name;
}

export const queueName = (name: string) => `trueline-${name}-${version}`;
/** Which version's queue the name stands for at present. */
export const versionKey = (name: string) => `trueline:${name}:version`;
export const machinesKey = (name: string) => `trueline:${name}:machines`;
export const filesKey = (name: string, id: string) => `trueline:${name}:files:${id}`;

/** Says beside the runs of a shared disk which queue they belong to. */
export const sharedFile = '.trueline-queue';
