/** Ctrl-C once finishes what is under way and saves; twice ends at once. */
export function interruptible(sentence: string): { signal: AbortSignal; end(): void } {
  const stop = new AbortController();
  const onSignal = () => {
    if (stop.signal.aborted) process.exit(130);
    process.stderr.write(`\n${sentence}\n`);
    stop.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    signal: stop.signal,
    end: () => {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}
