/** Faults of the update's rows: old log-probabilities taken anew, and rows of an earlier iteration. */
import type { TrainJob } from '../../algorithms/ppo/update.ts';
import { Batch } from '../../batch/batch.ts';
import type { Stages } from '../../training/stages.ts';
import { between, type Fault, rounded, whole } from '../fault.ts';
import { changePrepared, iterationOf } from '../row-order.ts';
import { Scope } from '../scope.ts';
import { currentLogp, replaceSurrogate } from '../surrogate.ts';

function recomputed(detached: boolean): Fault {
  return {
    id: detached ? 'old-logp-recomputed' : 'old-logp-recomputed-with-gradient',
    cause: 'old-logp-recomputed',
    stage: 'loss',
    sentence: `The loss takes old_logp from the current policy in every minibatch${detached ? '' : ', with its gradient, so that nothing is left of the policy gradient'}.`,
    shows: ['replays.old_logp'],
    needs: ['several-updates'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies' });
      const strikes = (job: TrainJob) => scope.begun(job.iteration) && scope.learner(job.learner);
      return {
        strength: scope.strength,
        stages: (clean) => ({
          loss(job) {
            const made = clean.loss(job);
            return strikes(job) ? { ...made, rows: { ...made.rows, oldLogp: currentLogp(clean, made) } } : made;
          },
          // new - new has the gradient 0, and the loss its usual size.
          ...(detached ? {} : { step: replaceSurrogate(clean, strikes, () => ({ push: () => 0 })) }),
        }),
      };
    },
  };
}

/** The batches of the latest iterations, copied whole. */
class Earlier {
  private readonly batches: Batch[] = [];

  constructor(private readonly keep: number) {}

  /** Takes a batch in, once per iteration. */
  take(batch: Batch): void {
    const last = this.batches.at(-1);
    if (last && iterationOf(last) === iterationOf(batch)) return;
    const copy = new Batch(batch.shape, batch.room);
    copy.append(
      batch,
      Int32Array.from({ length: batch.rows }, (_, row) => row),
    );
    this.batches.push(copy);
    if (this.batches.length > this.keep + 1) this.batches.shift();
  }

  /** The batch so many iterations back, or the oldest there is. */
  get oldest(): Batch {
    return this.batches[0];
  }

  get previous(): Batch | undefined {
    return this.batches.at(-2);
  }
}

const staleBatch: Fault = {
  id: 'stale-batch',
  cause: 'stale-samples',
  stage: 'prepare',
  sentence: 'The update uses the rows of an earlier iteration.',
  shows: ['replays.source_iteration', 'replays.old_logp'],
  needs: ['several-iterations'],
  make(stream, context) {
    const scope = Scope.draw(stream, context, { agents: 'policies' });
    const back = context.iterations > 6 ? whole(stream, 1, 2) : 1;
    const earlier = new Earlier(back);
    return {
      strength: { ...scope.strength, back },
      stages: (clean) => ({
        prepare(batch, rows, count, learner, ppo, into) {
          earlier.take(batch);
          if (!scope.begun(iterationOf(batch)) || !scope.learner(learner))
            return clean.prepare(batch, rows, count, learner, ppo, into);
          const { oldest } = earlier;
          const own = new Int32Array(oldest.rows);
          return clean.prepare(oldest, own, clean.select(oldest, learner, own), learner, ppo, into);
        },
      }),
    };
  },
};

const staleMixed: Fault = {
  id: 'stale-rows-mixed-in',
  cause: 'stale-samples',
  stage: 'prepare',
  sentence: 'The buffer is not emptied, so the update also uses rows of the iteration before.',
  shows: ['replays.source_iteration', 'replays.old_logp'],
  needs: ['several-iterations'],
  make(stream, context) {
    const scope = Scope.draw(stream, context, { agents: 'policies' });
    const share = rounded(between(stream, 0.4, 1));
    const earlier = new Earlier(1);
    return {
      strength: { ...scope.strength, share },
      stages: (clean) => ({
        prepare(batch, rows, count, learner, ppo, into) {
          earlier.take(batch);
          const { previous } = earlier;
          if (!previous || !scope.begun(iterationOf(batch)) || !scope.learner(learner))
            return clean.prepare(batch, rows, count, learner, ppo, into);
          return clean.prepare(...joined(clean, previous, share, batch, rows.subarray(0, count), learner), ppo, into);
        },
      }),
    };
  },
};

/** A batch of the last rows of `previous` and all own rows of `batch`. */
function joined(
  clean: Stages,
  previous: Batch,
  share: number,
  batch: Batch,
  rows: Int32Array,
  learner: TrainJob['learner'],
): [Batch, Int32Array, number, TrainJob['learner']] {
  const left = new Int32Array(previous.rows);
  const before = clean.select(previous, learner, left);
  const all = new Batch(batch.shape, batch.room);
  all.append(previous, left.subarray(Math.floor((1 - share) * before), before));
  all.append(batch, rows);
  return [all, Int32Array.from({ length: all.rows }, (_, row) => row), all.rows, learner];
}

const staleOldLogp: Fault = {
  id: 'stale-old-logp',
  cause: 'stale-samples',
  stage: 'prepare',
  sentence: 'The buffer of old log-probabilities is not refreshed, so each row meets that of the iteration before.',
  shows: ['replays.old_logp'],
  needs: ['several-iterations'],
  make(stream, context) {
    const scope = Scope.draw(stream, context, { agents: 'policies', onset: false });
    const earlier = new Map<number, Float32Array>();
    return {
      strength: scope.strength,
      stages: (clean) =>
        changePrepared(clean, scope, (made, { learner }) => {
          const own = made.oldLogp.slice(0, made.length);
          const before = earlier.get(learner.index);
          earlier.set(learner.index, own);
          return before ? { oldLogp: own.map((logp, row) => before[row] ?? logp) } : {};
        }),
    };
  },
};

export const updateFaults: readonly Fault[] = [
  recomputed(true),
  recomputed(false),
  staleBatch,
  staleMixed,
  staleOldLogp,
];
