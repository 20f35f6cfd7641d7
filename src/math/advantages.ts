/** Generalised advantage estimation over chains of rows, with the ways in which ends are commonly misread. `asRecorded` is the right one; the others exist to recognise faults. */
import type { Chains } from './chains.ts';

type Numbers = ArrayLike<number>;

export interface CreditInputs {
  chains: Chains;
  reward: Numbers;
  value: Numbers;
  /** 1 where the episode ended by its rules; anything but 1 is no end. */
  terminated: Numbers;
  truncated: Numbers | null;
  /** NaN where it is not known. */
  nextValue: Numbers | null;
  /** The credit of rows that enter no loss, as the program gave it; NaN for all others. */
  given?: Numbers | null;
}

export type EndRule =
  | 'asRecorded'
  | 'ignored'
  | 'carryIgnored'
  | 'valueIgnored'
  | 'lastIgnored'
  | 'early'
  | 'late'
  | 'earlyWithin'
  | 'lateWithin'
  | 'lateBeside'
  | 'earlyBeside'
  | 'lateAlike'
  | 'earlyAlike'
  | 'truncationTerminates'
  | 'cutTerminates'
  | 'allTerminate'
  | 'terminationBootstraps'
  | 'ignoredBeside'
  | 'valueIgnoredBeside'
  | 'ignoredAfterOwn'
  | 'carryEarly'
  | 'carryLate';

/** The discount, and how far rewards are looked ahead: by a trace that fades with lambda, or for so many `steps` and no further. */
export interface CreditFigures {
  gamma: number;
  lambda: number;
  steps?: number;
}

/** For every row: the row whose credit it carries (or -1), and what it bootstraps. */
export interface Flow {
  carry: Int32Array;
  boot: Float64Array;
}

export function flow(inputs: CreditInputs, rule: EndRule): Flow {
  const { chains, value, terminated, truncated, nextValue } = inputs;
  const { rows, next, previous, streamNext, streamPrevious } = chains;
  const carry = new Int32Array(rows).fill(-1);
  const boot = new Float64Array(rows);
  const known = (i: number) => (nextValue ? nextValue[i] : Number.NaN);
  const ended = (i: number) => i >= 0 && (terminated[i] === 1 || truncated?.[i] === 1);
  for (let i = 0; i < rows; i++) {
    // Which row's end flags this row reads.
    let flags = i;
    let link = next;
    const beside = rule === 'earlyBeside' || rule === 'lateBeside';
    // One flag for both kinds of end.
    const alike = rule === 'earlyAlike' || rule === 'lateAlike';
    if (rule === 'early' || rule === 'earlyBeside' || rule === 'earlyAlike') flags = streamNext[i];
    else if (rule === 'late' || rule === 'lateBeside' || rule === 'lateAlike') flags = streamPrevious[i];
    else if (rule === 'earlyWithin') flags = ended(i) ? i : next[i];
    else if (rule === 'lateWithin') flags = previous[i];
    if (rule === 'early' || rule === 'late' || beside || alike) link = streamNext;
    let term = flags >= 0 && terminated[flags] === 1;
    const trunc = flags >= 0 && !term && truncated?.[flags] === 1;
    if (rule === 'ignored' || rule === 'ignoredBeside') {
      carry[i] = streamNext[i];
      boot[i] = streamNext[i] >= 0 ? value[streamNext[i]] : known(i);
      // The value after a time limit may be part of the reward already, which ignoring the end leaves alone.
      if (rule === 'ignoredBeside' && trunc && streamNext[i] >= 0) boot[i] += known(i);
      continue;
    }
    let cut = trunc;
    if (rule === 'truncationTerminates' || rule === 'allTerminate') term ||= trunc;
    if (rule === 'terminationBootstraps' && term) {
      term = false;
      cut = true;
    }
    // The end that is misread cuts all; what follows a time limit came with the reward, where it belongs.
    if (beside || alike) term ||= trunc;
    if (term) boot[i] = 0;
    else if (cut) boot[i] = known(i);
    else if (link[i] >= 0) {
      carry[i] = link[i];
      boot[i] = value[link[i]];
    } else boot[i] = rule === 'cutTerminates' || rule === 'allTerminate' ? 0 : known(i);
    if (beside && truncated?.[i] === 1 && terminated[i] !== 1) boot[i] += known(i);
    if (rule === 'carryIgnored' && (term || cut)) carry[i] = streamNext[i];
    if (rule === 'valueIgnored' && (term || cut)) boot[i] = streamNext[i] >= 0 ? value[streamNext[i]] : known(i);
    // Who keeps the state that truly followed every step bootstraps from it at ends, too.
    if (rule === 'ignoredAfterOwn' && (term || cut)) {
      carry[i] = streamNext[i];
      boot[i] = known(i);
    }
    // The trace alone is cut by a neighbour's end.
    if (rule === 'carryEarly') carry[i] = ended(streamNext[i]) ? -1 : streamNext[i];
    if (rule === 'carryLate') carry[i] = ended(streamPrevious[i]) ? -1 : streamNext[i];
    if (rule === 'lastIgnored' && (term || cut) && streamNext[i] < 0) boot[i] = known(i);
    if (rule === 'valueIgnoredBeside' && (term || cut))
      boot[i] = (cut ? known(i) : 0) + (streamNext[i] >= 0 ? value[streamNext[i]] : 0);
  }
  return { carry, boot };
}

/** Fills advantages; a row whose bootstrap is not known gets NaN, and so do the rows that carry its credit. */
export function advantages(
  inputs: Pick<CreditInputs, 'chains' | 'reward' | 'value' | 'given'>,
  { carry, boot }: Flow,
  { gamma, lambda, steps }: CreditFigures,
  out: Float64Array,
): Float64Array {
  const { chains, reward, value, given } = inputs;
  if (steps !== undefined) return nStep(inputs, { carry, boot }, gamma, steps, out);
  const { order } = chains;
  for (let k = order.length - 1; k >= 0; k--) {
    const i = order[k];
    let credit = reward[i] - value[i];
    if (gamma !== 0) credit += gamma * boot[i];
    if (carry[i] >= 0 && gamma * lambda !== 0) credit += gamma * lambda * out[carry[i]];
    out[i] = given && !Number.isNaN(given[i]) ? given[i] : credit;
  }
  return out;
}

/** Up to `steps` rewards and the value of what follows them, less the row's own value. */
function nStep(
  { chains, reward, value }: Pick<CreditInputs, 'chains' | 'reward' | 'value'>,
  { carry, boot }: Flow,
  gamma: number,
  steps: number,
  out: Float64Array,
): Float64Array {
  for (const i of chains.order) {
    let credit = -value[i];
    let factor = 1;
    for (let row = i, left = steps; row >= 0; row = carry[row], left--) {
      credit += factor * reward[row];
      factor *= gamma;
      if (left > 1 && carry[row] >= 0) continue;
      if (factor !== 0) credit += factor * boot[row];
      break;
    }
    out[i] = credit;
  }
  return out;
}
