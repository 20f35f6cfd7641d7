/** From a recording to a diagnosis: every check sees every iteration once, then causes are ranked and what they explain is filed under them. */
import { told } from '../language/language.ts';
import { BadInput } from '../recording/bad-input.ts';
import type { Recording } from '../recording/recording.ts';
import { causeById } from './causes.ts';
import type { Check, Pass } from './check.ts';
import { readReturns } from './checks/credit/episode-returns.ts';
import { checks as allChecks } from './checks/index.ts';
import { lackingNote } from './checks/lacking.ts';
import { policyReplay } from './checks/replay/policy-replay.ts';
import type { Cause, Diagnosis } from './diagnosis.ts';
import { figure } from './diagnosis.ts';
import { ColumnSlips } from './evidence/column-slips.ts';
import { Iteration } from './evidence/iteration.ts';
import { findNotFinite } from './evidence/not-finite.ts';
import { measureInputs } from './evidence/observations.ts';
import { type Reading, type ReadingOptions, read } from './evidence/reading/judged.ts';
import { Run } from './evidence/run.ts';
import { runPolicies } from './evidence/run-policies.ts';
import { RunReadings } from './evidence/run-readings.ts';
import { misnumbered, misnumberedText } from './evidence/sample-numbers.ts';
import { type Ranked, rank } from './explain.ts';
import { limits } from './limits.ts';
import { type OpenPolicy, PolicyReplayer } from './policy-replay.ts';
import type { Proof } from './proof.ts';
import { fromScalars, type ScalarReading } from './scalars/scalars.ts';
import { TokenEvidence } from './tokens/evidence.ts';
import { coverage, type Examined, isRemark, remarkOf, summaryOf, sure, unexplained, verdictOf } from './verdict.ts';

export interface DiagnoseOptions {
  /** Ids of the checks to run; all without it. */
  only?: readonly string[];
  /** Name of the agent to speak of; all without it. */
  agent?: string;
  /** Ids of causes that the caller has accepted; they are listed under `ignored`. */
  ignore?: readonly string[];
  /** Hears of every iteration as it is read, and how many there are. */
  progress?: (done: number, all: number) => void;
  /** The run is still being written: its last iteration may be there in part only, and is left out. */
  unfinished?: boolean;
  /** Sees every iteration after the checks have, to draw from it; it may keep figures, never the rows. */
  watch?: (iteration: Iteration) => void;
  /** Hears of the rows that prove a cause, by its id, to draw them. */
  prove?: (cause: string, proof: Proof) => void;
  /** Hears of what was gathered of a language model, to draw from it. */
  tokens?: (evidence: TokenEvidence) => void;
  /** Reads the rows, such as in a thread of its own; here and now without it. */
  read?: (recording: Recording, options: ReadingOptions) => Reading;
  /** Runs the policies of `policies/*.onnx`, such as `await onnxRuntime()`; without it they are not run. */
  onnx?: OpenPolicy | null;
}

