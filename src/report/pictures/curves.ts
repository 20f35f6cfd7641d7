/** Figures over the run, gathered while the doctor reads it: KL estimators, entropy, gradients and changes by role, and reported metrics beside recomputed ones. Everything is recomputed from rows. */
import type { Iteration } from '../../doctor/evidence/iteration.ts';
import { reportedSteps } from '../../doctor/evidence/steps/reported-steps.ts';
import { stepKey } from '../../doctor/evidence/steps/step-key.ts';
import { PairStore } from './picture.ts';

/** One policy's figures in one iteration; means over its steps, weighted by rows where they are means over rows. */
export interface PolicyPoint {
  iteration: number;
  policy: number;
  rows: number;
  k1: number;
  k2: number;
  k3: number;
  clipFraction: number;
  entropy: number;
  logCount: number;
  /** As the trainer reported it, mean over steps. */
  reportedKl: number;
  reportedEntropy: number;
}

export interface RolePoint {
  iteration: number;
  policy: number;
  role: string;
  /** Length of the role's gradient and of its change, mean over the iteration's steps. */
  gradient: number;
  change: number;
}

export class Curves {
  readonly policies: PolicyPoint[] = [];
  readonly roles: RolePoint[] = [];
  /** x recomputed, y reported. For KL the recomputed figure is kept per estimator. */
  readonly compared = new Map<string, PairStore>();

  watch(iteration: Iteration): void {
    this.addPolicies(iteration);
    this.addRoles(iteration);
    this.addCompared(iteration);
  }

  private addPolicies(iteration: Iteration): void {
    const sums = new Map<number, { weight: number; rows: number; totals: Float64Array }>();
    for (const stat of iteration.stats.values()) {
      const own = sums.get(stat.policy) ?? { weight: 0, rows: 0, totals: new Float64Array(6) };
      sums.set(stat.policy, own);
      own.weight += stat.weight;
      own.rows += stat.rows;
      [stat.k1, stat.k2, stat.k3, stat.clipFraction, stat.entropy, stat.logCount].forEach((value, i) => {
        own.totals[i] += stat.weight * value;
      });
    }
    const reported = meansByPolicy(iteration, ['approx_kl', 'entropy']);
    for (const policy of new Set([...sums.keys(), ...reported.keys()])) {
      const own = sums.get(policy);
      const mean = (i: number) => (own ? own.totals[i] / own.weight : Number.NaN);
      const [kl, entropy] = reported.get(policy) ?? [Number.NaN, Number.NaN];
      this.policies.push({
        iteration: iteration.number,
        policy,
        rows: own?.rows ?? 0,
        k1: mean(0),
        k2: mean(1),
        k3: mean(2),
        clipFraction: mean(3),
        entropy: mean(4),
        logCount: mean(5),
        reportedKl: kl,
        reportedEntropy: entropy,
      });
    }
  }

  private addRoles(iteration: Iteration): void {
    const { tensors, run } = iteration;
    const tensor = tensors?.column('tensor');
    if (!tensors || !tensor) return;
    const epoch = tensors.column('epoch')!;
    const minibatch = tensors.column('minibatch')!;
    const gradient = tensors.column('grad_norm');
    const change = tensors.column('delta_norm') ?? tensors.column('delta');
    const steps = new Map<string, Map<number, [number, number]>>();
    for (let i = 0; i < tensors.rows; i++) {
      const info = run.tensors[tensor[i]];
      if (!info) continue;
      const key = `${info.policy} ${info.role}`;
      const own = steps.get(key) ?? new Map<number, [number, number]>();
      steps.set(key, own);
      const step = stepKey(epoch[i], minibatch[i], info.policy);
      const sum = own.get(step) ?? [0, 0];
      own.set(step, sum);
      sum[0] += gradient ? gradient[i] ** 2 : Number.NaN;
      sum[1] += change ? change[i] ** 2 : Number.NaN;
    }
    for (const [key, own] of steps) {
      const [policy, ...role] = key.split(' ');
      const mean = (k: 0 | 1) => {
        let sum = 0;
        for (const pair of own.values()) sum += Math.sqrt(pair[k]);
        return sum / own.size;
      };
      const at = { iteration: iteration.number, policy: Number(policy), role: role.join(' ') };
      this.roles.push({ ...at, gradient: mean(0), change: mean(1) });
    }
  }

  private addCompared(iteration: Iteration): void {
    const { steps } = iteration;
    if (!steps) return;
    for (const { row, stat } of reportedSteps(iteration)) {
      const add = (name: string, column: string, recomputed: number) => {
        const reported = steps.column(column)?.[row];
        if (reported === undefined || !Number.isFinite(reported) || !Number.isFinite(recomputed)) return;
        const store = this.compared.get(name) ?? new PairStore();
        this.compared.set(name, store);
        store.add(recomputed, reported);
      };
      add('policy_loss', 'policy_loss', stat.loss);
      for (const k of ['k1', 'k2', 'k3'] as const) add(`approx_kl ${k}`, 'approx_kl', stat[k]);
      add('clip_fraction', 'clip_fraction', stat.clipFraction);
      add('entropy', 'entropy', stat.entropy);
    }
  }
}

/** Means over the steps of each policy that were not skipped, as the trainer reported them. */
function meansByPolicy(iteration: Iteration, names: readonly string[]): Map<number, number[]> {
  const found = new Map<number, number[]>();
  const { steps } = iteration;
  if (!steps) return found;
  const policy = steps.column('policy');
  const skipped = steps.column('skipped');
  const rows = new Map<number, number[]>();
  for (let i = 0; i < steps.rows; i++) {
    if (skipped?.[i] === 1) continue;
    const key = policy ? policy[i] : 0;
    rows.set(key, [...(rows.get(key) ?? []), i]);
  }
  for (const [key, list] of rows)
    found.set(
      key,
      names.map((name) => {
        const column = steps.column(name);
        return column ? list.reduce((sum, row) => sum + column[row], 0) / list.length : Number.NaN;
      }),
    );
  return found;
}
