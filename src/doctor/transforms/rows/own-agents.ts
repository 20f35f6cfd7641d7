/** A policy's update takes only rows of the agents that it plays for. */
import { type Language, type Transform, told } from '../transform.ts';

export class OwnAgents implements Transform {
  readonly id = 'own-agents';

  describe(language: Language): string {
    return told(language, "rows of the policy's own agents", '只用该策略自己的智能体的行');
  }
}
