/** Which findings are symptoms of which, and what to fix first. The relation itself stands in the causes' folders; here are only the exceptions that need the figures of a finding. */

import { accountsFor, type CauseEntry } from './causes/cause.ts';
import { causeById } from './causes.ts';
import type { Finding } from './diagnosis.ts';
import { limits } from './limits.ts';

export interface Ranked {
  finding: Finding;
  /** Findings that this one accounts for. */
  explained: Finding[];
}

/** One entry per independent cause, what to fix first leading. */
export function rank(findings: readonly Finding[]): Ranked[] {
  const merged = mergeByCause(findings);
  const order = (finding: Finding) => entry(finding).place;
  const accounts = (a: Finding, b: Finding) => {
    // What happened to some agents says nothing of others.
    if (a.agents.length > 0 && b.agents.length > 0 && !a.agents.some((agent) => b.agents.includes(agent))) return false;
    // Noise that a second pass shows is noise whatever else moves; noise that is only inferred may be a policy that was changed.
    if (
      a.cause === 'parameters-overwritten' &&
      b.cause === 'stochastic-forward' &&
      b.confidence > limits.shownNoise.value
    )
      return false;
    if (a.cause === 'stochastic-forward' && b.cause === 'parameters-overwritten')
      return a.confidence > limits.shownNoise.value;
    // A figure that a known slip reproduces exactly is misreported, whatever else is wrong.
    if (b.cause === 'metric-misreported' && b.transform !== undefined) return false;
    // So does a sign that turns every row right; only another pairing of the rows could have made it.
    if (b.cause === 'advantage-sign-flipped' && b.transform !== undefined && entry(a).family !== 'pairing')
      return false;
    // Decay flattens a head; only a head that something squeezes leaves nothing but decay.
    if (a.cause === 'policy-head-flat' && b.cause === 'weight-decay-pull' && !squeezed(a)) return false;
    // What accounts for a few of a check's rows is not what made all of them.
    if (minor(a, b)) return false;
    // What was not finite before the first update cannot come from updates, and leaves nothing to infer from them.
    if (spoiled(b)) return false;
    if (spoiled(a) && b.after === undefined) return true;
    return accountsFor(entry(a), entry(b));
  };
  for (const finding of merged) entry(finding);
  const sorted = [...merged].sort((a, b) => order(a) - order(b));
  const roots = sorted.filter(
    (finding) =>
      !sorted.some(
        (other) =>
          other !== finding &&
          accounts(other, finding) &&
          // Where each could account for the other, the one nearer the beginning of the flow does.
          (!accounts(finding, other) || order(other) < order(finding)) &&
          other.confidence >= limits.asSure.value * finding.confidence &&
          other.onset <= finding.onset + 1,
      ),
  );
  const leading = roots.length > 0 ? roots : sorted.slice(0, 1);
  const level = (confidence: number) =>
    confidence >= limits.firstRank.value ? 0 : confidence >= limits.secondRank.value ? 1 : 2;
  return leading
    .map((finding) => ({
      finding,
      explained: sorted.filter((other) => !leading.includes(other) && accounts(finding, other)),
    }))
    .sort(
      ({ finding: a }, { finding: b }) =>
        level(a.confidence) - level(b.confidence) || Number(minor(a, b)) - Number(minor(b, a)) || order(a) - order(b),
    );
}

/** Whether `a` accounts for far fewer rows than `b` of those that one and the same check could not agree with. */
function minor(a: Finding, b: Finding): boolean {
  const check = a.evidence[0]?.check;
  return check !== undefined && check === b.evidence[0]?.check && a.rows < limits.minor.value * b.rows;
}

/** A cause without a folder is a mistake in the program, and must not be ranked anywhere by accident. */
function entry({ cause }: Finding): CauseEntry {
  const found = causeById(cause);
  if (!found) throw new Error(`a check found ${cause}, which is not in causes.ts`);
  return found;
}

/** Steps that move the head's parameters hardly move its scores. */
function squeezed({ evidence }: Finding): boolean {
  return Object.entries(evidence[0]?.measured ?? {}).some(
    ([name, value]) => name.endsWith('.squashed') && value === true,
  );
}

/** Samples of the first iteration are no numbers. */
function spoiled({ cause, onset, evidence }: Finding): boolean {
  return cause === 'non-finite' && onset === 0 && String(evidence[0]?.measured.first_column).startsWith('samples.');
}

/** Several checks may find one cause: the surest speaks, the others add evidence. */
function mergeByCause(findings: readonly Finding[]): Finding[] {
  const byCause = new Map<string, Finding>();
  for (const finding of [...findings].sort((a, b) => b.confidence - a.confidence)) {
    const first = byCause.get(finding.cause);
    if (!first) {
      byCause.set(finding.cause, { ...finding, evidence: [...finding.evidence] });
      continue;
    }
    first.evidence.push(...finding.evidence);
    first.onset = Math.min(first.onset, finding.onset);
    if (!first.transform && finding.transform) {
      first.transform = finding.transform;
      first.proof = finding.proof;
      first.before = finding.before;
      first.after = finding.after;
    }
    if (first.agents.length > 0)
      first.agents =
        finding.agents.length > 0
          ? [...new Set([...first.agents, ...finding.agents])].sort((a, b) => a - b)
          : first.agents;
    else first.agents = finding.agents;
  }
  return [...byCause.values()];
}
