/** What a log alone can tell: symptoms, the causes that fit, those that cannot be, and what to record to decide. Nothing here is proof, so no verdict comes of it. */
import type { Recording } from '../../recording/recording.ts';
import { causeById } from '../causes.ts';
import { checks } from '../checks/index.ts';
import type { CheckReport, Figures, Finding } from '../diagnosis.ts';
import { figure } from '../diagnosis.ts';
import type { Run } from '../run.ts';
import { type Candidate, conclude, type RuledOut } from './candidates.ts';
import { type Owner, readOwners } from './series.ts';
import { fewestUpdates, type Seen, View } from './symptoms.ts';

export interface Symptom {
  id: string;
  /** The column of the log that shows it. */
  metric: string;
  agents: string[];
  /** The log's step at which it is first seen. */
  onset: number;
  summary: string;
  measured: Figures;
  expected: Figures;
}

export interface RecordNext {
  /** The check that these columns make possible. */
  check: string;
  question: string;
  columns: string[];
  /** Causes that it would prove or rule out. */
  decides: string[];
}

/** The part of a diagnosis that speaks of a log. */
export interface ScalarReading {
  /** Metrics that were recognised, by the log's names. */
  metrics: Record<string, string>;
  updates: number;
  symptoms: Symptom[];
  /** What is worth knowing and no symptom. */
  notes: string[];
  ruled_out: RuledOut[];
  record_next: RecordNext[];
}

export interface FromScalars {
  findings: Finding[];
  reading: ScalarReading;
  report: CheckReport;
}

export async function fromScalars(recording: Recording, run: Run): Promise<FromScalars> {
  const owners = await readOwners(recording, run);
  const views = owners.map((owner) => new View(owner, run));
  const readings = views.map(conclude);
  const seen = mergeSymptoms(
    readings.flatMap((reading) => reading.seen),
    run,
  );
  const findings = mergeCandidates(readings.flatMap((reading) => reading.candidates));
  const ruledOut = readings[0].ruledOut.filter(({ id }) =>
    readings.every((reading) => reading.ruledOut.some((other) => other.id === id)),
  );
  const updates = Math.max(
    0,
    ...owners.flatMap((owner) =>
      owner
        .all()
        .filter(({ metric }) => metric !== 'return')
        .map(({ value }) => value.length),
    ),
  );
  const reading: ScalarReading = {
    metrics: Object.fromEntries(owners.flatMap((owner) => owner.all().map(({ name, metric }) => [name, metric]))),
    updates,
    symptoms: seen,
    notes: notes(views, owners, updates, findings),
    ruled_out: ruledOut,
    record_next: recordNext(findings),
  };
  const measured = { symptoms: seen.length, metrics: Object.keys(reading.metrics).length, updates };
  return {
    findings,
    reading,
    report: {
      id: 'scalars',
      status: seen.length > 0 ? 'warn' : 'pass',
      needs: ['scalars.value'],
      measured,
      expected: { symptoms: 0 },
    },
  };
}

/** The same symptom of several agents is one. */
function mergeSymptoms(seen: readonly Seen[], run: Run): Symptom[] {
  const merged = new Map<string, Symptom>();
  for (const { id, agent, metric, onset, sentence, measured, expected } of seen) {
    const key = `${id} ${metric}`;
    const other = merged.get(key);
    const agents = agent < 0 ? [] : [run.agentName(agent)];
    if (other) {
      other.agents = [...new Set([...other.agents, ...agents])];
      other.onset = Math.min(other.onset, onset);
    } else merged.set(key, { id, metric, agents, onset, summary: sentence, measured, expected });
  }
  return [...merged.values()];
}

