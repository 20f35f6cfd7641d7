/** Critics with a loop of their own: their steps know nothing of the policy, nor the policy's of the critic. There no step of a policy reports both losses in an iteration; one that reports neither may be of either kind. */
import type { Rows } from '../rows.ts';

export interface OwnLoops {
  /** Steps that report the policy's loss alone, and the critic's alone. */
  policy: Set<number>;
  critic: Set<number>;
}

/** The steps of such loops; null where no critic has one. */
export function ownLoops(steps: Rows): OwnLoops | null {
  const [policy, critic] = [steps.column('policy_loss'), steps.column('value_loss')];
  if (!policy || !critic) return null;
  const owner = steps.column('policy');
  const loops = new Map<number, { policy: number[]; critic: number[]; both: boolean }>();
  for (let i = 0; i < steps.rows; i++) {
    const who = owner ? owner[i] : 0;
    const own = loops.get(who) ?? { policy: [], critic: [], both: false };
    loops.set(who, own);
    const [ofPolicy, ofCritic] = [!Number.isNaN(policy[i]), !Number.isNaN(critic[i])];
    if (ofPolicy && ofCritic) own.both = true;
    else if (ofPolicy) own.policy.push(i);
    else if (ofCritic) own.critic.push(i);
  }
  const apart = [...loops.values()].filter((own) => !own.both && own.policy.length > 0 && own.critic.length > 0);
  if (apart.length === 0) return null;
  return {
    policy: new Set(apart.flatMap((own) => own.policy)),
    critic: new Set(apart.flatMap((own) => own.critic)),
  };
}
