/** From what the checks found to the verdict. Healthy is said only where replay, credit and gradient were all looked at and nothing disagrees; a name is given only where it accounts for the rows. */
import { inLanguage, type Pair, told } from '../language/language.ts';
import { figureName } from '../language/words.ts';
import type { CauseEntry } from './causes/cause.ts';
import { accountsFor } from './causes/cause.ts';
import { causeById } from './causes.ts';
import type { Check } from './check.ts';
import type { Area, CheckReport, Coverage, Finding, Open, Outcome, Remark, Unexplained, Verdict } from './diagnosis.ts';
import { figure, leaving, percent } from './diagnosis.ts';
import type { Run } from './evidence/run.ts';
import type { Ranked } from './explain.ts';
import { limits } from './limits.ts';

/** Below this a finding is a candidate and no cause. */
export const sure = limits.sure.value;

export interface Examined {
  check: Check;
  report: CheckReport;
  outcome: Outcome | null;
}

/** Checks that answer each of the three questions; any one of them will do. */
const deciding: Record<Area, readonly string[]> = {
  replay: ['replay', 'policy-replay', 'token-sampler', 'token-batch'],
  credit: ['credit', 'token-credit', 'token-returns', 'targets'],
  gradient: ['wiring', 'head-gradient', 'logp-gradient', 'direction', 'movement', 'token-loss'],
};
const questions: Record<Area, Pair> = {
  replay: ['whether the update replays what was sampled', '更新是否重放了所采样的内容'],
  credit: ['whether advantages are what rewards, values and ends give', '优势是否与奖励、价值和终止算出的一致'],
  gradient: ['whether the gradient moves the policy where the advantages point', '梯度是否按优势所指推动策略'],
};

export function coverage(run: Run, examined: readonly Examined[], problems: readonly string[]): Coverage {
  const rows: Record<Area, number> = { replay: 0, credit: 0, gradient: 0 };
  const gaps = problems.map((problem) =>
    told(`the recording has a fault of its own: ${problem}`, `记录本身有问题：${problem}`),
  );
  for (const area of Object.keys(deciding) as Area[]) {
    const asked = examined.filter(({ check }) => deciding[area].includes(check.id));
    if (asked.length === 0) continue;
    for (const { check, report } of asked) rows[area] = Math.max(rows[area], rowsOf(run, check, report));
    if (rows[area] >= limits.decidingRows.value) continue;
    const notes = asked.map(({ report }) => report.note).filter((note) => note !== undefined);
    const why =
      rows[area] > 0
        ? told(
            `only ${rows[area]} rows tell, and ${limits.decidingRows.value} are needed`,
            `只有 ${rows[area]} 行能说明，而需要 ${limits.decidingRows.value} 行`,
          )
        : (notes[0] ?? told('no row tells', '没有哪一行能说明'));
    gaps.push(told(`it is not known ${questions[area][0]}: ${why}`, `不知道${questions[area][1]}：${why}`));
  }
  for (const agent of run.unrecorded())
    gaps.push(
      told(
        `the updates of ${run.agentName(agent)} were not recorded, although its rows were`,
        `没有录下 ${run.agentName(agent)} 的更新，尽管录下了它的行`,
      ),
    );
  if (run.misrecorded) gaps.unshift(run.misrecorded);
  const { stopped } = run.manifest.recorder ?? {};
  if (stopped)
    gaps.push(
      told(
        `the recorder stopped in iteration ${stopped.iteration} (${stopped.reason})`,
        `记录器在第 ${stopped.iteration} 次迭代停止（${stopped.reason}）`,
      ),
    );
  return { rows, gaps };
}

/** Rows that a check looked at; where it counts steps, the rows of the updates. */
function rowsOf(run: Run, check: Check, { status, measured }: CheckReport): number {
  if (status === 'not-checked') return 0;
  if (measured.rows !== undefined) return Number(measured.rows);
  return check.group === 'gradient' ? (run.rows.replays ?? run.rows.steps ?? 0) : 0;
}

/** A reading that misleads harms the training only where something obeys it. */
export function isRemark(run: Run, examined: readonly Examined[], finding: Finding): boolean {
  // A loss that no formula gives may be the loss itself; only a gradient that agrees with the rows shows that it was just told wrongly.
  if (finding.reading === 'policy_loss')
    return examined.some(({ report }) => report.id === 'head-gradient' && report.status === 'pass');
  // Likewise a value loss, by the critic's.
  if (finding.reading === 'value_loss')
    return examined.some(({ report }) => report.id === 'critic-gradient' && report.status === 'pass');
  // A length that is clipped by, and a KL that is stopped by.
  const obeyed = finding.reading === 'max_grad_norm' || (finding.reading === 'approx_kl' && klDrives(run));
  return causeById(finding.cause)?.group === 'E' && !obeyed;
}

/** A stop or a learning rate that follows the KL that the program reports. */
function klDrives(run: Run): boolean {
  return run.number('target_kl') > 0 || /kl|adaptive/i.test(run.text('learning_rate_schedule') ?? '');
}

export function remarkOf(finding: Finding): Remark {
  const entry = causeById(finding.cause)!;
  return { id: finding.cause, summary: summaryOf(finding), remedy: told(entry.remedy, entry.chinese.remedy) };
}

