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
  const streamNext = new Int32Array(rows).fill(-1);
  const streamPrevious = new Int32Array(rows).fill(-1);
  let agents = 1;
  for (let i = 0; i < rows; i++) if (agent[i] >= agents) agents = agent[i] + 1;
  const { next, previous, heads, repeated } =
    link(episode, t, agent, agents, null) ?? link(episode, t, agent, agents, byTime(t))!;
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

interface Links {
  next: Int32Array;
  previous: Int32Array;
  /** First rows of (episode, agent), in the order of the walk. */
  heads: number[];
  repeated: number;
}

/** Links the rows of every (episode, agent) as the walk finds them, in storage order without one; null where they are not in time then. */
function link(episode: Numbers, t: Numbers, agent: Numbers, agents: number, walk: Int32Array | null): Links | null {
  const rows = episode.length;
  const next = new Int32Array(rows).fill(-1);
  const previous = new Int32Array(rows).fill(-1);
  /** Some row of each chain; what follows it leads to the latest. */
  const known = new Map<number, number>();
  const heads: number[] = [];
  let repeated = 0;
  let apart = 0;
  for (let k = 0; k < rows; k++) {
    const row = walk ? walk[k] : k;
    // Rows mostly lie as far behind their predecessors as the row before does. A row that nothing follows yet is its chain's latest.
    let before = row - apart;
    if (
      walk !== null ||
      apart === 0 ||
      before < 0 ||
      next[before] !== -1 ||
      episode[before] !== episode[row] ||
      agent[before] !== agent[row]
    ) {
      const key = episode[row] * agents + agent[row];
      before = known.get(key) ?? -1;
      while (before >= 0 && next[before] >= 0) before = next[before];
      known.set(key, row);
      if (before < 0) {
        heads.push(row);
        continue;
      }
      apart = row - before;
    }
    if (!walk && t[row] < t[before]) return null;
    next[before] = row;
    previous[row] = before;
    if (t[before] === t[row]) repeated++;
  }
  return { next, previous, heads, repeated };
}

function byTime(t: Numbers): Int32Array {
  return Int32Array.from({ length: t.length }, (_, i) => i).sort((a, b) => t[a] - t[b] || a - b);
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
