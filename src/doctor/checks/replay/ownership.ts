/** Whether a policy is updated with the rows of its own agents only. */

import { told } from '../../../language/language.ts';
import { type Check, confidence, fewestRows, type Pass } from '../../check.ts';
import { figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { ProofStore } from '../../found.ts';
import { OwnAgents } from '../../transforms/rows/own-agents.ts';

export const ownership: Check = {
  id: 'ownership',
  group: 'credit',
  question: ["Is a policy trained on its own agents' rows?", '策略是否用自己智能体的行训练？'],
  needs: [['replays.policy'], ['samples.agent']],
  causes: ['trained-on-other-agent'],
  start: (run) => new OwnershipPass(run),
};

class OwnershipPass implements Pass {
  private looked = 0;
  private foreign = 0;
  private onset = Number.POSITIVE_INFINITY;
  private readonly policies = new Set<number>();
  private readonly proof = new ProofStore('iteration');

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { samples, replays } = iteration;
    const policy = replays?.column('policy');
    if (!samples || !replays || !policy) return;
    const sample = replays.column('sample')!;
    const agent = samples.column('agent')!;
    const { own: here } = iteration;
    const policyOf = Array.from({ length: this.run.agentCount }, (_, who) => this.run.policyOf(who));
    const [looked, foreign] = [this.looked, this.foreign];
    for (let i = 0; i < here.length; i++) {
      if (here[i] === 0) continue;
      const own = policyOf[agent[sample[i]]];
      if (!(own >= 0)) continue;
      this.looked++;
      if (own === policy[i]) continue;
      this.foreign++;
      this.policies.add(policy[i]);
      this.onset = Math.min(this.onset, iteration.number);
    }
    const rows = this.looked - looked;
    if (this.foreign > foreign) this.proof.step(rows, rows - (this.foreign - foreign), rows);
  }

  finish(): Outcome {
    const share = this.foreign / Math.max(1, this.looked);
    const measured = { rows: this.looked, of_other_agents: this.foreign, share: figure(share) };
    const expected = { of_other_agents: 0 };
    if (this.looked === 0)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: told(
          'the manifest does not say which policy plays for which agent',
          '清单没有说明哪个策略代表哪个智能体',
        ),
      };
    if (this.foreign < fewestRows) return { status: 'pass', measured, expected, findings: [] };
    const transform = new OwnAgents();
    const agents = [...this.policies].flatMap((policy) => this.run.agentsOf(policy));
    return {
      status: 'fail',
      measured,
      expected,
      findings: [
        {
          cause: 'trained-on-other-agent',
          confidence: confidence(1, this.foreign),
          agents,
          onset: this.onset,
          rows: this.foreign,
          transform,
          ...this.proof.prove('number of rows', 'rows in the updates', "rows of the policies' own agents", transform),
          summary: `${this.foreign} rows in the updates of ${[...this.policies].map((policy) => this.run.policies[policy] ?? `policy ${policy}`).join(', ')} are of agents that another policy plays for.`,
          evidence: [{ check: 'ownership', measured, expected }],
        },
      ],
    };
  }
}
