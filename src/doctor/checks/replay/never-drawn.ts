/** Whether all rows of a batch are drawn into minibatches. Who draws at random, stops early, drops a remainder or leaves out rows for what they hold does so on purpose: accused are only rows that nothing but their place sets apart. */
import { told } from '../../../language/language.ts';
import { spread } from '../../../math/statistics.ts';
import { type Check, confidence, type Pass } from '../../check.ts';
import { type Finding, type Outcome, percent } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { policyOfStep, stepKey } from '../../evidence/steps/step-key.ts';
import { limits } from '../../limits.ts';

export const neverDrawn: Check = {
  id: 'never-drawn',
  group: 'credit',
  question: ['Are all rows of a batch drawn into minibatches?', '批中的每一行都进入小批次吗？'],
  needs: [['replays.sample'], ['samples.agent']],
  causes: ['rows-never-drawn'],
  start: (run) => new NeverDrawnPass(run),
};

/** Columns by which rows may be chosen on purpose. */
const contents = ['advantage', 'reward', 'value', 't', 'group', 'env'] as const;
/** Where sequences are trained, their first steps may only warm the memory up. */
const memory = ['samples.state_in', 'samples.state_hash', 'samples.state_norm', 'replays.sequence'];

interface Own {
  updates: number;
  suspect: number;
  never: number;
  rows: number;
  times: number;
  onset: number;
  /** Updates in a row that leave out the same places, and those places. */
  fixed: number;
  places: Uint8Array | null;
}

class NeverDrawnPass implements Pass {
  private readonly policies = new Map<number, Own>();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { samples, replays } = iteration;
    if (!samples || !replays || iteration.probed || memory.some((column) => this.run.seen.has(column))) return;
    const [sample, agent] = [replays.column('sample')!, samples.column('agent')!];
    const times = new Uint32Array(samples.rows);
    const drawn = new Set<number>();
    const steps = new Map<number, number>();
    const [epoch, minibatch, of] = ['epoch', 'minibatch', 'policy'].map((name) => replays.column(name));
    for (let i = 0; i < replays.rows; i++) {
      // Rows of another iteration make this no plain pass over its own.
      if (iteration.own[i] !== 1) return;
      times[sample[i]]++;
      drawn.add(agent[sample[i]]);
      const key = stepKey(epoch![i], minibatch![i], of ? of[i] : 0);
      steps.set(key, (steps.get(key) ?? 0) + 1);
    }
    const advantage = samples.column('advantage');
    const imagined = samples.column('imagined');
    for (const [policy, agents] of this.owners(drawn)) {
      const rows: number[] = [];
      for (let row = 0; row < samples.rows; row++)
        if (agents.has(agent[row]) && advantage?.[row] !== 0 && imagined?.[row] !== 1) rows.push(row);
      const largest = Math.max(...[...steps].filter(([key]) => !of || policyOfStep(key) === policy).map(([, n]) => n));
      this.judge(iteration, policy, rows, times, largest);
    }
  }

  /** By policy, its agents of which any row was drawn: who is not trained at all has no part in it. */
  private owners(drawn: ReadonlySet<number>): Map<number, Set<number>> {
    const found = new Map<number, Set<number>>();
    for (let policy = 0; policy < Math.max(1, this.run.policies.length); policy++) {
      const own = this.run.agentsOf(policy).filter((agent) => drawn.has(agent));
      if (own.length > 0) found.set(policy, new Set(own));
    }
    return found;
  }

  private judge(iteration: Iteration, policy: number, rows: readonly number[], times: Uint32Array, step: number): void {
    const own = this.policies.get(policy) ?? {
      ...{ updates: 0, suspect: 0, never: 0, rows: 0, times: 0, fixed: 0, places: null },
      onset: Number.POSITIVE_INFINITY,
    };
    this.policies.set(policy, own);
    own.updates++;
    const left = rows.filter((row) => times[row] === 0);
    const counts = new Map<number, number>();
    for (const row of rows) if (times[row] > 0) counts.set(times[row], (counts.get(times[row]) ?? 0) + 1);
    const [often, most] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), [0, 0]);
    // A remainder is smaller than a minibatch, and who draws at random uses some rows more often than others.
    const even = most >= limits.evenlyDrawn.value * (rows.length - left.length);
    if (left.length < step || left.length < limits.leftShare.value * rows.length || !even) {
      own.places = null;
      own.fixed = 0;
      return;
    }
    const places = new Uint8Array(times.length);
    for (const row of left) places[row] = 1;
    const same = own.places?.length === places.length && own.places.every((one, i) => one === places[i]);
    own.fixed = same ? own.fixed + 1 : 0;
    own.places = places;
    // Used once, they may be what an early stop left of the pass.
    const once = often === 1;
    if (once ? own.fixed < 2 || this.stops(iteration) : own.fixed === 0 && this.chosen(iteration, rows, times)) return;
    own.suspect++;
    own.never += left.length;
    own.rows += rows.length;
    own.times = often;
    own.onset = Math.min(own.onset, iteration.number);
  }

  private stops({ steps }: Iteration): boolean {
    const declared = this.run.number('target_kl') > 0 || this.run.number('epochs') > 1;
    return declared || (steps?.column('stopped')?.some((stopped) => stopped === 1) ?? false);
  }

  /** Whether the rows that were drawn differ from the others in what they hold. */
  private chosen({ samples }: Iteration, rows: readonly number[], times: Uint32Array): boolean {
    return contents.some((name) => {
      const column = samples!.column(name);
      if (!column) return false;
      return [(x: number) => x, Math.abs].some((form) => {
        const of = (used: boolean) =>
          rows.flatMap((row) => (times[row] > 0 === used && Number.isFinite(column[row]) ? [form(column[row])] : []));
        const [a, b] = [of(true), of(false)];
        if (a.length < 2 || b.length < 2) return false;
        const [used, left] = [spread(a), spread(b)];
        const error = Math.sqrt(used.std ** 2 / a.length + left.std ** 2 / b.length);
        return Math.abs(used.mean - left.mean) > limits.chosenErrors.value * error;
      });
    });
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = {};
    const expected = { never_drawn: 0 };
    const findings: Finding[] = [];
    for (const [policy, own] of this.policies) {
      const name = this.run.policies[policy] ?? `policy ${policy}`;
      measured[`${name}.updates`] = own.updates;
      measured[`${name}.never_drawn`] = own.never;
      if (own.suspect < 2 || own.suspect < limits.nearlyAll.value * (own.updates - 2)) continue;
      const share = own.never / own.rows;
      findings.push({
        cause: 'rows-never-drawn',
        confidence: confidence(1, own.never),
        agents: this.run.agentsOf(policy),
        onset: own.onset,
        rows: own.never,
        told: true,
        summary: told(
          `In ${own.suspect} updates ${percent(share)} of the rows of ${name} are drawn into no minibatch, while the others are drawn ${own.times} times each.`,
          `在 ${own.suspect} 次更新中，${name} 有 ${percent(share)} 的行不进入任何小批次，而其余的行各取用 ${own.times} 次。`,
        ),
        evidence: [{ check: 'never-drawn', measured, expected }],
      });
    }
    if (this.policies.size === 0)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings,
        note: told('no update draws plainly from its own rows', '没有哪次更新只从自己的行中取用'),
      };
    return { status: findings.length > 0 ? 'fail' : 'pass', measured, expected, findings };
  }
}
