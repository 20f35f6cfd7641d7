/** How far a sweep is: on a terminal a line for each run under way and one for all, otherwise a line now and then. */
import { linesTaken, type Style } from '../../report/style.ts';
import { duration } from '../../report/table.ts';
import type { SweepProgress } from '../../sweep/sweep.ts';

const patience = 2000;
const width = 24;

export class SweepView {
  private readonly begun = performance.now();
  private lines = 0;
  private drawn = 0;

  constructor(
    private readonly stream: NodeJS.WriteStream,
    private readonly paint: Style,
  ) {}

  update(progress: SweepProgress): void {
    const now = performance.now();
    const terminal = this.stream.isTTY === true;
    if (now - this.begun < patience || now - this.drawn < (terminal ? 150 : 5000)) return;
    this.drawn = now;
    if (!terminal) return void this.stream.write(`${this.headline(progress)}\n`);
    const rows = progress.running.map(
      ({ label, steps, allSteps, secondsLeft }) =>
        `${this.bar(steps / allSteps)} ${duration(secondsLeft).padStart(7)} left  ${label}`,
    );
    this.clear();
    const text = [this.headline(progress), ...rows].join('\n');
    this.stream.write(`${text}\n`);
    this.lines = linesTaken(text, this.stream.columns);
  }

  /** A line that stays above the running ones. */
  say(line: string): void {
    this.clear();
    this.stream.write(`${line}\n`);
  }

  finish(): void {
    this.clear();
  }

  private clear(): void {
    if (this.lines > 0) this.stream.write(`\u001b[${this.lines}A\u001b[0J`);
    this.lines = 0;
  }

  private headline({ done, failed, all, secondsLeft, running }: SweepProgress): string {
    const left = Number.isNaN(secondsLeft) ? '?' : duration(secondsLeft);
    const bad = failed > 0 ? `, ${failed} failed` : '';
    return `${done} of ${all} runs done${bad}, ${running.length} under way, ${left} left`;
  }

  private bar(share: number): string {
    const full = Math.round(Math.max(0, Math.min(1, share)) * width);
    return `${this.paint.cyan('█'.repeat(full))}${this.paint.dim('░'.repeat(width - full))}`;
  }
}
