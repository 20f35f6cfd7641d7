/**
 * Subgoal inference. A prior turns a future state into a short code and back; a posterior guesses the code of the state that play is heading
 * for from the history so far. In training that state is the one of best (or worst) value among the next few; in play it lies in the future,
 * so the policy only ever sees the guess, mixed at first with the prior's code of the present.
 */
import { RandomStream } from '../../../math/random.ts';
import type { Engine, PolicySave } from '../../../net/types.ts';
import { normalKl, reparameterize, reparameterizeGradient, unitNormalKl } from '../loss.ts';
import type { HopSettings } from '../settings.ts';
import { Model } from './model.ts';
import type { Planes, StateArray } from './planes.ts';
import { floats } from './ring.ts';

/** How well the future state is rebuilt, in nats per state, on steps that were never trained on. */
export interface SubgoalErrors {
  steps: number;
  /** From the posterior's guess. */
  posterior: number;
  /** From the prior alone: the best of a code of zeros and drawn codes. */
  prior: number;
  /** From each entry's own frequency, which knows nothing of the moment. */
  constant: number;
}

/** Rows to learn from: a moment, its history, and the state that was headed for. */
export interface SubgoalColumns {
  readonly state: StateArray;
  readonly trace: Float32Array;
  /** The row whose state is the subgoal of this row. */
  readonly goal: Int32Array;
}

/** Codes that are drawn from the prior to see what it rebuilds by itself. */
const drawnCodes = 1;

export class Subgoals {
  readonly size: number;
  /** Values of a history's trace: a fading sum of where players stood and what they did. */
  readonly traceWidth: number;
  private readonly encoder: Model;
  private readonly decoder: Model;
  private readonly posterior: Model;
  private readonly memory: number;
  private readonly divergence: number;
  private readonly batch: number;
  private noise = floats(0);
  private code = floats(0);
  private byCode = floats(0);
  private targets = floats(0);
  private prior = floats(0);

  constructor(
    private readonly engine: Engine,
    private readonly planes: Planes,
    private readonly settings: HopSettings,
    seed: number,
    name: string,
  ) {
    const { size, hidden, memory, divergence } = settings.subgoals;
    this.size = size;
    this.memory = memory;
    this.divergence = divergence;
    this.batch = settings.subgoals.batch;
    this.traceWidth = planes.players * (planes.cells + planes.actions);
    const rate = { learningRate: settings.subgoals.learningRate, settles: true };
    const model = (purpose: string, inputs: number, outputs: number) =>
      new Model(engine, { inputs, hidden, outputs }, rate, seed, name, 'subgoals', purpose);
    this.encoder = model('encoder', planes.observation, 2 * size);
    this.decoder = model('decoder', size, planes.observation);
    this.posterior = model('posterior', planes.observation + this.traceWidth, 2 * size);
  }

  /** The prior's share in what the policy sees: 1 at first, falling to 0. */
  mix(iteration: number): number {
    const { mixIterations } = this.settings.subgoals;
    return mixIterations === 0 ? 0 : Math.max(0, 1 - iteration / mixIterations);
  }

  /** What the policy sees: the posterior's guess, mixed with the prior's code of the present. */
  infer(
    { states, trace, traceOf }: { states: StateArray; trace: Float32Array; traceOf?: Int32Array },
    count: number,
    mix: number,
    out: Float32Array,
    to: number,
    stride: number,
  ): void {
    const { planes, size, posterior, encoder, traceWidth } = this;
    const width = posterior.shape.inputs;
    const x = posterior.begin(count);
    for (let i = 0; i < count; i++) {
      planes.write(states, i * planes.stateWidth, x, i * width, false);
      const from = (traceOf ? traceOf[i] : i) * traceWidth;
      const at = i * width + planes.observation;
      for (let j = 0; j < traceWidth; j++) x[at + j] = trace[from + j];
    }
    const jobs = [posterior.job(count)];
    if (mix > 0) {
      const p = encoder.begin(count);
      for (let i = 0; i < count; i++) planes.write(states, i * planes.stateWidth, p, i * planes.observation, false);
      jobs.push(encoder.job(count));
    }
    this.engine.forward(jobs);
    for (let i = 0; i < count; i++) {
      for (let j = 0; j < size; j++) {
        const guess = posterior.y[i * 2 * size + j];
        out[i * stride + to + j] = mix > 0 ? (1 - mix) * guess + mix * encoder.y[i * 2 * size + j] : guess;
      }
    }
  }

  /** The trace of a history after one more step. */
  follow(states: StateArray, at: number, action: Int32Array, first: number, trace: Float32Array, from: number): void {
    const { players, cells, actions, nowhere } = this.planes;
    const { memory } = this;
    const fresh = 1 - memory;
    const end = from + this.traceWidth;
    for (let j = from; j < end; j++) trace[j] *= memory;
    for (let p = 0; p < players; p++) {
      const base = from + p * (cells + actions);
      if (states[at + p] !== nowhere) trace[base + states[at + p]] += fresh;
      if (action[first + p] >= 0) trace[base + cells + action[first + p]] += fresh;
    }
  }

