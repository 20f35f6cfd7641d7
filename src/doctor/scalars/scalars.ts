/** What a log alone can tell: symptoms, the causes that fit, those that cannot be, and what to record to decide. Nothing here is proof, so no verdict comes of it. */
import { told } from '../../language/language.ts';
import type { Recording } from '../../recording/recording.ts';
import { causeById } from '../causes.ts';
import { checks } from '../checks/index.ts';
import type { CheckReport, Figures, Finding } from '../diagnosis.ts';
import { figure } from '../diagnosis.ts';
import type { Run } from '../evidence/run.ts';
import { type Candidate, conclude, type RuledOut } from './candidates.ts';
import { notes } from './notes.ts';
import { readOwners } from './series.ts';
import type { Seen } from './symptom.ts';
import { acrossAgents, agentsApart } from './symptoms/agents.ts';
import { symptoms as allSymptoms } from './symptoms/index.ts';
import { View } from './view.ts';

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
  /** The column's numbers, thinned for drawing. */
  curve: { step: (number | null)[]; value: number[] };
  /** Causes that would look like this, the likeliest first. */
  suggests: string[];
  /** The columns of a recording that would prove or rule out the first of them. */
  record_next: string[];
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
  /** The most decisive first. */
  symptoms: Symptom[];
  /** What is worth knowing and no symptom. */
  notes: string[];
  ruled_out: RuledOut[];
  record_next: RecordNext[];
  /** Columns that were not understood, and what they may be. */
  not_understood: { name: string; guesses: string[] }[];
  /** What nothing in the log could show, because it has no such figure, or has it under a name that was not understood. */
  not_looked_for: string[];
}

export interface FromScalars {
  findings: Finding[];
  reading: ScalarReading;
  report: CheckReport;
}

export async function fromScalars(recording: Recording, run: Run): Promise<FromScalars> {
  const { owners, unknown } = await readOwners(recording, run);
  const views = owners.map((owner) => new View(owner, run));
  const apart = acrossAgents(views, (agent) => run.agentName(agent));
  const across: Seen[] = apart ? [{ ...apart.found, symptom: agentsApart, agent: apart.agent }] : [];
  const readings = views.map((view) => conclude(view, across));
  const findings = mergeCandidates(readings.flatMap((reading) => reading.candidates));
  const next = recordNext(findings);
  const seen = mergeSymptoms(readings, run, next);
  const ruledOut = readings[0].ruledOut.filter(({ id }) =>
    readings.every((reading) => reading.ruledOut.some((other) => other.id === id)),
  );
  const figures = owners.flatMap((owner) => owner.all());
  const updates = Math.max(0, ...figures.filter(({ metric }) => metric !== 'return').map(({ value }) => value.length));
  const has = new Set(figures.map(({ metric }) => metric));
  const lacking = allSymptoms.filter(({ reads }) => !reads.some((metric) => has.has(metric)));
  const reading: ScalarReading = {
    metrics: Object.fromEntries(figures.map(({ name, metric }) => [name, metric])),
    updates,
    symptoms: seen,
    notes: notes(views, owners, updates, findings.length),
    ruled_out: ruledOut,
    record_next: next,
    not_understood: unknown,
    not_looked_for: [...new Set(lacking.map(({ looksFor }) => told(...looksFor)))],
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

/** Points that a drawn curve has at most. */
const drawn = 120;

/** The same symptom of several agents is one. */
function mergeSymptoms(
  readings: readonly { seen: readonly Seen[]; candidates: readonly Candidate[] }[],
  run: Run,
  next: readonly RecordNext[],
): Symptom[] {
  const merged = new Map<string, { symptom: Symptom; order: number }>();
  for (const { seen, candidates } of readings) {
    for (const one of seen) {
      const { symptom, agent, from, onset, sentence, measured, expected } = one;
      // Each agent's column of one figure has a name of its own.
      const key = `${symptom.id} ${agent < 0 ? from.series.name : from.series.metric}`;
      const agents = agent < 0 ? [] : [run.agentName(agent)];
      const other = merged.get(key)?.symptom;
      if (other) {
        other.agents = [...new Set([...other.agents, ...agents])];
        other.onset = Math.min(other.onset, onset);
        continue;
      }
      const { step, value } = from.thinned(drawn);
      const suggests = candidates.filter(({ because }) => because === one).map(({ cause }) => cause);
      const proof = next.find(({ decides }) => decides.includes(suggests[0]));
      merged.set(key, {
        order: allSymptoms.indexOf(symptom),
        symptom: {
          id: symptom.id,
          metric: from.series.name,
          agents,
          onset,
          summary: sentence,
          measured,
          expected,
          curve: {
            step: step.map((at) => (Number.isFinite(at) ? at : null)),
            value: value.map((at) => Number(figure(at))),
          },
          suggests,
          record_next: proof?.columns ?? [],
        },
      });
    }
  }
  return [...merged.values()].sort((a, b) => a.order - b.order).map(({ symptom }) => symptom);
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
      told: true,
      summary: told(`Fits, and is not proved: ${because.sentence}.`, `符合，但未被证明：${because.sentence}。`),
      evidence: [{ check: 'scalars', measured: because.measured, expected: because.expected }],
    });
  }
  return [...merged.values()].filter(({ cause }) => causeById(cause)).sort((a, b) => b.confidence - a.confidence);
}

/** The checks that would decide between the candidates, the most deciding first. */
function recordNext(findings: readonly Finding[]): RecordNext[] {
  const out: (RecordNext & { worth: number })[] = [];
  for (const check of checks) {
    const decided = findings.filter(({ cause }) => check.causes.includes(cause));
    if (decided.length === 0) continue;
    out.push({
      check: check.id,
      question: told(...check.question),
      columns: check.needs.map((columns) => columns.join(told(' or ', ' 或 '))),
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
