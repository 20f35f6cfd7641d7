/** A cause's proof as rows of numbers: what the trainer used, what the row's own data gives, and what the undoing transform gives. A transform without such a form has no `after`. */
import { lagged } from '../math/chains.ts';
import { median } from '../math/statistics.ts';
import type { Cause } from './diagnosis.ts';
import type { Iteration } from './iteration.ts';
import { everyRow, known, type ProofColumns } from './proof-columns.ts';
import { creditProof, pairingProof } from './proof-credit.ts';
import { replayProof } from './proof-replay.ts';
import { describeTransform } from './transforms/index.ts';

export interface Proof extends ProofColumns {
  /** The check that found it. */
  check: string;
}

/** The columns of one iteration that prove a cause; null where it is not one of those that rows prove. `earlier` holds the advantages of the iteration before. */
export function prove(
  iteration: Iteration,
  cause: Pick<Cause, 'id' | 'transform' | 'evidence'>,
  earlier: ArrayLike<number> | null,
): Proof | null {
  if (!iteration.samples) return null;
  const transform = cause.transform ? describeTransform(cause.transform) : '';
  for (const { check } of cause.evidence) {
    const found =
      check === 'pairing'
        ? pairingProof(iteration, transform, earlier)
        : check === 'credit'
          ? creditProof(iteration, transform, earlier)
          : check === 'replay'
            ? replayProof(iteration, transform)
            : check === 'rewards'
              ? rewardProof(iteration, transform)
              : check === 'old-logp-kept'
                ? keptProof(iteration)
                : check === 'returns'
                  ? returnProof(iteration)
                  : null;
    if (found) return { check, ...found, after: reproduces(found) ? found.after : null };
  }
  return null;
}

/** Only a transform that brings the rows that disagree ten times nearer is shown; lists that were not recorded whole cannot be scored again. */
function reproduces({ target, before, after }: ProofColumns): boolean {
  if (!after) return false;
  const gaps: { before: number; after: number }[] = [];
  for (let i = 0; i < target.length; i++) {
    const gap = { before: Math.abs(target[i] - before[i]), after: Math.abs(target[i] - after[i]) };
    if (gap.before > 1e-4 && Number.isFinite(gap.after)) gaps.push(gap);
  }
  return gaps.length > 0 && median(gaps.map((gap) => gap.after)) <= 0.1 * median(gaps.map((gap) => gap.before));
}

function rewardProof(iteration: Iteration, transform: string): ProofColumns | null {
  const { samples, chains } = iteration;
  const reward = samples!.column('reward');
  const paid = samples!.column('env_reward');
  const lag = /^lag (-?\d+)/.exec(transform);
  if (!reward || !paid) return null;
  const stream = transform.includes('stream');
  const after =
    lag && chains
      ? lagged(
          paid,
          stream ? chains.streamNext : chains.next,
          stream ? chains.streamPrevious : chains.previous,
          Number(lag[1]),
        )
      : null;
  return {
    quantity: 'reward',
    labels: { target: 'stored reward', before: 'paid for this action', after: 'paid at the lag' },
    ...known(everyRow(samples!.rows), { target: reward, before: paid, after }),
  };
}

function keptProof(iteration: Iteration): ProofColumns | null {
  const { samples, replays } = iteration;
  const used = replays?.column('old_logp');
  const stored = samples!.column('old_logp');
  const sample = replays?.column('sample');
  const fresh = replays?.column('new_logp');
  if (!used || !stored || !sample || !fresh) return null;
  const rows = everyRow(replays!.rows).filter((row) => sample[row] < samples!.rows);
  return {
    quantity: 'log-probability',
    labels: { target: 'old_logp in the loss', before: 'old_logp as stored', after: 'new_logp of the same pass' },
    ...known(
      rows.map((row) => sample[row]),
      {
        target: Float64Array.from(rows, (row) => used[row]),
        before: Float64Array.from(rows, (row) => stored[sample[row]]),
        after: Float64Array.from(rows, (row) => fresh[row]),
      },
    ),
  };
}

function returnProof(iteration: Iteration): ProofColumns | null {
  const samples = iteration.samples!;
  const target = samples.column('return');
  const advantage = samples.column('advantage');
  const value = samples.column('value');
  if (!target || !advantage || !value) return null;
  return {
    quantity: 'return',
    labels: { target: 'recorded return', before: 'advantage + value', after: '' },
    ...known(everyRow(samples.rows), {
      target,
      before: Float64Array.from(advantage, (credit, row) => credit + value[row]),
      after: null,
    }),
  };
}
