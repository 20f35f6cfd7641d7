/** Whether the epoch loop ends at once, every time, although the policy has hardly moved. Stopping now and then is what the guard is for. */

import { told } from '../../../language/language.ts';
import { type Check, confidence, type Pass } from '../../check.ts';
import { conventionRemark } from '../../conventions.ts';
import { figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { ownLoops } from '../../evidence/steps/own-loops.ts';
import { stepKey } from '../../evidence/steps/step-key.ts';
import { limits } from '../../limits.ts';

export const klGuard: Check = {
  id: 'kl-guard',
  group: 'gradient',
  question: ['Does the epoch loop run on while the policy has hardly moved?', '策略几乎没动时，训练轮循环会继续吗？'],
  needs: [['steps.stopped', 'replays.sample']],
  causes: ['kl-guard-too-tight'],
  start: (run) => new GuardPass(run),
};

/** The band's lower end: below it there was no reason to stop. */
const band = limits.guardBand.value;

class GuardPass implements Pass {
  private updates = 0;
  private atOnce = 0;
  private kl = 0;
  private rows = 0;
  private onset = Number.POSITIVE_INFINITY;
  /** Updates that stopped, those of them that went on in a later pass, and the steps that they took then. */
  private readonly after = { stops: 0, updates: 0, steps: 0 };

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { steps } = iteration;
    const stopped = steps?.column('stopped');
    if (!steps || iteration.probed) return;
    if (!stopped) {
      this.unsaid(iteration);
      return;
    }
    const epoch = steps.column('epoch')!;
    const minibatch = steps.column('minibatch')!;
    const policy = steps.column('policy');
    const skipped = steps.column('skipped');
    const reported = steps.column('approx_kl');
    const planned = this.run.number('epochs') * this.run.number('minibatches');
    const taken = new Map<number, { steps: number; passes: number; stop: number }>();
    // A critic with a loop of its own takes its steps whether the policy's stopped or not.
    const critics = ownLoops(steps)?.critic;
    for (let i = 0; i < steps.rows; i++) {
      if (critics?.has(i)) continue;
      const key = policy ? policy[i] : 0;
      const own = taken.get(key) ?? { steps: 0, passes: 0, stop: -1 };
      taken.set(key, own);
      if (skipped?.[i] !== 1) own.steps++;
      own.passes = Math.max(own.passes, epoch[i] + 1);
      if (stopped[i] === 1 && own.stop < 0) own.stop = i;
    }
    for (const [key, own] of taken) {
      if (own.stop >= 0) this.goesOn(iteration, key, own.stop);
      // A policy that stays where it is, as at the end of a schedule, gives the guard nothing to stop at.
      if (own.stop < 0 && !moves(iteration, key)) continue;
      this.updates++;
      if (own.stop < 0 || (Number.isFinite(planned) && planned < limits.plannedSteps.value)) continue;
      // Who looks at the KL after each pass alone cannot stop before the first is over.
      const pass = own.passes === 1 && own.steps === this.run.number('minibatches') ? own.steps : 0;
      const first = Math.max(2, pass, Number.isFinite(planned) ? limits.guardWindow.value * planned : 2);
      const stat = iteration.stats.get(stepKey(epoch[own.stop], minibatch[own.stop], key));
      const k2 = stat ? stat.k2 : reported ? Math.abs(reported[own.stop]) : Number.NaN;
      if (own.steps > first || !(k2 < band)) continue;
      this.atOnce++;
      this.kl += k2;
      this.rows += stat?.rows ?? 1;
      this.onset = Math.min(this.onset, iteration.number);
    }
  }

  /** Steps of later passes that still train the policy. A critic may go on alone, and a last step of the pass may be told after the stop. */
  private goesOn({ steps, stats }: Iteration, key: number, stop: number): void {
    const [epoch, minibatch] = [steps!.column('epoch')!, steps!.column('minibatch')!];
    const [policy, skipped] = [steps!.column('policy'), steps!.column('skipped')];
    let count = 0;
    for (let i = stop + 1; i < steps!.rows; i++)
      if ((policy ? policy[i] : 0) === key && skipped?.[i] !== 1 && epoch[i] > epoch[stop])
        if (stats.has(stepKey(epoch[i], minibatch[i], key))) count++;
    this.after.stops++;
    if (count > 0) this.after.updates++;
    this.after.steps += count;
  }

  private remarks(): Pick<Outcome, 'remarks'> {
    const { stops, updates, steps } = this.after;
    if (updates === 0 || updates < limits.most.value * stops) return {};
    const summary = `Training goes on after the stop: in ${updates} of the ${stops} updates that stopped, ${steps} steps of later passes follow.`;
    return { remarks: [conventionRemark('training-after-stop', summary)] };
  }

  /** Where the loop does not say when it stopped: a guard is declared, and an update took one step and left most rows unused. Before the first step there is no KL to stop for. */
  private unsaid(iteration: Iteration): void {
    const { samples, stats, run, leftOut } = iteration;
    if (!samples || !(run.number('target_kl') > 0)) return;
    const agent = samples.column('agent')!;
    for (const policy of new Set([...stats.values()].map((stat) => stat.policy))) {
      const own = [...stats.values()].filter((stat) => stat.policy === policy);
      const agents = new Set(run.agentsOf(policy));
      let rows = 0;
      for (let row = 0; row < samples.rows; row++)
        if (leftOut?.[row] !== 1 && (agents.size === 0 || agents.has(agent[row]))) rows++;
      this.updates++;
      if (own.length > 1 || !own[0].before || own[0].rows > (1 - limits.most.value) * rows) continue;
      this.atOnce++;
      this.kl += own[0].k2;
      this.rows += own[0].rows;
      this.onset = Math.min(this.onset, iteration.number);
    }
  }

  finish(): Outcome {
    const measured = {
      updates: this.updates,
      stopped_at_once: this.atOnce,
      k2_at_the_stop: figure(this.kl / Math.max(1, this.atOnce)),
    };
    const expected = { stopped_at_once: 'now and then at most', k2_at_the_stop: `above ${band}` };
    if (this.updates === 0)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: told('needs steps.stopped, or a declared target_kl', '需要 steps.stopped，或声明的 target_kl'),
      };
    if (this.atOnce < 2 || this.atOnce < limits.guardAlways.value * this.updates)
      return { status: 'pass', measured, expected, findings: [], ...this.remarks() };
    return {
      status: 'fail',
      measured,
      expected,
      findings: [
        {
          cause: 'kl-guard-too-tight',
          confidence: confidence(this.atOnce / this.updates, this.atOnce * limits.perStep.value),
          agents: [],
          onset: this.onset,
          rows: this.rows,
          summary: `The epoch loop stopped within its first steps in ${this.atOnce} of ${this.updates} updates, at a k2 of ${figure(this.kl / this.atOnce)}.`,
          evidence: [{ check: 'kl-guard', measured, expected }],
        },
      ],
      ...this.remarks(),
    };
  }
}

/** Whether any step finds the policy elsewhere than it was when acting; also where nothing tells. */
function moves({ stats }: Iteration, policy: number): boolean {
  const own = [...stats.values()].filter((stat) => stat.policy === policy);
  return own.length === 0 || own.some(({ k2 }) => !(Math.sqrt(2 * k2) <= limits.movedRows.value));
}
