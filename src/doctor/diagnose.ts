/** From a recording to a diagnosis: every check sees every iteration once, then causes are ranked and what they explain is filed under them. */
import { BadInput } from '../recording/bad-input.ts';
import type { Recording } from '../recording/recording.ts';
import { causeById } from './causes.ts';
import { type Check, fewestRows, type Pass } from './check.ts';
import { checks as allChecks } from './checks/index.ts';
import { policyReplay } from './checks/policy-replay.ts';
import type { Cause, CheckReport, Diagnosis, Finding, Verdict } from './diagnosis.ts';
import { figure } from './diagnosis.ts';
import { type Ranked, rank } from './explain.ts';
import { Iteration } from './iteration.ts';
import { measureInputs } from './observations.ts';
import { type OpenPolicy, PolicyReplayer } from './policy-replay.ts';
import { Run } from './run.ts';
import { runPolicies } from './run-policies.ts';
import { fromScalars, type ScalarReading } from './scalars/scalars.ts';
import { iterations } from './stream.ts';

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
  /** Runs the policies of `policies/*.onnx`, such as `await onnxRuntime()`; without it they are not run. */
  onnx?: OpenPolicy | null;
}

export async function diagnose(recording: Recording, options: DiagnoseOptions = {}): Promise<Diagnosis> {
  const run = new Run(recording.manifest);
  const chosen = choose(options.only);
  const agent = options.agent === undefined ? -1 : agentIndex(run, options.agent);
  for (const id of options.ignore ?? [])
    if (!causeById(id))
      throw new BadInput(`there is no cause ${JSON.stringify(id)} to ignore; \`trueline explain\` lists them all`);
  const passes = chosen.map((check) => ({ check, pass: check.start(run) }));
  await measureInputs(recording, run);
  const replayer =
    options.onnx && recording.snapshots.length > 0 ? new PolicyReplayer(recording, options.onnx, run) : null;
  if (replayer) run.seen.add('policies/*.onnx');
  for await (const slice of iterations(recording, replayer !== null)) {
    if (options.unfinished && slice.number === slice.last) break;
    const iteration = new Iteration(run, slice);
    if (replayer) await runPolicies(iteration, replayer, run);
    for (const { pass } of passes) pass.iteration(iteration);
    options.watch?.(iteration);
    options.progress?.(slice.number + 1, slice.last + 1);
  }
  await replayer?.dispose();
  const reports: CheckReport[] = [];
  const findings: Finding[] = [];
  for (const { check, pass } of passes) report(run, check, pass, reports, findings);
  const unrun = reports.find(({ id, status }) => id === policyReplay.id && status === 'not-checked');
  if (unrun && recording.snapshots.length > 0 && !options.onnx)
    unrun.note = 'the recording holds snapshots, and running them needs onnxruntime-web: npm install onnxruntime-web';
  const ranked = rank(
    findings.filter((finding) => agent < 0 || finding.agents.length === 0 || finding.agents.includes(agent)),
  );
  const causes = ranked.map((entry) => describe(run, entry));
  const ignored = causes.filter(({ id }) => options.ignore?.includes(id));
  const kept = causes.filter(({ id }) => !options.ignore?.includes(id));
  const most = Math.max(0, ...Object.values(run.rows));
  const enough = most >= fewestRows && hasEvidence(chosen, reports);
  let scalars: ScalarReading | undefined;
  if (!enough && kept.length === 0) {
    const told = recording.tables.includes('scalars') ? await fromScalars(recording, run) : null;
    if (told) {
      scalars = told.reading;
      reports.push(told.report);
      const fitting = told.findings.filter(({ cause }) => !options.ignore?.includes(cause));
      kept.push(...fitting.map((finding) => describe(run, { finding, explained: [] })));
    }
  }
  const sure = kept.some(({ confidence }) => confidence >= 0.4);
  const verdict: Verdict = enough
    ? sure
      ? 'faulty'
      : 'healthy'
    : sure && findings.length > 0
      ? 'faulty'
      : 'not-enough-evidence';
  return {
    format: 'trueline/diagnosis/1',
    verdict,
    causes: verdict === 'healthy' ? [] : kept,
    checks: reports,
    ...(ignored.length > 0 ? { ignored } : {}),
    ...(scalars ? { scalars } : {}),
  };
}

function choose(only: readonly string[] | undefined): readonly Check[] {
  if (!only) return allChecks;
  for (const id of only)
    if (!allChecks.some((check) => check.id === id))
      throw new BadInput(
        `there is no check ${JSON.stringify(id)}; the checks are ${allChecks.map((check) => check.id).join(', ')}`,
      );
  return allChecks.filter(({ id }) => only.includes(id));
}

function agentIndex(run: Run, name: string): number {
  const index = run.agents.indexOf(name);
  if (index < 0)
    throw new BadInput(
      `there is no agent ${JSON.stringify(name)} in this recording; it has ${run.agents.join(', ') || 'no named agents'}`,
    );
  return index;
}

function report(run: Run, check: Check, pass: Pass, reports: CheckReport[], findings: Finding[]): void {
  const missing = check.needs.filter((columns) => !columns.some((column) => run.seen.has(column)));
  const needs = check.needs.map((columns) => columns.join(' or '));
  if (missing.length > 0) {
    const note = `needs ${missing.map((columns) => columns.join(' or ')).join(' and ')}`;
    reports.push({ id: check.id, status: 'not-checked', needs, measured: {}, expected: {}, note });
    // All NaN is not "known", and yet it is what this check is there to find.
    if (check.id !== 'finite') return;
  }
  const outcome = pass.finish();
  if (missing.length > 0 && outcome.findings.length === 0) return;
  if (missing.length > 0) reports.pop();
  const { status, measured, expected, note } = outcome;
  reports.push({ id: check.id, status, needs, measured, expected, ...(note ? { note } : {}) });
  findings.push(...outcome.findings);
}

/** Too little could be checked where neither the replay nor the credit nor the gradient could. */
function hasEvidence(chosen: readonly Check[], reports: readonly CheckReport[]): boolean {
  return chosen.some(
    ({ id, group }) =>
      (group === 'replay' || group === 'credit' || group === 'gradient' || chosen.length < 4) &&
      reports.some((report) => report.id === id && report.status !== 'not-checked'),
  );
}

function describe(run: Run, { finding, explained }: Ranked): Cause {
  const cause = causeById(finding.cause)!;
  const everyone = finding.agents.length === 0 ? [...run.agents] : finding.agents.map((agent) => run.agentName(agent));
  const symptoms = [...explained.map((other) => other.summary), ...(explained.length > 0 ? [] : cause.symptoms)];
  return {
    id: finding.cause,
    confidence: finding.confidence,
    agents: everyone,
    onset: Number.isFinite(finding.onset) ? finding.onset : 0,
    rows: finding.rows,
    ...(finding.transform ? { transform: finding.transform } : {}),
    ...(finding.before !== undefined && Number.isFinite(finding.before)
      ? { residual_before: Number(figure(finding.before)) }
      : {}),
    ...(finding.after !== undefined && Number.isFinite(finding.after)
      ? { residual_after: Number(figure(finding.after)) }
      : {}),
    summary: finding.summary,
    evidence: finding.evidence,
    symptoms,
    remedy: cause.remedy,
  };
}