/** What a finding says. In Chinese, where its check does not say it so itself, the cause's folder does, with what undoes it and the figures of its evidence. */
export function summaryOf({ cause, summary, told: said, transform, evidence }: Finding): string {
  if (said) return summary;
  const entry = causeById(cause)!;
  const [first] = evidence;
  const figures = Object.entries(first?.measured ?? {})
    .filter(([, value]) => typeof value === 'number')
    .map(([name, value]) => `${figureName(name)} ${value}`);
  const undone = transform ? `可由此还原：${inLanguage('zh', () => transform.describe())}。` : '';
  return told(summary, `${entry.chinese.meaning}${undone}${figures.length > 0 ? `实测：${figures.join('，')}。` : ''}`);
}

/** What the checks leave open, where no cause that was named accounts for it. */
export function unexplained(
  run: Run,
  examined: readonly Examined[],
  named: readonly Ranked[],
  unsure: readonly Finding[],
): Unexplained[] {
  const roots = named.map(({ finding }) => causeById(finding.cause)!);
  return examined.flatMap(({ check, report, outcome }): Unexplained[] => {
    if (!outcome || (report.status !== 'warn' && report.status !== 'fail')) return [];
    const doubted = outcome.findings.filter((finding) => unsure.some(({ cause }) => cause === finding.cause));
    const own = outcome.findings.length > doubted.length;
    // Of what was only remarked on nothing is open.
    if (report.status === 'warn' && outcome.findings.length > 0 && doubted.length === 0) return [];
    const open = outcome.open ?? (own ? null : openRows(outcome, doubted));
    if (!open) return [];
    if (!own && roots.some((root) => couldExplain(root, check))) return [];
    const points = outcome.points ?? examined.find((other) => beside(run, other, check))?.outcome?.points;
    return [describe(run, { check, report }, causesOf(run, check, examined), open, doubted, points)];
  });
}

/** Columns that only choices from a list have. */
const ofLists = /\.(action|logits|legal|subset|num_actions|temperature)$/;

const continuous = (run: Run) => run.seen.has('samples.action_values') && !run.seen.has('samples.action');

/** Whether a check looks at continuous actions where the other looks at all kinds. */
const beside = (run: Run, { check: { of, group } }: Examined, other: Check) =>
  continuous(run) && of === 'continuous' && group === other.group;

/** Causes of what a check found. Of continuous actions, those of densities that its group asks for come first, and what only lists have is none. */
function causesOf(run: Run, check: Check, examined: readonly Examined[]): readonly string[] {
  if (!continuous(run)) return check.causes;
  const others = examined.filter((other) => beside(run, other, check));
  const all = [...others.flatMap((other) => other.check.causes), ...check.causes];
  return [...new Set(all)].filter((id) => !causeById(id)?.choices);
}

/** Where a check that fails does not tell what it leaves open, its figures do. */
function openRows({ measured }: Outcome, [first]: readonly Finding[]): Open {
  const rows = Number(measured.disagreeing ?? first?.rows ?? 0);
  const looked = Number(measured.rows ?? measured.steps ?? 0);
  return { ...leaving(rows, looked), ...(first ? { onset: first.onset, agents: first.agents } : {}) };
}

function couldExplain(root: CauseEntry, check: Check): boolean {
  return check.causes.some((cause) => cause === root.id || accountsFor(root, causeById(cause)!));
}

function describe(
  run: Run,
  { check, report }: Pick<Examined, 'check' | 'report'>,
  causes: readonly string[],
  open: Open,
  doubted: readonly Finding[],
  points?: Outcome['points'],
): Unexplained {
  const missing = (id: string) =>
    (causeById(id)?.decidedBy ?? []).filter(
      (column) => !run.seen.has(column) && !(continuous(run) && ofLists.test(column)),
    );
  const doubts = doubted.flatMap(({ cause, instead = [] }) => [cause, ...instead]);
  const likely = [...new Set([...(points?.causes ?? []), ...doubts, ...(open.likely ?? [])])];
  const rest = causes.filter((id) => !likely.includes(id) && !open.excluded?.includes(id));
  const candidates = [
    ...likely,
    ...rest.filter((id) => missing(id).length > 0),
    ...rest.filter((id) => missing(id).length === 0),
  ];
  const votes = new Map<string, number>();
  for (const id of candidates) for (const column of missing(id)) votes.set(column, (votes.get(column) ?? 0) + 1);
  const agents = open.agents.length > 0 ? open.agents.map((agent) => run.agentName(agent)) : [...run.agents];
  const of =
    agents.length > 0 && agents.length < run.agents.length
      ? told(` of ${agents.join(', ')}`, `（${agents.join('、')}）`)
      : '';
  const onset = Number.isFinite(open.onset) ? open.onset : 0;
  const note = report.note ? told(` (${report.note})`, `（${report.note}）`) : '';
  const many = open.rows.toLocaleString('en-US');
  return {
    check: check.id,
    rows: open.rows,
    share: Number(figure(open.share)),
    onset,
    agents,
    summary: told(
      `${check.question[0]} Not on ${many} rows${of} (${percent(open.share)}), since iteration ${onset}; no cause that is known accounts for them${note}.`,
      `${check.question[1]}自第 ${onset} 次迭代起，有 ${many} 行${of}（${percent(open.share)}）不是；没有已知的原因能解释它们${note}。`,
    ),
    candidates,
    to_decide: points
      ? points.columns.filter((column) => !run.seen.has(column))
      : [...votes].sort((a, b) => b[1] - a[1]).map(([column]) => column),
  };
}

export function verdictOf(causes: number, open: readonly Unexplained[], covered: Coverage): Verdict {
  if (causes > 0) return 'faulty';
  if (open.length > 0) return 'unexplained';
  return covered.gaps.length > 0 ? 'not-enough-evidence' : 'healthy';
}
