/** The thread of thread.ts: the program, loaded once, runs one command after the other and hands back what each said. */
import { workerData } from 'node:worker_threads';

const { port, done, program } = workerData;
let said = { stdout: '', stderr: '' };
/** The command that runs; 0 between two. */
let running = 0;
for (const name of ['stdout', 'stderr'])
  process[name].write = (text, encoding, called) => {
    said[name] += typeof text === 'string' ? text : Buffer.from(text).toString('utf8');
    const after = typeof encoding === 'function' ? encoding : called;
    if (after) setImmediate(after);
    return true;
  };

/** Each command is answered once. What goes wrong between two is said with the next. */
function answer(number, status) {
  if (number === 0 || number !== running) return;
  running = 0;
  port.postMessage({ status, ...said });
  said = { stdout: '', stderr: '' };
  Atomics.store(done, 0, number);
  Atomics.notify(done, 0);
}

/** What would end a process ends the command. */
process.on('uncaughtException', (error) => {
  said.stderr += `${error.stack}\n`;
  answer(running, 1);
});

const { main } = await import(program);
port.on('message', async ({ number, args }) => {
  running = number;
  process.exitCode = undefined;
  await main(args);
  // Every call listens anew.
  for (const name of ['stdout', 'stderr']) process[name].removeAllListeners('error');
  answer(number, process.exitCode ?? 0);
});
