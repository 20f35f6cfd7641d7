/** Customs that a program may follow and that look like faults from afar. Each is recognised from the rows, or declared and not contradicted by them, and becomes a remark; it never changes the verdict. */
import type { Remark } from './diagnosis.ts';

const conventions = {
  'critic-rescaled': 'Nothing is to be changed; `settings.value_normalisation = "popart"` says it beforehand.',
  'advantages-recomputed':
    'Nothing is to be changed; recording `value` in the replays lets later passes be recomputed as well.',
  'advantages-keep-their-scale':
    'Where it is not meant, normalise advantages per batch: the clip, the entropy bonus and the rate then mean the same whatever the rewards.',
  'n-step-credit': 'Nothing is to be changed; `settings.n_steps` says it beforehand.',
  'time-limit-ends':
    'Where episodes end by the time limit often, bootstrap the value of the state that followed: only a termination is worth 0.',
  'time-limit-before': 'Where the last step changes much, bootstrap from the value of the state that followed it.',
  'rewards-treated': 'Nothing is to be changed; read learning curves in the rewards that the environment paid.',
  'rewards-delayed':
    'Nothing is to be changed where it is meant: every decision of an episode then shares its whole pay.',
  'training-after-stop':
    'Leave the loop over the passes as well as the one over the minibatches, or the stop hardly limits how far a batch moves the policy.',
  'bootstrap-in-reward':
    'Nothing is to be changed; recording `env_reward` beside such rewards shows what the environment paid.',
  'clip-higher': 'Nothing is to be changed: rows whose probability grows are let go farther, on purpose.',
  'environments-not-told':
    "Give samples(env=) the number of each row's environment: then episodes are told apart where they end beside a cut.",
  'clip-scheduled': 'Nothing is to be changed; leave `clip` out of the settings where it follows a schedule.',
  'objective-without-ratio':
    'Nothing is to be changed as long as every batch is passed over once: without the ratio, later passes are not corrected for the steps before them.',
  'narrow-columns':
    'Record these columns in single precision where small differences matter: in half precision they round away.',
} as const satisfies Record<string, string>;

export type Convention = keyof typeof conventions;

export function conventionRemark(id: Convention, summary: string): Remark {
  return { id, summary, remedy: conventions[id] };
}
