/** What does a time limit bootstrap from? Environments that reset by themselves hand out the first observation of the next episode where the last one of the old is needed; the value of that next row is then found in the credit of the row that was cut off. */
import { told } from '../../../language/language.ts';
import { type Check, confidence, fewestRows, type Pass } from '../../check.ts';
import { conventionRemark } from '../../conventions.ts';
import { type Finding, type Outcome, percent } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { InputOf } from '../../transforms/replay/input-of.ts';
import { ResetRows } from '../replay/reset-rows.ts';

const check = 'final-observation';

export const finalObservation: Check = {
  id: check,
  group: 'credit',
  question: [
    'Is what a time limit leaves the value of its own last state?',
    '时间上限留下的价值是否属于它自己的最后状态？',
  ],
  needs: [['samples.truncated'], ['samples.value'], ['samples.next_value', 'samples.advantage']],
  causes: ['final-observation-lost'],
  start: (run) => new FinalPass(run),
};

class FinalPass implements Pass {
  private looked = 0;
  private lost = 0;
  /** Time limits that bootstrap from the state in which the last action was taken. */
  private before = 0;
  private onset = Number.POSITIVE_INFINITY;
  private readonly agents = new Set<number>();
  private readonly proof = new ProofStore('step');
  private readonly resets = new ResetRows();
  /** Time limits that a step which only resets follows. */
  private own = 0;

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { samples, chains } = iteration;
    const [truncated, value, next, advantage] = ['truncated', 'value', 'next_value', 'advantage'].map(
      (name) => samples?.column(name) ?? null,
    );
    const reward = iteration.folded?.reward ?? samples?.column('reward');
    if (!chains || !truncated || !value || this.run.setting('truncation_bootstraps') === false) return;
    const gamma = this.run.number('gamma');
    const spread = rangeOf(value);
    const agent = samples!.column('agent')!;
    // A step that only resets its environment still shows the old episode's last state.
    const found = this.resets.see(iteration);
    const resets = new Set(found.certain ? found.rows : []);
    for (let row = 0; row < chains.rows; row++) {
      const after = chains.streamNext[row];
      if (truncated[row] !== 1 || after < 0) continue;
      if (resets.has(after)) {
        this.own++;
        continue;
      }
      // What the credit was made with, where it tells; else what was noted down.
      const used =
        advantage && reward && gamma > 0
          ? (advantage[row] - reward[row] + value[row]) / gamma
          : (next?.[row] ?? Number.NaN);
      if (Number.isNaN(used)) continue;
      // Equal values say nothing.
      if (Math.abs(value[after] - value[row]) < limits.noticedShare.value * spread) continue;
      this.looked++;
      const near = (a: number, b: number) =>
        Math.abs(a - b) <= limits.sameBootstrap.value * (spread + Math.abs(value[after]));
      const same = (a: number) => near(a, value[after]);
      if (near(used, value[row])) this.before++;
      if (!same(used)) continue;
      this.lost++;
      this.agents.add(agent[row]);
      this.onset = Math.min(this.onset, iteration.number);
      const noted = next?.[row] ?? Number.NaN;
      this.proof.step(used, Number.isNaN(noted) || same(noted) ? value[row] : noted, value[after]);
    }
  }

  private remarks(): Pick<Outcome, 'remarks'> {
    if (this.before < fewestRows || this.before < limits.nearlyAll.value * this.looked) return {};
    const summary = `${this.before} time limits bootstrap from the value of the state before the last action, not of the one after it.`;
    return { remarks: [conventionRemark('time-limit-before', summary)] };
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = { rows: this.looked, of_the_next_episode: this.lost };
    const expected = { of_the_next_episode: 0 };
    if (this.looked === 0 || this.resets.shown)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note:
          this.looked + this.own > 0
            ? told(
                'the row after a time limit is the last state of the old episode, in a step that only resets',
                '时间上限之后的一行是旧回合的最后状态，那一步只做重置',
              )
            : told('no time limit has a row of the next episode after it', '没有时间上限之后紧跟下一回合的行'),
      };
    if (this.lost < fewestRows || this.lost < limits.formShare.value * this.looked)
      return { status: 'pass', measured, expected, findings: [], ...this.remarks() };
    const transform = new InputOf(1, 'stream');
    const finding: Finding = {
      cause: 'final-observation-lost',
      // Where the row after a limit may well be the old episode's, neither is proved.
      confidence: Math.min(
        this.resets.likely ? limits.candidate.value : 1,
        confidence(this.lost / this.looked, this.lost),
      ),
      ...(this.resets.likely ? { instead: ['phantom-steps'] } : {}),
      agents: [...this.agents].sort((a, b) => a - b),
      onset: this.onset,
      rows: this.lost,
      transform,
      ...this.proof.prove('bootstrap', 'in the credit', 'of another state', transform),
      told: true,
      summary: told(
        `${percent(this.lost / this.looked)} of ${this.looked} time limits bootstrap from the value of the first state of the next episode: the last observation of the episode that was cut off is lost.`,
        `${this.looked} 个时间上限中有 ${percent(this.lost / this.looked)} 用下一回合首个状态的价值自举：被截断回合的最后观测丢失了。`,
      ),
      evidence: [{ check, measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: [finding] };
  }
}

function rangeOf(values: ArrayLike<number>): number {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < values.length; i++)
    if (Number.isFinite(values[i])) [low, high] = [Math.min(low, values[i]), Math.max(high, values[i])];
  return Math.max(0, high - low);
}
