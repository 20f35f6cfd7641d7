/** `trueline worker`: works on a queue until it is told to end; SIGTERM and Ctrl-C save what is under way and give it back. */

import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { interruptible } from '../common/interrupt.ts';
import { print, wholeNumber } from '../common/options.ts';
import { needingQueue } from '../common/runner.ts';

interface Flags {
  redis: string;
  queue: string;
  ca?: string;
  threads?: number;
  shared?: string;
  lease: number;
}

export function workerCommand(): Command {
  return new Command('worker')
    .description('Process the jobs of a queue; start one worker on each machine.')
    .requiredOption('--redis <address>', 'redis://HOST:PORT, or rediss://USER:PASSWORD@HOST:PORT')
    .option('--queue <name>', 'the queue', 'sweep')
    .option('--ca <file>', 'the certificate authority of the Redis server, if the system does not know it')
    .option('--threads <n>', 'how many jobs at a time (default: one per core)', wholeNumber)
    .option('--shared <folder>', 'the folder of the runs of a sweep with --shared, as seen from this machine')
    .option('--lease <seconds>', 'a job whose worker is silent for this long is given to another', wholeNumber, 30)
    .addHelpText('after', '\nExample:\n  $ trueline worker --redis redis://10.0.0.1:6379 --queue gamma\n')
    .action(async (flags: Flags) => {
      if (flags.threads === 0 || flags.lease === 0)
        throw new BadInput(told('--threads and --lease must be at least 1', '--threads 和 --lease 至少为 1'));
      // Loaded here, so that no other command waits for the queue's libraries.
      const { QueueWorker } = await needingQueue(() => import('../../sweep/redis/worker.ts'));
      const worker = await QueueWorker.start({
        address: { url: flags.redis, ...(flags.ca ? { ca: flags.ca } : {}) },
        queue: flags.queue,
        threads: flags.threads ?? availableParallelism(),
        ...(flags.shared === undefined ? {} : { shared: flags.shared }),
        lease: flags.lease * 1000,
        onNews: print,
      });
      print(
        `${worker.machine.name} works on the queue ${flags.queue} with ${worker.machine.threads} threads; Ctrl-C drains it.`,
      );
      const interrupt = interruptible('Saving the jobs under way and giving them back; once more ends at once.');
      await once(interrupt.signal, 'abort');
      await worker.drain();
      interrupt.end();
      print('Drained.');
    });
}
