/** Runs the policies of a recording themselves: from what an agent saw to the logits of its candidates. A snapshot `<policy>-<iteration>.onnx` is the policy that sampled that iteration's rows, before its first step. */

import type { NumberColumn } from '../recording/column.ts';
import type { Recording } from '../recording/recording.ts';
import { listOf } from './evidence/keys.ts';
import type { Run } from './evidence/run.ts';

export interface PolicyInput {
  data: Float32Array;
  dims: readonly number[];
}

/** A model that is ready to run. */
export interface PolicySession {
  readonly inputNames: readonly string[];
  run(inputs: Record<string, PolicyInput>): Promise<{ data: ArrayLike<number>; dims: readonly number[] }>;
  release(): Promise<void>;
}

export type OpenPolicy = (model: Uint8Array) => Promise<PolicySession>;

export interface Snapshot {
  policy: string;
  iteration: number;
  path: string;
}

export function snapshotsOf(recording: Recording): Snapshot[] {
  return recording.snapshots.flatMap((path) => {
    const match = /^policies\/(.+)-(\d+)\.onnx$/.exec(path);
    return match ? [{ policy: match[1], iteration: Number(match[2]), path }] : [];
  });
}

/** Candidate lists of rows, as far as a policy needs them. */
export interface ReplayedRows {
  /** Rows of the iteration's samples that one policy decided. */
  rows: number[];
  obs: NumberColumn;
  subset: NumberColumn | null;
  features: NumberColumn | null;
  /** Candidates of each of `rows`. */
  counts: number[];
}

/** How many rows go through the model at once. */
const batch = 4096;

export class PolicyReplayer {
  private readonly sessions = new Map<string, PolicySession | string>();
  readonly snapshots: readonly Snapshot[];

  constructor(
    private readonly recording: Recording,
    private readonly open: OpenPolicy,
    run: Run,
  ) {
    // A run of one policy may give it any name.
    const known = snapshotsOf(recording);
    this.snapshots = run.policies.length === 0 ? known : known.filter(({ policy }) => run.policies.includes(policy));
  }

  find(policy: string, iteration: number): Snapshot | undefined {
    return this.snapshots.find((snapshot) => snapshot.policy === policy && snapshot.iteration === iteration);
  }

  /** Local logits of every row, one after the other; or a sentence where the model does not fit the rows. */
  async logits(
    snapshot: Snapshot,
    { rows, obs, subset, features, counts }: ReplayedRows,
  ): Promise<Float64Array | string> {
    const session = await this.session(snapshot.path);
    if (typeof session === 'string') return session;
    const starts = new Float64Array(rows.length + 1);
    for (let i = 0; i < rows.length; i++) starts[i + 1] = starts[i] + counts[i];
    const out = new Float64Array(starts[rows.length]);
    const takesLists = session.inputNames.length > 1;
    if (takesLists && !features)
      return `${snapshot.path} scores candidates by their features; samples.candidate_features is needed`;
    // Rows of one length go together, because a model may look at a whole list at once.
    const groups = new Map<number, number[]>();
    rows.forEach((_, i) => {
      const key = takesLists ? counts[i] : 0;
      listOf(groups, key).push(i);
    });
    for (const [count, members] of groups) {
      for (let from = 0; from < members.length; from += batch) {
        const part = members.slice(from, from + batch);
        const inputs: Record<string, PolicyInput> = {
          [named(session, 'obs', 0)]: table(
            obs,
            part.map((i) => rows[i]),
            0,
          ),
        };
        if (takesLists && features)
          inputs[named(session, 'candidates', 1)] = table(
            features,
            part.map((i) => rows[i]),
            count,
          );
        let result: Awaited<ReturnType<PolicySession['run']>>;
        try {
          result = await session.run(inputs);
        } catch (error) {
          return `${snapshot.path} cannot be run on these rows (${String((error as Error).message).slice(0, 120)})`;
        }
        const width = result.dims[result.dims.length - 1];
        for (const [k, i] of part.entries()) {
          for (let c = 0; c < counts[i]; c++) {
            const id = takesLists || !subset ? c : Number(subset.values[subset.offsets![rows[i]] + c]);
            if (id >= width) return `${snapshot.path} gives ${width} logits and a row asks for action ${id}`;
            out[starts[i] + c] = Number(result.data[k * width + id]);
          }
        }
      }
    }
    return out;
  }

  async dispose(): Promise<void> {
    for (const session of this.sessions.values()) if (typeof session !== 'string') await session.release();
    this.sessions.clear();
  }

  private async session(path: string): Promise<PolicySession | string> {
    const kept = this.sessions.get(path);
    if (kept !== undefined) return kept;
    // A few at a time are enough: iterations come in order.
    if (this.sessions.size >= 16) await this.dispose();
    let made: PolicySession | string;
    try {
      made = await this.open(await this.recording.snapshot(path));
    } catch (error) {
      made = `${path} is no model that can be run (${String((error as Error).message).slice(0, 120)})`;
    }
    this.sessions.set(path, made);
    return made;
  }
}

function named(session: PolicySession, name: string, position: number): string {
  return session.inputNames.includes(name) ? name : session.inputNames[position];
}

/** Rows of a ragged column as one dense array; with `count`, as a list of `count` entries per row. */
function table(column: NumberColumn, rows: readonly number[], count: number): PolicyInput {
  const offsets = column.offsets!;
  const width = rows.length > 0 ? offsets[rows[0] + 1] - offsets[rows[0]] : 0;
  const data = new Float32Array(rows.length * width);
  rows.forEach((row, k) => {
    for (let i = 0; i < width; i++) data[k * width + i] = Number(column.values[offsets[row] + i]);
  });
  return { data, dims: count > 0 ? [rows.length, count, width / count] : [rows.length, width] };
}
