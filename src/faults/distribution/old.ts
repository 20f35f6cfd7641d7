/** Faults of the stored log-probability and of the temperature: sampling and update do not speak of the same distribution. */
import type { Learner } from '../../algorithms/learner.ts';
import type { Asked } from '../../algorithms/play.ts';
import { type LocalPolicy, localPolicy, localPolicyBuffer } from '../../math/local-policy.ts';
import type { RandomStream } from '../../math/random.ts';
import type { RowOutputs } from '../../net/types.ts';
import type { Stages } from '../../training/stages.ts';
import { between, type Fault, type FaultContext, rounded, type Strength, whole } from '../fault.ts';
import { Scope } from '../scope.ts';
import type { Need } from '../traits.ts';

/** An `act` followed by a change of what it gave, for the decisions struck. The order of play numbers the decisions. */
export function afterActing(
  clean: Stages,
  scope: Scope,
  change: (acted: Asked, row: number) => void,
): Pick<Stages, 'act' | 'collect'> {
  let iteration = 0;
  let decision = 0;
  return {
    collect(collector, batch) {
      iteration = collector.iteration;
      decision = 0;
      clean.collect(collector, batch);
    },
    act(engine, asked) {
      clean.act(engine, asked);
      for (const acted of asked) {
        const here = scope.begun(iteration) && scope.learner(acted.learner);
        for (let row = 0; row < acted.rows.length; row++, decision++)
          if (here && scope.chosen(iteration, decision)) change(acted, row);
      }
    },
  };
}

let buffer: LocalPolicy = localPolicyBuffer(64);

/** The log-probabilities of a decision's candidates, from the logits that it was sampled from. */
function distribution({ rows, out, temperatures }: Asked, row: number, masked: boolean): Float64Array {
  const start = rows.offsets[row] - rows.offsets[0];
  const count = rows.offsets[row + 1] - rows.offsets[row];
  if (buffer.probabilities.length < count) buffer = localPolicyBuffer(2 * count);
  const logits = out.logits.subarray(start, start + count);
  const legal = masked ? rows.legal.subarray(rows.offsets[row], rows.offsets[row + 1]) : null;
  localPolicy(logits, null, legal, temperatures[row] > 0 ? temperatures[row] : 1, buffer);
  return buffer.logProbabilities.subarray(0, count);
}

function legalChoices({ rows }: Asked, row: number): number[] {
  const choices: number[] = [];
  for (let at = rows.offsets[row]; at < rows.offsets[row + 1]; at++)
    if (rows.legal[at] === 1) choices.push(at - rows.offsets[row]);
  return choices;
}

function oldLogpFault(
  id: string,
  sentence: string,
  draw: (stream: RandomStream) => { strength?: Strength; value: (acted: Asked, row: number) => number },
  needs?: readonly Need[],
): Fault {
  return {
    id,
    cause: 'old-logp-wrong',
    stage: 'act',
    sentence,
    shows: ['samples.old_logp', 'replays.old_logp'],
    ...(needs ? { needs } : {}),
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies', share: 0.4 });
      const { strength = {}, value } = draw(stream);
      return {
        strength: { ...scope.strength, ...strength },
        stages: (clean) =>
          afterActing(clean, scope, (acted, row) => {
            acted.out.logp[row] = value(acted, row);
          }),
      };
    },
  };
}

const wrongOld: readonly Fault[] = [
  oldLogpFault('old-logp-zero', 'The stored log-probability is never filled in and stays 0.', () => ({
    value: () => 0,
  })),
  oldLogpFault(
    'old-logp-global',
    'The stored log-probability is taken over the whole global action set, not over the candidates.',
    () => ({ value: globalLogp }),
    ['fixed-head', 'lists'],
  ),
  oldLogpFault(
    'old-logp-unmasked',
    'The stored log-probability is taken before the mask, the action after it.',
    () => ({ value: (acted, row) => distribution(acted, row, false)[acted.out.action[row]] }),
    ['masks'],
  ),
  oldLogpFault(
    'old-logp-of-greedy',
    'The stored log-probability is that of the likeliest candidate, whatever was taken.',
    () => ({
      value: (acted, row) => Math.max(...distribution(acted, row, true)),
    }),
  ),
  oldLogpFault(
    'old-logp-of-other-action',
    'The stored log-probability is that of another legal candidate.',
    (stream) => {
      const places = whole(stream, 1, 3);
      return {
        strength: { places },
        value: (acted, row) => {
          const choices = legalChoices(acted, row);
          const own = choices.indexOf(acted.out.action[row]);
          const turn = choices.length > 1 ? 1 + ((places - 1) % (choices.length - 1)) : 0;
          return distribution(acted, row, true)[choices[(own + turn) % choices.length]];
        },
      };
    },
  ),
  oldLogpFault('old-logp-clipped', 'The stored log-probability is cut off from below.', (stream) => {
    const floor = -rounded(between(stream, 0.2, 0.6));
    return { strength: { floor }, value: ({ out }, row) => Math.max(floor, out.logp[row]) };
  }),
  oldLogpFault('old-logp-not-log', 'The probability itself is stored where its logarithm should be.', () => ({
    value: ({ out }, row) => Math.exp(out.logp[row]),
  })),
];