  /** One optimiser step of the prior and one of the posterior, on rows drawn by `pick`; their losses. */
  learn(columns: SubgoalColumns, pick: () => number, stream: RandomStream): { prior: number; posterior: number } {
    const { batch, size, planes, encoder, decoder, posterior } = this;
    const { observation, stateWidth } = planes;
    this.reserve(batch);
    const x = encoder.begin(batch);
    const h = posterior.begin(batch);
    this.targets.fill(0, 0, batch * observation);
    for (let i = 0; i < batch; i++) {
      const row = pick();
      planes.write(columns.state, columns.goal[row] * stateWidth, this.targets, i * observation, false);
      this.writeHistory(columns, row, h, i);
    }
    x.set(this.targets.subarray(0, batch * observation));
    this.draw(batch * size, stream);
    encoder.forward(batch);
    this.prior.set(encoder.y.subarray(0, batch * 2 * size));
    const { code, noise, byCode } = this;
    reparameterize(encoder.y, batch, size, noise, code);
    const rebuilt = this.rebuild(batch);
    encoder.gradient.fill(0, 0, batch * 2 * size);
    reparameterizeGradient(encoder.y, batch, size, noise, byCode, encoder.gradient);
    const kl = unitNormalKl(encoder.y, batch, size, encoder.gradient, this.divergence);
    encoder.mlp.backward(encoder.gradient, batch);
    encoder.step();
    decoder.step();

    // The posterior is judged by the decoder and leaves it as it is.
    posterior.forward(batch);
    this.draw(batch * size, stream);
    reparameterize(posterior.y, batch, size, noise, code);
    const guessed = this.rebuild(batch);
    decoder.forget();
    posterior.gradient.fill(0, 0, batch * 2 * size);
    reparameterizeGradient(posterior.y, batch, size, noise, byCode, posterior.gradient);
    const apart = normalKl(posterior.y, this.prior, batch, size, posterior.gradient, this.divergence);
    posterior.mlp.backward(posterior.gradient, batch);
    posterior.step();
    return { prior: rebuilt + kl, posterior: guessed + apart };
  }

  /** Rebuilds the subgoals of rows from what was known at their moment. */
  test(columns: SubgoalColumns, rows: ArrayLike<number>, seed: number): SubgoalErrors {
    const count = rows.length;
    if (count === 0) return { steps: 0, posterior: Number.NaN, prior: Number.NaN, constant: Number.NaN };
    const { planes, posterior, size } = this;
    const { observation, stateWidth } = planes;
    this.reserve(count);
    const h = posterior.begin(count);
    this.targets.fill(0, 0, count * observation);
    for (let i = 0; i < count; i++) {
      planes.write(columns.state, columns.goal[rows[i]] * stateWidth, this.targets, i * observation, false);
      this.writeHistory(columns, rows[i], h, i);
    }
    posterior.forward(count);
    for (let i = 0; i < count; i++)
      for (let j = 0; j < size; j++) this.code[i * size + j] = posterior.y[i * 2 * size + j];
    const guessed = this.loss(count);
    this.code.fill(0, 0, count * size);
    let prior = this.loss(count);
    const stream = RandomStream.of(seed, 'subgoals', 'test');
    for (let draw = 0; draw < drawnCodes; draw++) {
      for (let i = 0; i < count * size; i++) this.code[i] = stream.normal();
      prior = Math.min(prior, this.loss(count));
    }
    return { steps: count, posterior: guessed, prior, constant: constantLoss(this.targets, count, observation) };
  }

  save(): PolicySave[] {
    return [this.encoder, this.decoder, this.posterior].map((model) => model.save());
  }

  load(saved: readonly PolicySave[]): void {
    [this.encoder, this.decoder, this.posterior].forEach((model, i) => {
      model.load(saved[i]);
    });
  }

  private writeHistory(columns: SubgoalColumns, row: number, x: Float32Array, i: number): void {
    const { planes, traceWidth } = this;
    const at = i * this.posterior.shape.inputs;
    planes.write(columns.state, row * planes.stateWidth, x, at, false);
    for (let j = 0; j < traceWidth; j++) x[at + planes.observation + j] = columns.trace[row * traceWidth + j];
  }

  /** Decodes `code`, and fills the loss's gradient by it. */
  private rebuild(count: number): number {
    const { decoder } = this;
    decoder.begin(count).set(this.code.subarray(0, count * this.size));
    return decoder.mlp.learn(decoder.x, count, { kind: 'bernoulli', targets: this.targets }, this.byCode);
  }

  /** The loss alone. */
  private loss(count: number): number {
    const loss = this.rebuild(count);
    this.decoder.forget();
    return loss;
  }

  private draw(count: number, stream: RandomStream): void {
    for (let i = 0; i < count; i++) this.noise[i] = stream.normal();
  }

  private reserve(rows: number): void {
    if (this.noise.length >= rows * this.size) return;
    this.noise = floats(rows * this.size);
    this.code = floats(rows * this.size);
    this.byCode = floats(rows * this.size);
    this.prior = floats(rows * 2 * this.size);
    this.targets = floats(rows * this.planes.observation);
  }
}

/** The least loss that a guess gives which is the same for every row. */
function constantLoss(targets: Float32Array, count: number, width: number): number {
  let loss = 0;
  for (let j = 0; j < width; j++) {
    let ones = 0;
    for (let i = 0; i < count; i++) ones += targets[i * width + j];
    const share = ones / count;
    if (share > 0 && share < 1) loss -= share * Math.log(share) + (1 - share) * Math.log(1 - share);
  }
  return loss;
}

/**
 * For every row the row, at most `horizon` steps later in the same life, whose value is best (or worst). `later` holds the next row of
 * the same life, -1 at its end; a row without a later one heads for what it sees.
 */
export function chooseGoals(
  later: Int32Array,
  value: Float32Array,
  count: number,
  horizon: number,
  choose: 'optimistic' | 'conservative',
  goal: Int32Array,
): void {
  const sign = choose === 'optimistic' ? 1 : -1;
  for (let row = 0; row < count; row++) {
    let best = row;
    let most = -Infinity;
    let at = later[row];
    for (let step = 0; step < horizon && at >= 0; step++, at = later[at]) {
      if (sign * value[at] <= most) continue;
      most = sign * value[at];
      best = at;
    }
    goal[row] = best;
  }
}
