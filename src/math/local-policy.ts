/** The one function that turns logits into probabilities. Candidates are gathered in the order of the row's subset; an illegal one has probability 0. */

export type Floats = Float32Array | Float64Array;

/** Where a distribution is written; each array has room for the row's candidates from `at` on. */
export interface LocalPolicy {
  logProbabilities: Float64Array;
  probabilities: Float64Array;
}

export function localPolicyBuffer(candidates: number): LocalPolicy {
  return { logProbabilities: new Float64Array(candidates), probabilities: new Float64Array(candidates) };
}

/** Parts of longer columns, so that a loop over rows allocates nothing. */
export interface LocalRange {
  /** Number of candidates; all of `candidates` (or of `logits`, without candidates) when absent. */
  count?: number;
  /** First entry of the row in `candidates` and `legal`, and in `logits` where these are local. */
  start?: number;
  /** First entry of the row in global `logits`. */
  logitsStart?: number;
  /** First entry written. */
  at?: number;
}

/**
 * Fills `out` with the masked softmax of logits / temperature and returns its entropy in nats. Without `candidates` the logits are the
 * row's own already; without `legal` every candidate is legal. With no legal candidate every log-probability is minus infinity.
 */
export function localPolicy(
  logits: ArrayLike<number>,
  candidates: ArrayLike<number> | null,
  legal: ArrayLike<number | boolean> | null,
  temperature: number,
  out: LocalPolicy,
  range: LocalRange = {},
): number {
  if (!(temperature > 0)) throw new RangeError(`temperature is ${temperature}; it must be above 0.`);
  const start = range.start ?? 0;
  const count = range.count ?? (candidates ?? logits).length - start;
  const base = candidates ? (range.logitsStart ?? 0) : start;
  const at = range.at ?? 0;
  const { logProbabilities, probabilities } = out;
  let largest = -Infinity;
  for (let i = 0; i < count; i++) {
    let z = -Infinity;
    if (!legal || legal[start + i]) {
      z = logits[candidates ? base + candidates[start + i] : base + i] / temperature;
      if (!(z <= largest)) largest = z;
    }
    logProbabilities[at + i] = z;
  }
  if (largest === -Infinity) {
    probabilities.fill(0, at, at + count);
    return 0;
  }
  let sum = 0;
  for (let i = at; i < at + count; i++) sum += Math.exp(logProbabilities[i] - largest);
  const logSum = Math.log(sum);
  let entropy = 0;
  for (let i = at; i < at + count; i++) {
    const logp = logProbabilities[i] - largest - logSum;
    const probability = Math.exp(logp);
    logProbabilities[i] = logp;
    probabilities[i] = probability;
    if (logp > -Infinity) entropy -= probability * logp;
    else if (Number.isNaN(logp)) entropy = Number.NaN;
  }
  return entropy;
}

let scratch = localPolicyBuffer(16);

function scratchFor(count: number): LocalPolicy {
  if (scratch.probabilities.length < count) scratch = localPolicyBuffer(2 * count);
  return scratch;
}

/** Log-probability of one action, given as an index into the row's candidates; minus infinity where it is illegal or none of them. */
export function logProbability(
  logits: ArrayLike<number>,
  candidates: ArrayLike<number> | null,
  legal: ArrayLike<number | boolean> | null,
  action: number,
  temperature = 1,
): number {
  const count = (candidates ?? logits).length;
  const buffer = scratchFor(count);
  localPolicy(logits, candidates, legal, temperature, buffer);
  return action >= 0 && action < count ? buffer.logProbabilities[action] : -Infinity;
}

export function entropy(
  logits: ArrayLike<number>,
  candidates: ArrayLike<number> | null,
  legal: ArrayLike<number | boolean> | null,
  temperature = 1,
): number {
  return localPolicy(logits, candidates, legal, temperature, scratchFor((candidates ?? logits).length));
}

/** The first candidate at which the running sum of probabilities passes `uniform` of the whole; never one of probability 0, and -1 if all are. */
export function sampleIndex(probabilities: Floats, uniform: number, at = 0, count = probabilities.length - at): number {
  let total = 0;
  for (let i = at; i < at + count; i++) total += probabilities[i];
  const target = uniform * total;
  let running = 0;
  let chosen = -1;
  for (let i = 0; i < count; i++) {
    const share = probabilities[at + i];
    if (!(share > 0)) continue;
    chosen = i;
    running += share;
    if (running > target) break;
  }
  return chosen;
}
