/** A learnt policy as a player among scripted ones: it samples, one decision at a time. For whole evaluations of a trainer, `evaluate` is faster. */

import type { Player } from '../games/players.ts';
import type { Learner } from './learner.ts';

/** `inputs` is what the policy sees, where that is more than the observation; whoever fills it does so before `act`. */
export function policyPlayer(learner: Pick<Learner, 'name' | 'policy'>, inputs?: Float32Array): Player {
  const { policy, name } = learner;
  const one = () => new Float32Array(1);
  const out = { action: new Int32Array(1), logp: one(), entropy: one(), value: one() };
  const uniform = one();
  const offsets = new Int32Array(2);
  const state = new Float32Array(policy.shape.critic.inputs);
  return {
    name,
    act(game, place, stream) {
      const { observation, candidates, features } = game.shape;
      const from = place * candidates;
      offsets[1] = game.numActions[place];
      uniform[0] = Math.min(stream.uniform(), 1 - 2 ** -24);
      const rows = {
        length: 1,
        obs: inputs ?? game.obs.subarray(place * observation, (place + 1) * observation),
        // Only the action is asked for, so the critic may see nothing.
        state,
        offsets,
        subset: game.subset.subarray(from, from + offsets[1]),
        legal: game.legal.subarray(from, from + offsets[1]),
        candidateFeatures: game.candidateFeatures.subarray(from * features, (from + offsets[1]) * features),
      };
      policy.act(rows, uniform, 1, out);
      return out.action[0];
    },
  };
}