export async function diagnose(recording: Recording, options: DiagnoseOptions = {}): Promise<Diagnosis> {
  const run = new Run(recording.manifest);
  const tokens = await ofTokens(recording);
  if (tokens) run.tokens = new TokenEvidence(run);
  const buffered = recording.tables.includes('targets');
  const alone = buffered && !recording.tables.includes('replays');
  const chosen = choose(options.only).filter((check) => asked(check, tokens, buffered, alone));
  const agent = options.agent === undefined ? -1 : agentIndex(run, options.agent);
  for (const id of options.ignore ?? [])
    if (!causeById(id))
      throw new BadInput(
        told(
          `there is no cause ${JSON.stringify(id)} to ignore; \`trueline explain\` lists them all`,
          `没有可忽略的原因 ${JSON.stringify(id)}；\`trueline explain\` 列出全部`,
        ),
      );
  const passes = chosen.map((check) => ({ check, pass: check.start(run) }));
  const readings = new RunReadings(run);
  const slips = new ColumnSlips(run);
  await measureInputs(recording, run);
  // A table that cannot be read is told of by the judge.
  await readReturns(recording, run).catch(() => run.returns.clear());
  run.notFinite = await findNotFinite(recording).catch(() => []);
  const replayer =
    options.onnx && recording.snapshots.length > 0 ? new PolicyReplayer(recording, options.onnx, run) : null;
  if (replayer) run.seen.add('policies/*.onnx');
  const withInputs = replayer !== null;
  const reading = (options.read ?? read)(recording, { withInputs, unfinished: options.unfinished ?? false });
  for await (const slice of reading.slices) {
    const iteration = new Iteration(run, slice);
    const numbers = run.tokens ? null : misnumbered(iteration);
    if (numbers) {
      iteration.renumber(numbers.sample);
      run.misrecorded ??= misnumberedText(numbers, slice.number);
    }
    if (!run.tokens) slips.undo(iteration);
    if (replayer) await runPolicies(iteration, replayer, run);
    for (const { pass } of passes) pass.iteration(iteration);
    if (run.tokens) run.tokens.iteration(iteration);
    else readings.iteration(iteration);
    options.watch?.(iteration);
    options.progress?.(slice.number + 1, slice.last + 1);
  }
  await replayer?.dispose();
  if (run.tokens) options.tokens?.(run.tokens);
  const examined = passes.map(({ check, pass }) => examine(run, check, pass)).filter((one) => applies(run, one));
  const unrun = examined.find(({ report }) => report.id === policyReplay.id && report.status === 'not-checked');
  if (unrun && recording.snapshots.length > 0 && !options.onnx)
    unrun.report.note = told(
      'the recording holds snapshots, and running them needs onnxruntime-web: npm install onnxruntime-web',
      '记录含有快照，运行它们需要 onnxruntime-web：npm install onnxruntime-web',
    );
  const problems = [...(await reading.problems())];
  const covered = coverage(run, examined, problems);
  const { named, ignored, unsure, remarks } = sort(run, examined, agent, options.ignore ?? []);
  const open = unexplained(run, examined, [...named, ...ignored], unsure);
  for (const { finding } of named) if (finding.proof) options.prove?.(finding.cause, finding.proof);
  const causes = named.map((entry, i) => describe(run, entry, i === 0 ? readings.symptoms() : []));
  const reports = examined.map(({ report }) => report);
  let scalars: ScalarReading | undefined;
  const silent = named.length + open.length + problems.length === 0;
  // Of a recording that has only begun, rows are to come: it is no log.
  const begun = options.unfinished && recording.tables.includes('samples');
  if (covered.gaps.length > 0 && silent && !begun && recording.tables.includes('scalars')) {
    const log = await fromScalars(recording, run);
    scalars = log.reading;
    reports.push(log.report);
    const fitting = log.findings.filter(({ cause }) => !options.ignore?.includes(cause));
    causes.push(...fitting.map((finding) => describe(run, { finding, explained: [] }, [])));
  }
  return {
    format: 'trueline/diagnosis/2',
    verdict: verdictOf(named.length, open, covered),
    causes,
    unexplained: open,
    remarks,
    cleared: [...readings.cleared(), ...examined.flatMap(({ outcome }) => outcome?.cleared ?? [])],
    checks: reports,
    coverage: covered,
    ...(options.unfinished ? { so_far: true } : {}),
    ...(problems.length > 0 ? { problems } : {}),
    ...(ignored.length > 0 ? { ignored: ignored.map((entry) => describe(run, entry, [])) } : {}),
    ...(scalars ? { scalars } : {}),
  };
}

/** What a program with a replay buffer has besides its targets: steps and tensors. */
const ofSteps = ['wiring', 'parameters', 'inputs', 'critic-gradient'];

/** Whether a check is asked of this kind of recording. */
function asked({ id, of = 'decisions' }: Check, tokens: boolean, buffered: boolean, alone: boolean): boolean {
  if (of === 'both') return true;
  if (of === 'targets') return buffered;
  if (of === 'tokens' || tokens) return (of === 'tokens') === tokens;
  return !alone || ofSteps.includes(id);
}

/** Whether decisions are tokens: the first rows say so. */
async function ofTokens(recording: Recording): Promise<boolean> {
  if (recording.tables.includes('responses')) return true;
  for await (const { present } of recording.chunks('samples', ['iteration'])) return present.includes('token');
  return false;
}

/** What is named, silenced, not sure enough to be named, or only worth a remark. */
function sort(run: Run, examined: readonly Examined[], agent: number, ignore: readonly string[]) {
  const findings = examined
    .flatMap(({ outcome }) => outcome?.findings ?? [])
    .filter(({ agents }) => agent < 0 || agents.length === 0 || agents.includes(agent))
    .filter(({ cause }) => !followsUnknown(examined, cause));
  const ranked = rank(findings.filter((finding) => !isRemark(run, examined, finding)));
  const certain = ranked.filter(({ finding }) => finding.confidence >= sure);
  const silenced = ({ finding }: Ranked) => ignore.includes(finding.cause);
  return {
    named: certain.filter((entry) => !silenced(entry)),
    ignored: certain.filter(silenced),
    unsure: ranked.filter(({ finding }) => finding.confidence < sure).map(({ finding }) => finding),
    remarks: [
      ...run.remarks,
      ...rank(findings.filter((finding) => isRemark(run, examined, finding) && !ignore.includes(finding.cause))).map(
        ({ finding }) => remarkOf(finding),
      ),
      ...examined.flatMap(({ outcome }) => outcome?.remarks ?? []),
    ],
  };
}

