/** Faults of the candidate list: the update scores other candidates, another number of them, or another mask than sampling did. */
import type { Batch } from '../../batch/batch.ts';
import type { Stages } from '../../training/stages.ts';
import { type Fault, type FaultContext, type Strength, whole } from '../fault.ts';
import { Lists } from '../lists.ts';
import { changeBatch, laggedRows, nextRows, rowsOfOther, struck, turned } from '../row-order.ts';
import { Scope } from '../scope.ts';
import type { Need } from '../traits.ts';

type Change = (lists: Lists, row: number) => void;

interface ListFault {
  id: string;
  cause: string;
  sentence: string;
  shows: readonly string[];
  needs?: readonly Need[];
  /** Draws its numbers and gives, per batch, what is done to a row. */
  draw: (stream: Parameters<Fault['make']>[0], context: FaultContext) => { strength: Strength; change: ChangeMaker };
}

type ChangeMaker = (batch: Batch) => Change;

function listFault(of: ListFault): Fault {
  const { id, cause, sentence, shows, needs } = of;
  return {
    id,
    cause,
    stage: 'prepare',
    sentence,
    shows,
    ...(needs ? { needs } : {}),
    make(stream, context) {
      const scope = Scope.draw(stream, context, { share: 0.4 });
      const { strength, change } = of.draw(stream, context);
      const lists = (batch: Batch) => {
        const made = new Lists(batch);
        const apply = change(batch);
        for (let row = 0; row < batch.rows; row++) if (struck(batch, row, scope)) apply(made, row);
        return made.columns;
      };
      return {
        strength: { ...scope.strength, ...strength },
        stages: (clean) => changeBatch(clean, scope, lists),
      };
    },
  };
}

/** A change that looks at its own row only and has nothing to draw. */
const plain = (change: Change): ListFault['draw'] => {
  return () => ({ strength: {}, change: () => change });
};

const order = (count: number) => Array.from({ length: count }, (_, i) => i);

const reordered: readonly Fault[] = [
  listFault({
    id: 'subset-sorted',
    cause: 'subset-not-replayed',
    sentence:
      'The update sorts each candidate list by identifier, while the action still counts in the order of sampling.',
    shows: ['replays.new_logp', 'replays.subset'],
    needs: ['lists'],
    draw: plain((lists, row) => {
      const ids = lists.ids(row);
      lists.reorder(
        row,
        order(ids.length).sort((a, b) => ids[a] - ids[b]),
      );
    }),
  }),
  listFault({
    id: 'subset-prefix',
    cause: 'subset-not-replayed',
    sentence: 'The update takes the first K of the global logits in place of those that the candidate list names.',
    shows: ['replays.new_logp', 'replays.subset'],
    needs: ['lists', 'fixed-head'],
    draw: plain((lists, row) => lists.prefix(row)),
  }),
  listFault({
    id: 'subset-reversed',
    cause: 'subset-not-replayed',
    sentence: 'The update scores each candidate list from its end.',
    shows: ['replays.new_logp', 'replays.subset'],
    draw: plain((lists, row) => lists.reorder(row, order(lists.count[row]).reverse())),
  }),
  listFault({
    id: 'subset-shuffled',
    cause: 'subset-not-replayed',
    sentence: 'The update scores each candidate list in an order that is drawn anew.',
    shows: ['replays.new_logp', 'replays.subset'],
    draw: (stream) => ({
      strength: {},
      change: () => (lists, row) => lists.reorder(row, stream.shuffle(order(lists.count[row]))),
    }),
  }),
  listFault({
    id: 'subset-rotated',
    cause: 'subset-not-replayed',
    sentence: 'The update begins each candidate list some places too late and goes round.',
    shows: ['replays.new_logp', 'replays.subset'],
    draw: (stream) => {
      const places = whole(stream, 1, 3);
      return {
        strength: { places },
        change: () => (lists, row) => {
          const count = lists.count[row];
          // A turn by a multiple of the length would change nothing.
          const turn = count > 1 ? 1 + ((places - 1) % (count - 1)) : 0;
          lists.reorder(
            row,
            order(count).map((c) => (c + turn) % count),
          );
        },
      };
    },
  }),
];

const defaulted: readonly Fault[] = [
  listFault({
    id: 'num-actions-five',
    cause: 'num-actions-defaulted',
    sentence: 'The update has lost the number of candidates and takes the first 5 global logits for every row.',
    shows: ['replays.entropy', 'replays.new_logp'],
    needs: ['counts', 'five-candidates'],
    draw: (_, { traits }) => ({ strength: { candidates: 5 }, change: () => defaultTo(5, traits.fixedHead) }),
  }),
  listFault({
    id: 'num-actions-own-list',
    cause: 'num-actions-defaulted',
    sentence: 'The update cuts or fills every candidate list to one length.',
    shows: ['replays.entropy', 'replays.new_logp'],
    needs: ['counts'],
    draw: (stream, { traits }) => {
      const candidates = whole(stream, 2, Math.min(16, traits.candidates));
      return { strength: { candidates }, change: () => defaultTo(candidates, false) };
    },
  }),
  listFault({
    id: 'num-actions-most',
    cause: 'num-actions-defaulted',
    sentence: 'The update takes the largest number of candidates for every row.',
    shows: ['replays.entropy', 'replays.new_logp'],
    needs: ['counts'],
    draw: (_, { traits }) => ({
      strength: { candidates: traits.candidates },
      change: () => defaultTo(traits.candidates, traits.fixedHead),
    }),
  }),
];