function mergeCandidates(candidates: readonly Candidate[]): Finding[] {
  const merged = new Map<string, Finding>();
  for (const { cause, confidence, because } of candidates) {
    const other = merged.get(cause);
    const agents = because.agent < 0 ? [] : [because.agent];
    if (other) {
      other.agents = [...new Set([...other.agents, ...agents])].sort((a, b) => a - b);
      other.confidence = Math.max(other.confidence, confidence);
      continue;
    }
    merged.set(cause, {
      cause,
      confidence,
      agents,
      onset: 0,
      rows: 0,
      summary: `Fits, and is not proved: ${because.sentence}.`,
      evidence: [{ check: 'scalars', measured: because.measured, expected: because.expected }],
    });
  }
  return [...merged.values()].filter(({ cause }) => causeById(cause)).sort((a, b) => b.confidence - a.confidence);
}

function notes(
  views: readonly View[],
  owners: readonly Owner[],
  updates: number,
  findings: readonly Finding[],
): string[] {
  const out: string[] = [];
  const [first] = views;
  if (updates < fewestUpdates) out.push(`The log has ${updates} updates; trends are read from ${fewestUpdates} on.`);
  if (views.some(({ nothingToChoose }) => nothingToChoose))
    out.push(
      'The entropy is 0 from the first update on: there was nothing to choose, or the policy had collapsed before the log begins.',
    );
  const { kl } = first;
  const zero = kl?.share((value) => Math.abs(value) < 1e-6) === 1;
  if (zero && first.stepsPerBatch === 1)
    out.push(`${kl.series.name} is 0, as it must be with one optimiser step per batch.`);
  else if (zero && Number.isNaN(first.stepsPerBatch))
    out.push(
      'A KL of 0 is healthy with one optimiser step per batch; the log does not say how many there are. If there is one: --setting epochs=1 --setting minibatches=1.',
    );
  const flat = views.filter(
    ({ returns, improved }) => returns && returns.count >= fewestUpdates && !improved && Math.abs(returns.rise) < 2,
  );
  if (flat.length > 0 && findings.length === 0)
    out.push(
      `${flat[0].returns!.series.name} does not rise over ${flat[0].returns!.count} points, and nothing else in this log tells why. Rows would: a log cannot show whether credit belongs to its samples.`,
    );
  const ranking = ranked(owners);
  if (ranking) out.push(ranking);
  return out;
}

/** Ordered by the agents' number, from the first to the last, without exception: worth a look over seeds, and in one run no evidence. */
function ranked(owners: readonly Owner[]): string | undefined {
  const late = owners.map((owner) => owner.get('return', fewestUpdates)).map((figures) => figures?.late);
  if (owners.length < 3 || late.some((values) => !values)) return undefined;
  const means = late.map((values) => values!.reduce((a, b) => a + b) / values!.length);
  const down = means.every((value, i) => i === 0 || value < means[i - 1]);
  const up = means.every((value, i) => i === 0 || value > means[i - 1]);
  if (!down && !up) return undefined;
  return `Late returns are in the order of the agents' numbers (${means.map((value) => figure(value)).join(', ')}). One run in ${factorial(owners.length) / 2} does that by chance; trueline symmetry asks several seeds.`;
}

const factorial = (n: number): number => (n <= 1 ? 1 : n * factorial(n - 1));

/** The checks that would decide between the candidates, the most deciding first. */
function recordNext(findings: readonly Finding[]): RecordNext[] {
  const out: (RecordNext & { worth: number })[] = [];
  for (const check of checks) {
    const decided = findings.filter(({ cause }) => check.causes.includes(cause));
    if (decided.length === 0) continue;
    out.push({
      check: check.id,
      question: check.question,
      columns: check.needs.map((columns) => columns.join(' or ')),
      decides: decided.map(({ cause }) => cause),
      worth: decided.reduce((sum, { confidence }) => sum + confidence, 0),
    });
  }
  out.sort((a, b) => b.worth - a.worth);
  // A check whose causes are all decided by those before it adds nothing.
  const decided = new Set<string>();
  return out.flatMap(({ worth: _, ...next }) => {
    if (next.decides.every((id) => decided.has(id))) return [];
    for (const id of next.decides) decided.add(id);
    return [next];
  });
}
