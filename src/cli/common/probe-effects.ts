/** What the probes of a run did, side by side: KL, clip fraction and entropy before, during and after each. Means over the few updates next to it, so that one noisy update decides nothing. */
import { told } from '../../language/language.ts';
import type { Style } from '../../report/style.ts';
import { number, table } from '../../report/table.ts';
import { labelOf, type ReadingName, readings } from '../../training/record/readings.ts';
import type { ProgressReport } from '../../training/run.ts';

const shown = ['k3', 'kl_after', 'clip_fraction', 'entropy'] as const satisfies readonly ReadingName[];
/** Updates before and after a probe that are averaged over. */
const near = 5;

type Update = Pick<ProgressReport, 'probe' | 'readings' | 'iteration'>;

interface Episode {
  probe: string;
  before: Update[];
  during: Update[];
  after: Update[];
}

export class ProbeEffects {
  private readonly episodes: Episode[] = [];
  private recent: Update[] = [];

  add({ probe, readings: values, iteration }: Update): void {
    const update = { probe, readings: values, iteration };
    const last = this.episodes.at(-1);
    if (probe === '') {
      this.recent = [...this.recent.slice(1 - near), update];
      if (last && last.after.length < near) last.after.push(update);
    } else if (last?.probe === probe && last.after.length === 0) last.during.push(update);
    else {
      this.episodes.push({ probe, before: this.recent, during: [update], after: [] });
      this.recent = [];
    }
  }

  /** Empty where no probe was in force. */
  text(policies: readonly string[], paint: Style): string {
    if (this.episodes.length === 0) return '';
    const label = (name: ReadingName) => labelOf(readings.find((reading) => reading.name === name)!);
    const rows = this.episodes.flatMap((episode) =>
      policies.map((policy, i) => [
        episode.probe,
        policy,
        ...shown.map((name) =>
          [episode.before, episode.during, episode.after].map((part) => mean(part, i, name)).join(' / '),
        ),
        this.rate(episode, i),
      ]),
    );
    const head = [told('probe', '探针'), told('policy', '策略'), ...shown.map(label), told('learning rate', '学习率')];
    return `${paint.bold(told('Probes', '探针'))}  ${told(`before / during / after, means of up to ${near} updates`, `之前 / 期间 / 之后，至多 ${near} 次更新的均值`)}\n${table(head.map(paint.dim), rows)}`;
  }

  /** The last rate in force; of a search, the one that brought the KL to where it is seen. */
  private rate({ probe, during }: Episode, policy: number): string {
    const own = during.map((update) => update.readings[policy]);
    const last = own.at(-1)!;
    if (!probe.split('+').includes('big-step')) return number(last.learning_rate);
    const found = own.findLast(({ kl_after }) => kl_after >= 0.01 && kl_after <= 0.03);
    return found
      ? told(
          `${number(found.learning_rate)} brings the KL after an update to ${number(found.kl_after)}`,
          `${number(found.learning_rate)} 使更新后的 KL 达到 ${number(found.kl_after)}`,
        )
      : told(
          `${number(last.learning_rate)}, where the KL after an update is still ${number(last.kl_after)}`,
          `${number(last.learning_rate)}，而更新后的 KL 仍为 ${number(last.kl_after)}`,
        );
  }
}

function mean(updates: readonly Update[], policy: number, name: ReadingName): string {
  const values = updates.map((update) => update.readings[policy][name]).filter((value) => !Number.isNaN(value));
  return values.length === 0 ? '-' : number(values.reduce((a, b) => a + b, 0) / values.length);
}
