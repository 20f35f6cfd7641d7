/** The least that an honest diagnosis must do: every column of every iteration looked at once, log-probabilities, credit and the gradient by the logits computed anew. It compares, and searches nothing; what the doctor takes beyond it are its questions. */
import { iterations } from '../../src/doctor/evidence/reading/stream.ts';
import { largestOf, type Rows } from '../../src/doctor/evidence/rows.ts';
import { advantages, flow } from '../../src/math/advantages.ts';
import { buildChains } from '../../src/math/chains.ts';
import { localPolicy, localPolicyBuffer } from '../../src/math/local-policy.ts';
import type { Recording } from '../../src/recording/recording.ts';

/** The largest gap between what is recorded and what is computed, so that nothing can be left out. */
export async function onePass(recording: Recording): Promise<number> {
  let gap = 0;
  const { gamma, lambda } = recording.manifest.settings as { gamma: number; lambda: number };
  for await (const { tables, chunks } of iterations(recording)) {
    for (const chunk of Object.values(chunks))
      for (const column of chunk.columns.values()) if (column.kind !== 'text') largestOf(column);
    if (tables.samples) gap = Math.max(gap, creditGap(tables.samples, { gamma, lambda }));
    if (tables.samples && tables.replays) gap = Math.max(gap, policyGap(tables.samples, tables.replays));
  }
  return gap;
}

function creditGap(samples: Rows, figures: { gamma: number; lambda: number }): number {
  const [episode, t, agent, env] = ['episode', 't', 'agent', 'env'].map((name) => samples.column(name)!);
  const [reward, value, terminated, recorded] = ['reward', 'value', 'terminated', 'advantage'].map(
    (name) => samples.column(name)!,
  );
  const [truncated, nextValue] = [samples.column('truncated'), samples.column('next_value')];
  const credit = { chains: buildChains(episode, t, agent, env), reward, value, terminated, truncated, nextValue };
  const truth = advantages(credit, flow(credit, 'asRecorded'), figures, new Float64Array(samples.rows));
  let gap = 0;
  for (let i = 0; i < truth.length; i++) {
    const off = Math.abs(truth[i] - recorded[i]);
    if (off > gap) gap = off;
  }
  return gap;
}

const most = 64;
const gradient = new Float64Array(most);

function policyGap(samples: Rows, replays: Rows): number {
  const [logits, legal] = [replays.list('logits')!, replays.list('legal')!];
  const [sample, temperature, fresh, used, advantage] = [
    'sample',
    'temperature',
    'new_logp',
    'old_logp',
    'advantage',
  ].map((name) => replays.column(name)!);
  const action = samples.column('action')!;
  const out = localPolicyBuffer(most);
  let gap = 0;
  for (let i = 0; i < replays.rows; i++) {
    const start = logits.offsets[i];
    const count = logits.offsets[i + 1] - start;
    localPolicy(logits.values, null, legal.values, temperature[i], out, { start, count });
    const taken = action[sample[i]];
    const off = Math.abs(out.logProbabilities[taken] - fresh[i]);
    if (off > gap) gap = off;
    const push = Math.exp(fresh[i] - used[i]) * advantage[i];
    for (let c = 0; c < count; c++) gradient[c] += push * ((c === taken ? 1 : 0) - out.probabilities[c]);
  }
  return gap;
}
