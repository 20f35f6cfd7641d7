/** A policy's update takes only rows of the agents that it plays for. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

export class OwnAgents implements Transform {
  readonly id = 'own-agents';

  describe(): string {
    return told("rows of the policy's own agents", '只用该策略自己的智能体的行');
  }
}
