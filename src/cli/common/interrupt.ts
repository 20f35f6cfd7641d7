/** Ctrl-C once finishes what is under way and saves; twice ends at once. */
import { setMaxListeners } from 'node:events';

let underWay = 0;

/** Whether there is work whose results outlive whoever listens to what the program says. */
export const isAtWork = () => underWay > 0;

export function interruptible(sentence: string): { signal: AbortSignal; end(): void } {
  const stop = new AbortController();
  // Every run under way listens, and there may be many.
  setMaxListeners(0, stop.signal);
  const onSignal = () => {
    if (stop.signal.aborted) process.exit(130);
    process.stderr.write(`\n${sentence}\n`);
    stop.abort();
  };
  underWay++;
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    signal: stop.signal,
    end: () => {
      underWay--;
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}
