/** The thread of warm.ts: the program, loaded once, runs one command after the other and hands back what each said. */
import { workerData } from 'node:worker_threads';

const { port, done, program } = workerData;
let said = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr'])
  process[name].write = (text, encoding, called) => {
    said[name] += typeof text === 'string' ? text : Buffer.from(text).toString('utf8');
    const after = typeof encoding === 'function' ? encoding : called;
    if (after) setImmediate(after);
    return true;
  };

function answer(status) {
  port.postMessage({ status, ...said });
  said = { stdout: '', stderr: '' };
  Atomics.store(done, 0, 1);
  Atomics.notify(done, 0);
}

/** What would end a process ends the command. */
process.on('uncaughtException', (error) => {
  said.stderr += `${error.stack}\n`;
  answer(1);
});

const { main } = await import(program);
port.on('message', async (args) => {
  process.exitCode = undefined;
  await main(args);
  // Every call listens anew.
  for (const name of ['stdout', 'stderr']) process[name].removeAllListeners('error');
  answer(process.exitCode ?? 0);
});
