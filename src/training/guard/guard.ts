/** The live guard. In `warn` it reports each kind once and counts; in `strict` it stops with a sentence that names the row, the columns and the numbers. */
import type { LearnerRows, TrainJob } from '../../algorithms/ppo/update.ts';
import type { ReadonlyBatch, ReadonlyColumn } from '../../batch/batch.ts';
import { told } from '../../language/language.ts';
import { allFinite } from '../../math/finite.ts';
import type { Role, StepReport } from '../../net/types.ts';
import type { StepMeasures } from '../record/tally.ts';
import type { Replay } from './replay-check.ts';

export type GuardMode = 'off' | 'warn' | 'strict';

export type GuardKind =
  | 'rows-not-sorted'
  | 'not-finite'
  | 'log-probability-above-0'
  | 'action-not-possible'
  | 'replay-differs'
  | 'minibatch-skipped'
  | 'first-kl-too-large'
  | 'no-gradient'
  | 'not-bound-once'
  | 'parameters-not-moved'
  | 'logits-not-moved'
  | 'cause-named'
  | 'value-loss-blown-up';

/**
 * What a strict guard throws: a sentence that names the row, the columns and the numbers.
 *
 * @example
 * try {
 *   await train({ game: 'echo', guard: 'strict' });
 * } catch (error) {
 *   if (error instanceof GuardStop) console.error(error.message);
 * }
 */
export class GuardStop extends Error {
  constructor(
    readonly kind: GuardKind,
    sentence: string,
  ) {
    super(sentence);
    this.name = 'GuardStop';
  }
}

/** Single precision rounds a certain choice's log-probability to within this of 0. */
const aboveZero = 1e-5;
/** More than a whole update of a run that learns well moves the policy, ten times over. */
const firstKl = 0.2;
/** Below this entropy a choice is as good as certain, and its gradient may vanish. */
const undecided = 1e-3;

const roleNames = { trunk: '主干', head: '输出头', critic: '评论家' } as const;

const stop = (kind: GuardKind, name: string, sentence: string): GuardStop =>
  new GuardStop(kind, told(`Guard (${name}): ${sentence}`, `守卫（${name}）：${sentence}`));

export class Guard {
  readonly counts = new Map<GuardKind, number>();
  private readonly named = new Set<string>();

  constructor(
    readonly mode: GuardMode,
    private readonly names: readonly string[],
    private readonly say: (kind: GuardKind, sentence: string) => void,
  ) {}

  get on(): boolean {
    return this.mode !== 'off';
  }

  /** After collecting and sorting: order, finite columns, log-probabilities, actions. */
  checkBatch(batch: ReadonlyBatch): void {
    if (!this.on) return;
    const unsorted = batch.firstUnsorted();
    if (unsorted >= 0) {
      this.report(
        'rows-not-sorted',
        told(
          `${this.row(batch, unsorted)} does not come after ${this.row(batch, unsorted - 1)}: rows must be sorted by (episode, t, agent) before credit is assigned.`,
          `${this.row(batch, unsorted)} 没有排在 ${this.row(batch, unsorted - 1)} 之后：分配信用之前，各行必须按 (episode, t, agent) 排序。`,
        ),
      );
    }
    const columns = { old_logp: batch.oldLogp, value: batch.value, reward: batch.reward, next_value: batch.nextValue };
    for (const [name, column] of Object.entries(columns)) this.finite(batch, name, column);
    this.finite(batch, 'obs', batch.obs, batch.shape.observation, batch.slot);
    for (let row = 0; row < batch.rows; row++) {
      if (batch.oldLogp[row] > aboveZero) {
        this.report(
          'log-probability-above-0',
          told(
            `${this.row(batch, row)}: old_logp is ${batch.oldLogp[row]}, but a log-probability is at most 0.`,
            `${this.row(batch, row)}：old_logp 为 ${batch.oldLogp[row]}，而对数概率不会大于 0。`,
          ),
        );
        break;
      }
    }
    for (let row = 0; row < batch.rows; row++) {
      const action = batch.action[row];
      const possible = action >= 0 && action < batch.numActions[row] && batch.legal[batch.first[row] + action] === 1;
      if (possible) continue;
      this.report(
        'action-not-possible',
        told(
          `${this.row(batch, row)}: action is ${action}, which is not one of its ${batch.numActions[row]} candidates or is not legal.`,
          `${this.row(batch, row)}：action 为 ${action}，不在该行的 ${batch.numActions[row]} 个候选动作之中，或不合法。`,
        ),
      );
      break;
    }
  }

  checkCredit(batch: ReadonlyBatch): void {
    if (!this.on) return;
    this.finite(batch, 'advantage', batch.advantage);
    this.finite(batch, 'return', batch.return);
  }

