/** Who follows whom: rows of one agent in one episode, and episodes of one agent in one environment. Built from keys, never from the storage order alone. */

export interface Chains {
  readonly rows: number;
  /** The same agent's next row in the same episode, or -1. */
  readonly next: Int32Array;
  readonly previous: Int32Array;
  /** The same agent's next row in the same environment, across episode ends, or -1. */
  readonly streamNext: Int32Array;
  readonly streamPrevious: Int32Array;
  /** All rows so that each comes before its successors. */
  readonly order: Int32Array;
  /** Rows whose (episode, agent, t) is that of an earlier row. */
  readonly repeated: number;
}

type Numbers = ArrayLike<number>;

export function buildChains(episode: Numbers, t: Numbers, agent: Numbers, env: Numbers | null): Chains {
  const rows = episode.length;
  const next = new Int32Array(rows).fill(-1);
  const previous = new Int32Array(rows).fill(-1);
  const streamNext = new Int32Array(rows).fill(-1);
  const streamPrevious = new Int32Array(rows).fill(-1);
  const walk = inTime(episode, t, agent);
  let agents = 1;
  for (let i = 0; i < rows; i++) if (agent[i] >= agents) agents = agent[i] + 1;
  const latest = new Map<number, number>();
  const heads: number[] = [];
  let repeated = 0;
  for (let k = 0; k < rows; k++) {
    const row = walk ? walk[k] : k;
    const key = episode[row] * agents + agent[row];
    const before = latest.get(key);
    if (before === undefined) heads.push(row);
    else {
      next[before] = row;
      previous[row] = before;
      if (t[before] === t[row]) repeated++;
    }
    latest.set(key, row);
  }
  const streams = new Map<number, number[]>();
  for (const head of heads) {
    const key = (env ? env[head] : 0) * agents + agent[head];
    const list = streams.get(key);
    if (list) list.push(head);
    else streams.set(key, [head]);
  }
  const order = new Int32Array(rows);
  let at = 0;
  for (const list of streams.values()) {
    let tail = -1;
    for (const head of list) {
      for (let row = head; row >= 0; row = next[row]) {
        if (tail >= 0) {
          streamNext[tail] = row;
          streamPrevious[row] = tail;
        }
        order[at++] = row;
        tail = row;
      }
    }
  }
  return { rows, next, previous, streamNext, streamPrevious, order, repeated };
}

/** Storage order, or null where it already is in time for every (episode, agent); otherwise rows by t. */
function inTime(episode: Numbers, t: Numbers, agent: Numbers): Int32Array | null {
  let agents = 1;
  for (let i = 0; i < t.length; i++) if (agent[i] >= agents) agents = agent[i] + 1;
  const latest = new Map<number, number>();
  let sorted = true;
  for (let i = 0; i < t.length && sorted; i++) {
    const key = episode[i] * agents + agent[i];
    const before = latest.get(key);
    if (before !== undefined && t[i] < before) sorted = false;
    latest.set(key, t[i]);
  }
  return sorted ? null : Int32Array.from({ length: t.length }, (_, i) => i).sort((a, b) => t[a] - t[b] || a - b);
}

/** The value `lag` rows later in the same chain (earlier where negative); NaN beyond its ends. */
export function lagged(values: Numbers, link: Int32Array, back: Int32Array, lag: number): Float64Array {
  const out = new Float64Array(values.length);
  const step = lag >= 0 ? link : back;
  for (let i = 0; i < values.length; i++) {
    let row = i;
    for (let k = Math.abs(lag); k > 0 && row >= 0; k--) row = step[row];
    out[i] = row >= 0 ? values[row] : Number.NaN;
  }
  return out;
}
