/** Progress with time left, on standard error, for whatever takes longer than two seconds. */

import cliProgress from 'cli-progress';
import { told } from '../../language/language.ts';
import { duration } from '../../report/table.ts';

export interface Progress {
  update(done: number, all: number): void;
  stop(): void;
}

const patience = 2000;
/** Before so much is done, what it took says more about opening files than about the rest. */
const telling = 0.01;

export function timeLeft(done: number, all: number, seconds: number): string {
  return done < telling * all ? '?' : duration((seconds / done) * (all - done));
}

export function progress(label: string): Progress {
  const begun = performance.now();
  let bar: cliProgress.SingleBar | undefined;
  let last = begun;
  return {
    update(done, all) {
      const now = performance.now();
      if (now - begun < patience || done >= all) return;
      const left = timeLeft(done, all, (now - begun) / 1000);
      if (!process.stderr.isTTY) {
        if (now - last < 5000) return;
        last = now;
        process.stderr.write(
          `${label}: ${Math.floor((100 * done) / all)} %, ${told(`${left} left`, `剩余 ${left}`)}\n`,
        );
        return;
      }
      if (!bar) {
        const format = `${label} {bar} {percentage} %, ${told('{left} left', '剩余 {left}')}`;
        bar = new cliProgress.SingleBar(
          { format, hideCursor: true, clearOnComplete: true, stream: process.stderr },
          cliProgress.Presets.shades_classic,
        );
        bar.start(all, done, { left });
      } else bar.update(done, { left });
    },
    stop() {
      bar?.stop();
    },
  };
}