  checkReplay(batch: ReadonlyBatch, rows: LearnerRows, replay: Replay): void {
    if (!this.on || replay.failed === 0) return;
    const row = replay.firstFailed;
    const stored = replay.job?.rows.oldLogp[replay.job.order[row]] ?? Number.NaN;
    const again = replay.out.logp[row];
    this.report(
      'replay-differs',
      told(
        `${this.row(batch, rows.sample[row])}: new_logp is ${again} before any step but old_logp is ${stored}; they differ by ${Math.abs(again - stored)} where 0.0001 is allowed, in ${replay.failed} of ${rows.length} rows.`,
        `${this.row(batch, rows.sample[row])}：在任何一步更新之前，new_logp 为 ${again}，old_logp 为 ${stored}，相差 ${Math.abs(again - stored)}，只允许 0.0001；${rows.length} 行中有 ${replay.failed} 行如此。`,
      ),
      replay.failed,
    );
  }

  skipped(job: TrainJob): void {
    if (!this.on) return;
    const all = job.end - job.from;
    this.report(
      'minibatch-skipped',
      told(
        `${this.step(job)}: only ${job.to - job.from} of ${all} rows gave their old_logp again, below 90 %; the minibatch was skipped.`,
        `${this.step(job)}：${all} 行中只有 ${job.to - job.from} 行重新得到其 old_logp，低于 90 %；该小批量被跳过。`,
      ),
    );
  }

  /** A critic's loss that is many times what it used to be. */
  valueLossBlownUp(policy: string, iteration: number, loss: number, usual: number): void {
    if (!this.on) return;
    this.report(
      'value-loss-blown-up',
      told(
        `policy ${policy}, iteration ${iteration}: value_loss is ${loss} where it used to be about ${usual}; look at the rewards and at imagined rows, or lower ppo.criticLearningRate.`,
        `策略 ${policy}，迭代 ${iteration}：value_loss 为 ${loss}，而此前约为 ${usual}；请检查奖励和想象的行，或降低 ppo.criticLearningRate。`,
      ),
    );
  }

  checkStep(job: TrainJob, report: StepReport, measured: StepMeasures): void {
    if (!this.on) return;
    if (!report.finite) {
      this.report(
        'not-finite',
        told(
          `${this.step(job)}: loss is ${report.loss} and grad_norm ${report.gradNorm}; the parameters were left as they were.`,
          `${this.step(job)}：loss 为 ${report.loss}，grad_norm 为 ${report.gradNorm}；参数保持不变。`,
        ),
      );
      return;
    }
    for (let i = 0; i < job.to - job.from; i++) {
      if (job.out.logp[i] <= aboveZero) continue;
      const row = job.order[job.from + i];
      this.report(
        'log-probability-above-0',
        told(
          `${this.step(job)}, sample ${job.rows.sample[row]}: new_logp is ${job.out.logp[i]}, but a log-probability is at most 0.`,
          `${this.step(job)}，样本 ${job.rows.sample[row]}：new_logp 为 ${job.out.logp[i]}，而对数概率不会大于 0。`,
        ),
      );
      break;
    }
    if (job.epoch === 0 && job.minibatch === 0) this.checkFirstKl(job, measured);
    if (report.tensors) this.checkTensors(job, report, measured);
  }

  /** Of an update's first minibatch: before the step nothing has moved, and one step alone must not move far. A probe may. */
  private checkFirstKl(job: TrainJob, { klAfter }: StepMeasures): void {
    if (job.probe !== '') return;
    let sum = 0;
    for (let i = job.from; i < job.to; i++) {
      const logRatio = job.out.logp[i - job.from] - job.rows.oldLogp[job.order[i]];
      sum += Math.exp(logRatio) - 1 - logRatio;
    }
    const before = sum / Math.max(1, job.to - job.from);
    if (before > firstKl)
      this.report(
        'first-kl-too-large',
        told(
          `${this.step(job)}: the KL between the policy that sampled and the one that is trained is ${before} before any step, above ${firstKl}; the update does not score the rows as sampling did.`,
          `${this.step(job)}：在任何一步更新之前，采样策略与训练策略之间的 KL 为 ${before}，高于 ${firstKl}；更新计算各行概率的方式与采样时不同。`,
        ),
      );
    else if (klAfter > firstKl)
      this.report(
        'first-kl-too-large',
        told(
          `${this.step(job)}: the KL between the policy that sampled and the one that is trained is ${klAfter} after its step, above ${firstKl}; one step moves too far: lower ppo.learningRate.`,
          `${this.step(job)}：这一步之后，采样策略与训练策略之间的 KL 为 ${klAfter}，高于 ${firstKl}；一步走得太远：请降低 ppo.learningRate。`,
        ),
      );
  }

