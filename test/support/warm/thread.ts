/** Commands that end by themselves, on a thread that has the program loaded: to start a process and load it for each took longer than most of them do. What a process has of its own (signals, pipes, another folder) is tested with processes. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';

const root = resolve(import.meta.dirname, '../../..');
const quick = [
  ...['check', 'compare', 'convert', 'diagnose', 'explain', 'export', 'import', 'inspect', 'play', 'train', 'validate'],
  ...['--help', '--version'],
];
/** Milliseconds after which a command is taken to hang. */
const patience = 600_000;

/** Whether a command is one of them. */
export const isQuick = ([command, ...rest]: readonly string[]): boolean =>
  (quick.includes(command) || (command === 'zoo' && rest[0] === 'list')) && process.cwd() === root;

interface Thread {
  port: MessagePort;
  /** Commands that were sent. */
  sent: number;
  /** The number of the command that was answered last. */
  done: Int32Array;
}

/** By language: a table of words that was read in one is not read again in another. */
const threads = new Map<string, Thread>();
const languageOf = (args: readonly string[]) => (args[args.indexOf('--language') + 1] === 'zh' ? 'zh' : 'en');

function start(): Thread {
  const program = join(root, 'dist', 'program', 'main.js');
  if (!existsSync(program)) throw new Error(`${program} is not built`);
  const { port1, port2 } = new MessageChannel();
  const done = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL('./thread.mjs', import.meta.url), {
    workerData: { port: port2, done, program },
    transferList: [port2],
    execArgv: [],
    env: { ...process.env, NO_COLOR: '1' },
  });
  worker.unref();
  port1.unref();
  return { port: port1, sent: 0, done };
}

/** Waits for it, as for a process. */
export function runWarm(args: readonly string[]): { status: number; stdout: string; stderr: string } {
  const language = languageOf(args);
  const thread = threads.get(language) ?? start();
  threads.set(language, thread);
  const { port, done } = thread;
  const number = ++thread.sent;
  port.postMessage({ number, args });
  // One is woken by the answer to the command before as well, if that was read before its sender could ring.
  for (let last = Atomics.load(done, 0); last !== number; last = Atomics.load(done, 0))
    if (Atomics.wait(done, 0, last, patience) === 'timed-out') {
      threads.delete(language);
      throw new Error(`trueline ${args.join(' ')} has not ended`);
    }
  return receiveMessageOnPort(port)!.message as { status: number; stdout: string; stderr: string };
}
