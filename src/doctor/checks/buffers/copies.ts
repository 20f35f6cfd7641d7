/** Do target networks follow? Long intervals are healthy, so a copy counts as frozen only where the declared interval is over, or where its neighbours follow and it does not. */
import { told } from '../../../language/language.ts';
import { type Check, confidence, fewestRows, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome, percent } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { limits } from '../../limits.ts';

const check = 'target-networks';

export const targetNetworks: Check = {
  id: check,
  group: 'gradient',
  question: ['Do target networks follow the networks that they are copies of?', '目标网络是否跟随它所复制的网络？'],
  needs: [['copies.hash']],
  causes: ['target-network-frozen', 'target-network-unused'],
  of: 'targets',
  start: (run) => new CopiesPass(run),
};

interface Copy {
  hash: number;
  looked: number;
  changes: number;
  /** The most steps without a change, from the first that was recorded. */
  gap: number;
  onset: number;
  /** Steps of the original, and those after which the copy was at the same place. */
  moves: number;
  atOnce: number;
}

class CopiesPass implements Pass {
  private readonly copies = new Map<string, Copy>();

  constructor(private readonly run: Run) {}

  iteration({ copies, number }: Iteration): void {
    const [hash, gap, moved] = ['hash', 'gap', 'moved'].map((name) => copies?.column(name));
    const names = copies?.texts('name');
    if (!copies || !hash || !names) return;
    for (let i = 0; i < copies.rows; i++) {
      const own = this.copies.get(names[i]) ?? {
        hash: hash[i],
        looked: 0,
        changes: 0,
        gap: 0,
        onset: number,
        moves: 0,
        atOnce: 0,
      };
      this.copies.set(names[i], own);
      own.looked++;
      if (hash[i] !== own.hash) own.changes++;
      own.hash = hash[i];
      if (gap && Number.isFinite(gap[i])) own.gap = gap[i];
      if (!gap || !moved || !(moved[i] > 0)) continue;
      own.moves++;
      if (gap[i] < limits.copyLag.value * moved[i]) own.atOnce++;
    }
  }

  finish(): Outcome {
    const all = [...this.copies];
    const steps = Math.max(0, ...all.map(([, { looked }]) => looked));
    // What equals its original has nothing to follow.
    const still = all.filter(([, { changes, gap }]) => changes === 0 && gap > 0);
    const following = all.filter(([, { changes }]) => changes > 0);
    const measured: Outcome['measured'] = { steps, tensors: all.length, never_changed: still.length };
    const expected = { never_changed: 0 };
    if (all.length === 0) return { status: 'not-checked', measured, expected, findings: [] };
    const interval = this.run.number('target_update_interval');
    const soft = this.run.number('tau');
    const due = interval > 0 ? steps > 2 * interval : soft > 0 && soft < 1 && steps >= fewestRows;
    const changes = Math.max(0, ...following.map(([, { changes: count }]) => count));
    const frozen = following.length > 0 ? changes >= limits.copiesChanged.value : due;
    const bypassed = this.atOnce(all, interval, soft);
    if (bypassed) {
      const outcome = { measured: { ...measured, at_once: bypassed.rows }, expected: { ...expected, at_once: 0 } };
      return {
        status: 'fail',
        ...outcome,
        findings: [{ ...bypassed, evidence: [{ check, ...outcome }] }],
      };
    }
    if (still.length === 0 || !frozen) {
      const note =
        still.length > 0 && !(interval > 0 || soft > 0)
          ? told(
              'whether it is time for an update is told by settings.target_update_interval or tau',
              '是否该更新由 settings.target_update_interval 或 tau 说明',
            )
          : null;
      return { status: 'pass', measured, expected, findings: [], ...(note ? { note } : {}) };
    }
    const names = still.map(([name]) => name);
    const part = following.length > 0;
    const some = names.slice(0, limits.namesTold.value).join(', ');
    const finding: Finding = {
      cause: 'target-network-frozen',
      confidence: confidence(1, steps),
      agents: [],
      onset: still[0][1].onset,
      rows: steps,
      before: still[0][1].gap,
      told: true,
      summary: told(
        part
          ? `${names.length} of ${all.length} tensors of the target network never change in ${steps} steps, while the others do ${changes} times: ${some}${names.length > limits.namesTold.value ? ' ...' : ''}.`
          : `No tensor of the target network changes in ${steps} steps, and an update was due${interval > 0 ? ` every ${figure(interval)}` : ' in each'}: ${some}.`,
        part
          ? `目标网络的 ${all.length} 个张量中有 ${names.length} 个在 ${steps} 步中从不变化，而其余的变化了 ${changes} 次：${some}${names.length > limits.namesTold.value ? ' ...' : ''}。`
          : `目标网络在 ${steps} 步中没有任何张量变化，而按设置早该更新：${some}。`,
      ),
      evidence: [{ check, measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: [finding] };
  }

  /** A copy that is where its original is after every step slows nothing down, although it is declared to. */
  private atOnce(all: readonly (readonly [string, Copy])[], interval: number, soft: number): Finding | null {
    const declared = interval > 2 ? 1 / interval : soft > 0 ? soft : 1;
    const [moves, atOnce] = all.reduce(([m, a], [, own]) => [m + own.moves, a + own.atOnce], [0, 0]);
    if (declared >= limits.most.value || moves < fewestRows || atOnce < limits.formShare.value * moves) return null;
    return {
      cause: 'target-network-unused',
      confidence: confidence(1, moves),
      agents: [],
      onset: all[0][1].onset,
      rows: Math.max(...all.map(([, { looked }]) => looked)),
      told: true,
      summary: told(
        `After ${percent(atOnce / moves)} of the steps the target network is where the online network is, although ${interval > 2 ? `a copy every ${figure(interval)} steps` : `a weight of ${figure(soft)}`} is declared: targets move with every step.`,
        `${percent(atOnce / moves)} 的步之后目标网络与在线网络处于同一位置，尽管声明了${interval > 2 ? `每 ${figure(interval)} 步复制一次` : `权重 ${figure(soft)}`}：目标随每一步移动。`,
      ),
      evidence: [],
    };
  }
}