  /** Only where a gradient must be there: in the first step no ratio is clipped yet, and some row is undecided and has credit. */
  private checkTensors(job: TrainJob, report: StepReport, measured: StepMeasures): void {
    const { parameters } = job.policy;
    for (let i = 0; i < parameters.length; i++) {
      if (job.bound[i] === 1) continue;
      this.report(
        'not-bound-once',
        told(
          `${this.step(job)}: ${job.bound[i]} optimiser groups hold ${parameters[i].name}, but exactly one must.`,
          `${this.step(job)}：${parameters[i].name} 属于 ${job.bound[i]} 个优化器参数组，应恰好属于一个。`,
        ),
      );
      break;
    }
    if (job.epoch > 0 || job.minibatch > 0) return;
    const choosing = this.choosing(job);
    for (const role of ['trunk', 'head', 'critic'] as const) {
      if (role !== 'critic' && !choosing) continue;
      const rate = job.settings.groups[role].learningRate;
      const { gradNonzero, delta, gradNorm } = sums(job, report, role);
      if (gradNonzero === 0 && hasRole(job, role)) {
        if (role !== 'critic' || report.valueLoss > 0)
          this.report(
            'no-gradient',
            told(
              `${this.step(job)}: no entry of the ${role}'s gradient differs from 0, though advantages and choices vary.`,
              `${this.step(job)}：尽管优势和选择各不相同，${roleNames[role]}的梯度却全为 0。`,
            ),
          );
      } else if (delta === 0 && rate > 0 && gradNonzero > 0) {
        this.report(
          'parameters-not-moved',
          told(
            `${this.step(job)}: the ${role}'s gradient has length ${gradNorm} and its learning rate is ${rate}, but no parameter changed.`,
            `${this.step(job)}：${roleNames[role]}的梯度长度为 ${gradNorm}，学习率为 ${rate}，但没有参数发生变化。`,
          ),
        );
      }
    }
    const { trunk, head } = job.settings.groups;
    if (choosing && measured.deltaLogits === 0 && trunk.learningRate + head.learningRate > 0)
      this.report(
        'logits-not-moved',
        told(
          `${this.step(job)}: delta_logits is 0: the step did not change the logits of its own minibatch.`,
          `${this.step(job)}：delta_logits 为 0：这一步没有改变本小批量的 logits。`,
        ),
      );
  }

  private choosing(job: TrainJob): boolean {
    const { rows, order, from, to, out } = job;
    for (let i = from; i < to; i++)
      if (out.entropy[i - from] > undecided && Math.abs(rows.advantage[order[i]]) > undecided) return true;
    return false;
  }

  private finite(batch: ReadonlyBatch, name: string, column: ReadonlyColumn, width = 1, at?: ReadonlyColumn): void {
    if (!at && allFinite(column, 0, batch.rows * width)) return;
    for (let row = 0; row < batch.rows; row++) {
      const from = (at ? at[row] : row) * width;
      if (allFinite(column, from, from + width)) continue;
      let wrong = from;
      while (Number.isFinite(column[wrong])) wrong++;
      this.report(
        'not-finite',
        told(
          `${this.row(batch, row)}: ${name} is ${column[wrong]}.`,
          `${this.row(batch, row)}：${name} 为 ${column[wrong]}。`,
        ),
      );
      return;
    }
  }

  /** What the doctor found in the recording so far: each cause is told once. */
  nameCause(cause: string, sentence: string): void {
    this.counts.set('cause-named', (this.counts.get('cause-named') ?? 0) + 1);
    if (this.mode === 'strict') throw stop('cause-named', cause, sentence);
    if (!this.named.has(cause)) this.say('cause-named', told(`${cause}: ${sentence}`, `${cause}：${sentence}`));
    this.named.add(cause);
  }

  private report(kind: GuardKind, sentence: string, count = 1): void {
    const before = this.counts.get(kind) ?? 0;
    this.counts.set(kind, before + count);
    if (this.mode === 'strict') throw stop(kind, kind, sentence);
    if (before === 0) this.say(kind, sentence);
  }

  private row(batch: ReadonlyBatch, row: number): string {
    return told(
      `samples row ${row} (iteration ${batch.iteration[row]}, episode ${batch.episode[row]}, t ${batch.t[row]}, agent ${this.names[batch.agent[row]]})`,
      `samples 第 ${row} 行（迭代 ${batch.iteration[row]}，回合 ${batch.episode[row]}，t ${batch.t[row]}，智能体 ${this.names[batch.agent[row]]}）`,
    );
  }

  private step(job: TrainJob): string {
    return told(
      `policy ${job.learner.name}, iteration ${job.iteration}, epoch ${job.epoch}, minibatch ${job.minibatch}`,
      `策略 ${job.learner.name}，迭代 ${job.iteration}，第 ${job.epoch} 轮，小批量 ${job.minibatch}`,
    );
  }
}

function hasRole(job: TrainJob, role: Role): boolean {
  return job.policy.parameters.some((parameter) => parameter.role === role);
}

function sums(job: TrainJob, report: StepReport, role: Role): { gradNonzero: number; delta: number; gradNorm: number } {
  let gradNonzero = 0;
  let delta = 0;
  let squares = 0;
  report.tensors?.forEach((tensor, i) => {
    if (job.policy.parameters[i].role !== role) return;
    gradNonzero += tensor.gradNonzero;
    delta += tensor.delta;
    squares += tensor.gradNorm ** 2;
  });
  return { gradNonzero, delta, gradNorm: Math.sqrt(squares) };
}