/** Ratios that are off 1 before the first step for an unknown reason account for their symptoms as a known one would. */
function followsUnknown(examined: readonly Examined[], cause: string): boolean {
  if (!causeById(cause)?.follows?.includes('ratio')) return false;
  return examined.some(({ check, outcome }) => {
    if (check.id !== 'replay' || !outcome) return false;
    const named = outcome.findings.some(({ confidence }) => confidence >= sure);
    const share = outcome.status === 'fail' && !named ? Number(outcome.measured.share) : outcome.open?.share;
    return (share ?? 0) >= limits.unknownRatio.value;
  });
}

function choose(only: readonly string[] | undefined): readonly Check[] {
  if (!only) return allChecks;
  for (const id of only)
    if (!allChecks.some((check) => check.id === id))
      throw new BadInput(
        told(
          `there is no check ${JSON.stringify(id)}; the checks are ${allChecks.map((check) => check.id).join(', ')}`,
          `没有检查 ${JSON.stringify(id)}；检查有 ${allChecks.map((check) => check.id).join(', ')}`,
        ),
      );
  return allChecks.filter(({ id }) => only.includes(id));
}

function agentIndex(run: Run, name: string): number {
  const index = run.agents.indexOf(name);
  if (index < 0)
    throw new BadInput(
      told(
        `there is no agent ${JSON.stringify(name)} in this recording; it has ${run.agents.join(', ') || 'no named agents'}`,
        `这份记录里没有智能体 ${JSON.stringify(name)}；其中有 ${run.agents.join('、') || '未命名的智能体'}`,
      ),
    );
  return index;
}

function examine(run: Run, check: Check, pass: Pass): Examined {
  const missing = check.needs.filter((columns) => !columns.some((column) => run.seen.has(column)));
  const needs = check.needs.map((columns) => columns.join(told(' or ', ' 或 ')));
  // All NaN is not "known", and yet it is what the check of finite numbers is there to find.
  const outcome = missing.length === 0 || check.id === 'finite' ? pass.finish() : null;
  if (!outcome || (missing.length > 0 && outcome.findings.length === 0)) {
    const note = lackingNote(run, check, missing);
    return {
      check,
      outcome: null,
      report: { id: check.id, status: 'not-checked', needs, measured: {}, expected: {}, note },
    };
  }
  const { status, measured, expected, note } = outcome;
  return {
    check,
    outcome,
    report: { id: check.id, status, needs, measured, expected, ...(note ? { note } : {}) },
  };
}

/** Nobody asks a run that only chooses how its Gaussians were scored, nor one that plans nothing what it believes: "not covered" would be wrong to say so. */
function applies(run: Run, { check, report }: Examined): boolean {
  if (report.status !== 'not-checked') return true;
  if (check.of === 'planners') return check.needs.flat().some((column) => run.seen.has(column));
  return check.of !== 'continuous' || !run.seen.has('samples.action');
}

function describe(run: Run, { finding, explained }: Ranked, measured: readonly string[]): Cause {
  const cause = causeById(finding.cause)!;
  // One language model is no agent among others: nobody needs its name.
  const alone = run.tokens !== null && run.agents.length === 1;
  const everyone = finding.agents.length > 0 ? finding.agents.map((agent) => run.agentName(agent)) : [...run.agents];
  return {
    id: finding.cause,
    confidence: finding.confidence,
    agents: alone ? [] : everyone,
    onset: Number.isFinite(finding.onset) ? finding.onset : 0,
    rows: finding.rows,
    ...(finding.transform ? { transform: finding.transform } : {}),
    ...(finding.before !== undefined && Number.isFinite(finding.before)
      ? { residual_before: Number(figure(finding.before)) }
      : {}),
    ...(finding.after !== undefined && Number.isFinite(finding.after)
      ? { residual_after: Number(figure(finding.after)) }
      : {}),
    summary: summaryOf(finding),
    evidence: finding.evidence,
    symptoms: [...explained.map(summaryOf), ...measured],
    remedy: told(cause.remedy, cause.chinese.remedy),
  };
}
