/** Where a list of jobs runs: on threads of this machine, or, with `--redis`, on every machine that works on a queue. */

import type { Command } from 'commander';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { needing } from '../../recording/optional.ts';
import type { RedisAddress } from '../../sweep/redis/connection.ts';
import type { Runner } from '../../sweep/runner.ts';
import { ThreadRunner } from '../../sweep/threads.ts';
import { wholeNumber } from './options.ts';

export interface RunnerFlags {
  threads?: number;
  redis?: string;
  queue: string;
  ca?: string;
  shared?: boolean;
}

export function addRunnerOptions(command: Command): Command {
  return command
    .option('--threads <n>', 'how many runs at a time (default: one per core)', wholeNumber)
    .option('--redis <address>', 'run on the machines where trueline worker serves the queue, instead of here')
    .option('--queue <name>', 'the queue of --redis', 'sweep')
    .option('--ca <file>', 'the certificate authority of the Redis server, if the system does not know it')
    .option('--shared', 'results are written to a disk that all machines share; start workers with --shared FOLDER');
}

export async function runnerOf(flags: RunnerFlags): Promise<Runner> {
  if (flags.threads === 0) throw new BadInput(told('--threads must be at least 1', '--threads 至少为 1'));
  if (flags.redis === undefined) return new ThreadRunner(flags.threads === undefined ? {} : { threads: flags.threads });
  // Loaded here, so that whoever stays on one machine does not wait for the queue's libraries.
  const { RedisRunner } = await needingQueue(() => import('../../sweep/redis/runner.ts'));
  return new RedisRunner({ address: addressOf(flags), queue: flags.queue, shared: flags.shared ?? false });
}

/** Loads what talks to Redis, which is not installed with the program. */
export function needingQueue<T>(load: () => Promise<T>): Promise<T> {
  return needing('bullmq ioredis', told('a queue in Redis', 'Redis 队列'), load);
}

export function addressOf(flags: RunnerFlags): RedisAddress {
  return { url: flags.redis ?? '', ...(flags.ca ? { ca: flags.ca } : {}) };
}

/** The options of a command that ran a list, as they would be typed to go on with it. */
export async function typedRunner(flags: RunnerFlags): Promise<string> {
  const words: string[] = [];
  if (flags.threads !== undefined) words.push('--threads', String(flags.threads));
  if (flags.redis !== undefined) {
    const { typedAddress } = await import('../../sweep/redis/connection.ts');
    words.push('--redis', typedAddress(addressOf(flags)), '--queue', flags.queue);
    if (flags.ca !== undefined) words.push('--ca', flags.ca);
    if (flags.shared) words.push('--shared');
  }
  return words.map((word) => ` ${typed(word)}`).join('');
}

/** A word as a shell takes it. */
export function typed(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