/** Over all global actions. The policy is asked once more for them; its random draws are not touched. */
function globalLogp({ learner, rows, out }: Asked, row: number): number {
  const { inputs, outputs } = learner.policy.shape.actor;
  const every = Int32Array.from({ length: outputs }, (_, id) => id);
  const logits = new Float32Array(outputs);
  const single = () => new Float32Array(1);
  const { inputs: states } = learner.policy.shape.critic;
  learner.policy.act(
    {
      length: 1,
      obs: rows.obs.slice(row * inputs, (row + 1) * inputs),
      state: rows.state.slice(row * states, (row + 1) * states),
      offsets: Int32Array.of(0, outputs),
      subset: every,
      legal: new Uint8Array(outputs).fill(1),
      candidateFeatures: new Float32Array(0),
    },
    single(),
    1,
    { action: new Int32Array(1), logp: single(), entropy: single(), value: single(), logits },
  );
  if (buffer.probabilities.length < outputs) buffer = localPolicyBuffer(2 * outputs);
  localPolicy(logits, null, null, 1, buffer);
  return buffer.logProbabilities[rows.subset[rows.offsets[row] + out.action[row]]];
}

/** Stored one decision late: each row holds the log-probability of the decision that the policy took before it in the same place of the batch. */
const previousRow: Fault = {
  id: 'old-logp-of-previous-row',
  cause: 'old-logp-wrong',
  stage: 'collect',
  sentence: "Each row stores the log-probability of the same agent's decision before it.",
  shows: ['samples.old_logp', 'replays.old_logp'],
  needs: ['several-steps'],
  make(stream, context) {
    const scope = Scope.draw(stream, context);
    return {
      strength: scope.strength,
      stages: (clean) => ({
        collect(collector, batch) {
          const { iteration } = collector;
          clean.collect(collector, batch);
          if (!scope.begun(iteration)) return;
          const before = new Map<string, number>();
          for (let row = 0; row < batch.rows; row++) {
            if (!scope.agent(batch.agent[row])) continue;
            const key = `${batch.env[row]} ${batch.agent[row]}`;
            const own = batch.oldLogp[row];
            batch.oldLogp[row] = before.get(key) ?? own;
            before.set(key, own);
          }
        },
      }),
    };
  },
};

/** Away from 1 by a quarter at least, on either side. */
function drawTemperature(stream: RandomStream): number {
  const factor = between(stream, 1.3, 2.5);
  return rounded(stream.uniform() < 0.5 ? factor : 1 / factor);
}

const temperatures: readonly Fault[] = [
  {
    id: 'temperature-in-update',
    cause: 'temperature-mismatch',
    stage: 'loss',
    sentence: 'The update divides the logits by a temperature that sampling did not use.',
    shows: ['replays.new_logp', 'replays.temperature'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies' });
      const temperature = drawTemperature(stream);
      return {
        strength: { ...scope.strength, temperature },
        stages: (clean) => ({
          loss(job) {
            const made = clean.loss(job);
            if (!scope.begun(job.iteration) || !scope.learner(job.learner)) return made;
            return { ...made, settings: { ...made.settings, temperature: made.settings.temperature * temperature } };
          },
        }),
      };
    },
  },
  ...[true, false].map((recorded): Fault => samplingTemperature(recorded)),
];

function samplingTemperature(recorded: boolean): Fault {
  return {
    id: recorded ? 'temperature-in-sampling' : 'temperature-in-sampling-unknown',
    cause: 'temperature-mismatch',
    stage: 'act',
    sentence: `Sampling divides the logits by a temperature that the update does not use${recorded ? '' : ', and does not write it down'}.`,
    shows: ['samples.old_logp', 'samples.temperature'],
    make(stream: RandomStream, context: FaultContext) {
      const scope = Scope.draw(stream, context, { agents: 'policies' });
      const temperature = drawTemperature(stream);
      let iteration = 0;
      return {
        strength: { ...scope.strength, temperature },
        stages: (clean) => ({
          collect(collector, batch) {
            iteration = collector.iteration;
            clean.collect(collector, batch);
          },
          act(engine, asked) {
            const struck = (learner: Learner) => scope.begun(iteration) && scope.learner(learner);
            clean.act(
              engine,
              asked.map((own) => (struck(own.learner) ? { ...own, temperature: own.temperature * temperature } : own)),
            );
            for (const { learner, rows, temperatures } of asked)
              for (let row = 0; row < rows.length && struck(learner); row++)
                temperatures[row] = recorded ? temperatures[row] * temperature : Number.NaN;
          },
        }),
      };
    },
  };
}

/** Divides the first `count` logits of an output. */
export function scaleLogits(out: RowOutputs, count: number, divisor: number): void {
  if (out.logits) for (let i = 0; i < count; i++) out.logits[i] /= divisor;
}

export const oldFaults: readonly Fault[] = [...wrongOld, previousRow, ...temperatures];