function defaultTo(candidates: number, prefix: boolean): Change {
  return (lists, row) => {
    lists.resize(row, candidates);
    if (prefix) lists.prefix(row);
  };
}

const borrowed: readonly Fault[] = [
  listFault({
    id: 'subset-of-next-row',
    cause: 'subset-borrowed',
    sentence:
      'The update scores the candidate list of a neighbouring decision of the same agent, where that list allows the action.',
    shows: ['replays.new_logp', 'replays.subset'],
    needs: ['lists'],
    draw: (stream) => {
      const lag = stream.uniform() < 0.5 ? 1 : -1;
      return {
        strength: { lag },
        change: (batch) => borrowFrom(laggedRows(nextRows(batch, 'world'), lag)),
      };
    },
  }),
  listFault({
    id: 'subset-of-other-agent',
    cause: 'subset-borrowed',
    sentence: "The update scores another agent's candidate list of the same step, where that list allows the action.",
    shows: ['replays.new_logp', 'replays.subset'],
    needs: ['lists', 'together'],
    draw: (stream, { traits }) => {
      const turn = whole(stream, 1, traits.learning.length - 1);
      return { strength: { turn }, change: (batch) => borrowFrom(rowsOfOther(batch, turned(traits.learning, turn))) };
    },
  }),
];

function borrowFrom(source: Int32Array): Change {
  return (lists, row) => {
    if (source[row] >= 0) lists.borrow(row, source[row]);
  };
}

const masks: readonly Fault[] = [
  listFault({
    id: 'mask-ignored',
    cause: 'mask-not-replayed',
    sentence: 'The update leaves the mask out, so illegal candidates take part of the probability.',
    shows: ['replays.new_logp', 'replays.legal'],
    needs: ['masks'],
    draw: plain((lists, row) => changeMask(lists, row, () => 1)),
  }),
  listFault({
    id: 'mask-inverted',
    cause: 'mask-not-replayed',
    sentence:
      'The update reads the mask the other way round: of the legal candidates only the one taken keeps its probability.',
    shows: ['replays.new_logp', 'replays.legal'],
    needs: ['masks'],
    draw: plain((lists, row) => changeMask(lists, row, (legal) => 1 - legal)),
  }),
  listFault({
    id: 'mask-of-previous-row',
    cause: 'mask-not-replayed',
    sentence: "The update uses the mask of the same agent's decision before.",
    shows: ['replays.new_logp', 'replays.legal'],
    needs: ['masks', 'several-steps'],
    draw: () => ({
      strength: {},
      change: (batch) => {
        const previous = laggedRows(nextRows(batch, 'episode'), 1);
        return (lists, row) => {
          const from = previous[row];
          if (from < 0) return;
          // Where the earlier list was shorter its mask has nothing to say.
          changeMask(lists, row, (own, c) => (c < batch.numActions[from] ? batch.legal[batch.first[from] + c] : own));
        };
      },
    }),
  }),
  listFault({
    id: 'mask-too-strict',
    cause: 'mask-not-replayed',
    sentence: 'The update rules out legal candidates other than the one taken.',
    shows: ['replays.new_logp', 'replays.legal'],
    draw: (stream) => ({
      strength: {},
      change: () => (lists, row) => changeMask(lists, row, (legal) => (stream.uniform() < 0.5 ? 0 : legal)),
    }),
  }),
];

/** The candidate that was taken stays legal: without it the row would have no log-probability at all. */
function changeMask(lists: Lists, row: number, change: (legal: number, candidate: number) => number): void {
  const { batch, first } = lists;
  for (let c = 0; c < lists.count[row]; c++)
    lists.legal[first[row] + c] = c === lists.action[row] ? 1 : change(batch.legal[batch.first[row] + c], c);
}

const sampled: Fault = {
  id: 'subset-prefix-sampled',
  cause: 'subset-not-replayed',
  stage: 'act',
  sentence:
    'Sampling takes the first K of the global logits, while the update gathers those that the candidate list names.',
  shows: ['samples.logits', 'samples.old_logp'],
  needs: ['lists', 'fixed-head'],
  make(stream, context) {
    const scope = Scope.draw(stream, context, { agents: 'policies' });
    return { strength: scope.strength, stages: (clean) => prefixSampling(clean, scope) };
  },
};

function prefixSampling(clean: Stages, scope: Scope): Partial<Stages> {
  let iteration = 0;
  return {
    collect(collector, batch) {
      iteration = collector.iteration;
      clean.collect(collector, batch);
    },
    act(engine, asked) {
      clean.act(
        engine,
        asked.map((own) => {
          if (!scope.begun(iteration) || !scope.learner(own.learner)) return own;
          const { offsets, length } = own.rows;
          const subset = own.rows.subset.slice();
          for (let row = 0; row < length; row++)
            for (let at = offsets[row]; at < offsets[row + 1]; at++) subset[at] = at - offsets[row];
          return { ...own, rows: { ...own.rows, subset } };
        }),
      );
    },
  };
}

export const listFaults: readonly Fault[] = [...reordered, sampled, ...defaulted, ...borrowed, ...masks];
