/** The live table of a run: readings per policy, coloured by their bands. A terminal sees it redrawn in place, anything else a line now and then. */

import { moduleReadings } from '../../algorithms/hop/readings.ts';
import { told } from '../../language/language.ts';
import { linesTaken, type Style } from '../../report/style.ts';
import { duration, number, table } from '../../report/table.ts';
import { ProbeEffects } from '../../report/update/probes.ts';
import { inBand, labelOf, type ReadingName, readings } from '../../training/record/readings.ts';
import type { ProgressReport } from '../../training/run.ts';

const shown: ReadingName[] = [
  'k3',
  'clip_fraction',
  'entropy_ratio',
  'explained_variance',
  'value_loss',
  'kl_after',
  'valid_ratio',
];

export function readingsTable(
  report: ProgressReport,
  policies: readonly string[],
  paint: Style,
  width?: number,
): string {
  const label = (name: ReadingName) => labelOf(readings.find((reading) => reading.name === name)!);
  const cell = (name: ReadingName, value: number) => {
    if (Number.isNaN(value)) return paint.dim('-');
    const inside = inBand(name, value);
    const text = number(value);
    return inside === undefined ? text : inside ? paint.green(text) : paint.yellow(text);
  };
  const rows = report.readings.map((values, i) => [policies[i], ...shown.map((name) => cell(name, values[name]))]);
  const align = ['left' as const, ...shown.map(() => 'right' as const)];
  return table([told('policy', '策略'), ...shown.map(label)].map(paint.dim), rows, align, width);
}

export function returnsTable(report: ProgressReport, agents: readonly string[], paint: Style): string {
  const rows = report.returns.map(({ mean, standardError, episodes }, i) => [
    agents[i],
    Number.isNaN(mean) ? '-' : number(mean),
    Number.isNaN(standardError) ? '' : `+- ${number(1.96 * standardError)}`,
    number(episodes),
  ]);
  return table(
    [told('agent', '智能体'), told('return', '回报'), '95 %', told('episodes', '局数')].map(paint.dim),
    rows,
    ['left', 'right', 'left', 'right'],
  );
}

/** Losses and held-out errors of the modules, where there are any. */
export function modulesTable(report: ProgressReport, policies: readonly string[], paint: Style): string {
  const names = moduleReadings.filter(({ live, name }) => live && report.modules.some((values) => name in values));
  const rows = report.modules.map((values, i) => [
    policies[i],
    ...names.map(({ name }) => (name in values ? number(values[name]) : paint.dim('-'))),
  ]);
  return table([told('policy', '策略'), ...names.map(({ label }) => label)].map(paint.dim), rows, [
    'left',
    ...names.map(() => 'right' as const),
  ]);
}

export class Live {
  readonly probes = new ProbeEffects();
  private lines = 0;
  private drawn = 0;

  constructor(
    private readonly names: { policies: readonly string[]; agents: readonly string[] },
    private readonly steps: number,
    private readonly paint: Style,
    private readonly stream: NodeJS.WriteStream,
  ) {}

  update(report: ProgressReport): void {
    this.probes.add(report);
    const now = performance.now();
    const terminal = this.stream.isTTY === true;
    if (now - this.drawn < (terminal ? 150 : 5000)) return;
    this.drawn = now;
    if (terminal) this.draw(this.text(report));
    else this.stream.write(`${this.headline(report)}\n`);
  }

  /** Clears the table: what is final is printed apart. */
  finish(): void {
    if (this.lines > 0) this.stream.write(`\u001b[${this.lines}A\u001b[0J`);
    this.lines = 0;
  }

  text(report: ProgressReport): string {
    const parts = [this.headline(report), '', readingsTable(report, this.names.policies, this.paint)];
    if (report.modules.length > 0) parts.push('', modulesTable(report, this.names.policies, this.paint));
    if (report.returns.some((entry) => entry.episodes > 0))
      parts.push('', returnsTable(report, this.names.agents, this.paint));
    const probes = this.probes.text(this.names.policies, this.paint);
    if (probes !== '') parts.push('', probes);
    return parts.join('\n');
  }

  private headline(report: ProgressReport): string {
    const share = Math.min(100, Math.floor((100 * report.steps) / this.steps));
    const [steps, all] = [number(report.steps), number(this.steps)];
    const [speed, left] = [number(Math.round(report.stepsPerSecond)), duration(report.secondsLeft)];
    return told(
      `iteration ${report.iteration}, ${steps} of ${all} steps (${share} %), ${speed} steps/s, ${left} left`,
      `迭代 ${report.iteration}，${all} 步中的 ${steps} 步（${share} %），每秒 ${speed} 步，剩余 ${left}`,
    );
  }

  private draw(text: string): void {
    const back = this.lines > 0 ? `\u001b[${this.lines}A\u001b[0J` : '';
    this.stream.write(`${back}${text}\n`);
    this.lines = linesTaken(text, this.stream.columns);
  }
}
