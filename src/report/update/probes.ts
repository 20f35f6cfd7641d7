/** What the probes of a run did, side by side: KL, clip fraction and entropy before, during and after each. Means over the few updates next to it, so that one noisy update decides nothing. */
import { told } from '../../language/language.ts';
import type { Recording } from '../../recording/recording.ts';
import { labelOf, type ReadingName, readings } from '../../training/record/readings.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { number, table } from '../table.ts';

const shown = ['k3', 'kl_after', 'clip_fraction', 'entropy'] as const satisfies readonly ReadingName[];
/** Updates before and after a probe that are averaged over. */
const near = 5;

interface Update {
  /** Empty where none was in force. */
  probe: string;
  iteration: number;
  /** By policy. */
  readings: readonly Partial<Record<ReadingName, number>>[];
}

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
    return `${paint.bold(told('Probes', '探针'))}  ${explained()}\n${table(heads().map(paint.dim), this.rows(policies))}`;
  }

  /** The same for a page. */
  html(policies: readonly string[]): string {
    if (this.episodes.length === 0) return '';
    const head = heads();
    const row = ([probe, ...cells]: string[]) =>
      `<tr><th scope="row">${safeText(probe)}</th>${cells.map((cell, i) => `<td data-of="${safeText(head[i + 1])}">${safeText(cell)}</td>`).join('')}</tr>`;
    return `<section aria-labelledby="probes"><h2 id="probes">${told('Probes', '探针')}</h2><p>${told('Each was put in on purpose. Figures are', '均为故意加入。数值为')} ${explained()}${told('.', '。')}</p><table class="fold"><thead><tr>${head.map((name) => `<th scope="col">${safeText(name)}</th>`).join('')}</tr></thead><tbody>${this.rows(policies).map(row).join('')}</tbody></table></section>`;
  }

  private rows(policies: readonly string[]): string[][] {
    return this.episodes.flatMap((episode) =>
      policies.map((policy, i) => [
        episode.probe,
        policy,
        ...shown.map((name) =>
          [episode.before, episode.during, episode.after].map((part) => mean(part, i, name)).join(' / '),
        ),
        this.rate(episode, i),
      ]),
    );
  }

  /** The last rate in force; of a search, the one that brought the KL to where it is seen. */
  private rate({ probe, during }: Episode, policy: number): string {
    const own = during.map(({ readings: [...values] }) => ({
      learning_rate: values[policy]?.learning_rate ?? Number.NaN,
      kl_after: values[policy]?.kl_after ?? Number.NaN,
    }));
    const last = own.at(-1)!;
    if (Number.isNaN(last.learning_rate)) return '-';
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
  const values = updates
    .flatMap((update) => update.readings[policy]?.[name] ?? [])
    .filter((value) => !Number.isNaN(value));
  return values.length === 0 ? '-' : number(values.reduce((a, b) => a + b, 0) / values.length);
}

const heads = () => [
  told('probe', '探针'),
  told('policy', '策略'),
  ...shown.map((name) => labelOf(readings.find((reading) => reading.name === name)!)),
  told('learning rate', '学习率'),
];

const explained = () =>
  told(`before / during / after, means of up to ${near} updates`, `之前 / 期间 / 之后，至多 ${near} 次更新的均值`);

/** What the probes of a recording did; of its readings those that it has. */
export async function probesOf(recording: Recording): Promise<ProbeEffects> {
  const effects = new ProbeEffects();
  const probes = new Map<number, string>();
  for await (const chunk of recording.chunks('steps', ['iteration', 'probe'])) {
    const [iteration, probe] = [chunk.columns.get('iteration'), chunk.columns.get('probe')];
    if (iteration?.kind === 'text' || !iteration || probe?.kind !== 'text') continue;
    probe.values.forEach((name, row) => {
      if (name !== '' || !probes.has(Number(iteration.values[row]))) probes.set(Number(iteration.values[row]), name);
    });
  }
  if ([...probes.values()].every((name) => name === '')) return effects;
  const wanted: readonly string[] = [...shown, 'learning_rate'];
  const values = new Map<number, Partial<Record<ReadingName, number>>[]>();
  for await (const chunk of recording.chunks('scalars', ['iteration', 'policy', 'name', 'value'])) {
    const [iteration, policy, value] = ['iteration', 'policy', 'value'].map((column) => {
      const found = chunk.columns.get(column);
      return found?.kind === 'text' ? undefined : found?.values;
    });
    const name = chunk.columns.get('name');
    if (!iteration || !value || name?.kind !== 'text') continue;
    name.values.forEach((item, row) => {
      if (!wanted.includes(item)) return;
      const at = Number(iteration[row]);
      if (!values.has(at)) values.set(at, []);
      const own = values.get(at)!;
      const who = Number(policy?.[row] ?? 0);
      own[who] = { ...own[who], [item]: Number(value[row]) };
    });
  }
  for (const [iteration, probe] of [...probes].sort(([a], [b]) => a - b))
    effects.add({ probe, iteration, readings: values.get(iteration) ?? [] });
  return effects;
}
