/**
 * Imagined rollouts: a few steps from states that were really seen, with the world model, the model of the others and one's own policy.
 * Subgoals, ends and legal masks are inferred inside them as in play. What comes out are rows like real ones, to be learnt from once.
 */
import { sampleIndex } from '../../../math/local-policy.ts';
import type { RandomStream } from '../../../math/random.ts';
import type { ActOutputs, DecisionRows } from '../../../net/types.ts';
import type { HopAgent } from '../agent.ts';
import type { Diary } from './diary.ts';
import type { StateArray } from './planes.ts';
import { bytes, copyRow, floats, ints } from './ring.ts';
import { emptyPrediction, type Predicted } from './world-columns.ts';

/** The arrows that imagination shares with play: one's own policy and critic, and where rows go. */
export interface ImaginedPlay {
  act(rows: DecisionRows, uniforms: Float32Array, out: Required<ActOutputs>, temperatures: Float32Array): void;
  values(state: Float32Array, count: number, out: Float32Array): void;
  /** Keeps the decisions of `rows` as step `t` of their rollouts, and returns the number of the first; the others follow it. */
  add(
    t: number,
    rollout: Int32Array,
    seat: Int32Array,
    rows: DecisionRows,
    out: Required<ActOutputs>,
    temperature: Float32Array,
  ): number;
  /** What became of a kept decision. */
  close(row: number, reward: number, terminated: boolean): void;
  /** The value of what followed a kept decision. */
  follow(row: number, value: number): void;
}

/** The longest rollout whose chance of a wrong step stays within `most`, if each step is wrong with chance `error`; 0 where not even one is. */
export function allowedLength(error: number, most: number, longest: number): number {
  if (error <= 0) return longest;
  if (error >= 1) return 0;
  // A hair of tolerance, so that an error exactly at the limit counts as within it.
  return Math.min(longest, Math.floor(Math.log(1 - most) / Math.log(1 - error) + 1e-9));
}

/** Grows by one step an iteration while the error allows it, and falls back at once. */
export function nextLength(length: number, allowed: number): number {
  return Math.max(1, Math.min(length + 1, allowed));
}

export class Imagination {
  private capacity = 0;
  private states: StateArray;
  private recent = ints(0);
  private mask = ints(0);
  private action = ints(0);
  private trace = floats(0);
  private others = floats(0);
  private rollout = ints(0);
  private seat = ints(0);
  private row = ints(0);
  private uniforms = floats(0);
  private temperature = floats(0);
  private value = floats(0);
  private rows: DecisionRows = decisionRows(0, 0, 0);
  private out: Required<ActOutputs> = actOutputs(0, 0);
  private readonly predicted: Predicted = emptyPrediction();
  private count = 0;

  constructor(private readonly agent: HopAgent) {
    this.states = agent.planes.states(0);
  }

  /** Rolls out from the given rows of the diary; returns how many rows were made. Rollouts are shared out evenly among the world model's members. */
  run(
    diary: Diary,
    starts: Int32Array,
    length: number,
    iteration: number,
    stream: RandomStream,
    play: ImaginedPlay,
  ): number {
    const world = this.agent.worldModel;
    if (!world || starts.length === 0 || length === 0) return 0;
    const members = world.members.length;
    let made = 0;
    for (let member = 0; member < members; member++) {
      const from = Math.floor((starts.length * member) / members);
      const to = Math.floor((starts.length * (member + 1)) / members);
      this.begin(diary, starts, from, to);
      for (let t = 0; t < length && this.count > 0; t++) {
        made += this.count;
        this.choose(t, iteration, stream, play);
        world.step(member, this.states, this.count, this.action, this.predicted);
        this.advance(play);
      }
      // A rollout that goes no further is worth what its last state promises.
      if (this.count > 0) {
        this.extend(iteration);
        play.values(this.rows.obs, this.count, this.value);
        for (let i = 0; i < this.count; i++) play.follow(this.row[i], this.value[i]);
      }
    }
    return made;
  }

  private begin(diary: Diary, starts: Int32Array, from: number, to: number): void {
    const { players, stateWidth } = this.agent.planes;
    const { traceWidth } = this.agent;
    this.reserve(to - from);
    this.count = to - from;
    for (let i = 0; i < this.count; i++) {
      const row = starts[from + i];
      copyRow(diary.state, row, this.states, i, stateWidth);
      copyRow(diary.recent, row, this.recent, i, players);
      copyRow(diary.mask, row, this.mask, i, players);
      copyRow(diary.trace, row, this.trace, i, traceWidth);
      this.rollout[i] = from + i;
      this.seat[i] = diary.seat[row];
      this.row[i] = -1;
    }
  }

  /** The policy's input: the observation that the state stands for, and what the modules add. */
  private extend(iteration: number): void {
    const { agent, rows, count } = this;
    const { planes } = agent;
    const stride = planes.observation + agent.width;
    for (let i = 0; i < count; i++) planes.write(this.states, i * planes.stateWidth, rows.obs, i * stride);
    agent.extend(
      { states: this.states, recent: this.recent, mask: this.mask, trace: this.trace },
      count,
      iteration,
      rows.obs,
      stride,
    );
  }

  /** Everybody's actions: one's own from the policy, the others' from their model. */
  private choose(t: number, iteration: number, stream: RandomStream, play: ImaginedPlay): void {
    const { agent, rows, count, out } = this;
    const { players, actions, stateWidth } = agent.planes;
    this.extend(iteration);
    rows.length = count;
    for (let i = 0; i < count; i++) {
      this.uniforms[i] = (stream.int32() >>> 8) / 16777216;
      rows.offsets[i + 1] = (i + 1) * actions;
      for (let a = 0; a < actions; a++) {
        rows.subset[i * actions + a] = a;
        rows.legal[i * actions + a] = (this.mask[i * players] >> a) & 1;
      }
    }
    play.act(rows, this.uniforms, out, this.temperature);
    // What the policy was shown of the others is what they are drawn from.
    const { planes, fed } = agent;
    const width = fed ? planes.observation + agent.width : (players - 1) * actions;
    const first = fed ? planes.observation : 0;
    const others = fed ? rows.obs : this.others;
    if (!fed) agent.otherAgents?.predict(this.states, count, this.recent, this.mask, others);
    const row = play.add(t, this.rollout, this.seat, rows, out, this.temperature);
    for (let i = 0; i < count; i++) {
      if (this.row[i] >= 0) play.follow(this.row[i], out.value[i]);
      this.row[i] = row + i;
      this.action[i * players] = out.action[i];
      for (let other = 1; other < players; other++) {
        const uniform = stream.uniform();
        const there = this.states[i * stateWidth + players + other] === 1;
        this.action[i * players + other] = there
          ? sampleIndex(others, uniform, first + i * width + (other - 1) * actions, actions)
          : -1;
      }
    }
  }

  /** Keeps what the world model says became of each decision; rollouts that go on close up in their order. */
  private advance(play: ImaginedPlay): void {
    const { agent, predicted } = this;
    const { players, stateWidth, nowhere } = agent.planes;
    const { traceWidth, subgoals } = agent;
    let kept = 0;
    for (let i = 0; i < this.count; i++) {
      const left = predicted.next[i * stateWidth + players] === 0;
      const terminated = left || predicted.end[i] === 1;
      play.close(this.row[i], predicted.reward[i * players], terminated);
      if (terminated) continue;
      // A state in which the agent does not find itself, or can do nothing, says nothing more: the row bootstraps what it was worth before.
      if (predicted.next[i * stateWidth] === nowhere || predicted.nextMask[i * players] === 0) {
        agent.earlyReturns.imagination++;
        play.follow(this.row[i], this.out.value[i]);
        continue;
      }
      subgoals?.follow(this.states, i * stateWidth, this.action, i * players, this.trace, i * traceWidth);
      copyRow(this.trace, i, this.trace, kept, traceWidth);
      copyRow(predicted.next, i, this.states, kept, stateWidth);
      copyRow(this.action, i, this.recent, kept, players);
      copyRow(predicted.nextMask, i, this.mask, kept, players);
      this.rollout[kept] = this.rollout[i];
      this.seat[kept] = this.seat[i];
      this.row[kept] = this.row[i];
      kept++;
    }
    this.count = kept;
  }

  private reserve(count: number): void {
    if (count <= this.capacity) return;
    const { agent } = this;
    const { planes } = agent;
    const { players, actions } = planes;
    this.capacity = count;
    this.states = planes.states(count);
    this.recent = ints(count * players);
    this.mask = ints(count * players);
    this.action = ints(count * players);
    this.trace = floats(count * agent.traceWidth);
    this.others = floats(count * (players - 1) * actions);
    this.rollout = ints(count);
    this.seat = ints(count);
    this.row = ints(count);
    this.uniforms = floats(count);
    this.temperature = floats(count);
    this.value = floats(count);
    this.rows = decisionRows(count, planes.observation + agent.width, actions);
    this.out = actOutputs(count, actions);
  }
}

function decisionRows(count: number, width: number, actions: number): DecisionRows {
  const obs = floats(count * width);
  return {
    length: 0,
    obs,
    state: obs,
    offsets: ints(count + 1),
    subset: ints(count * actions),
    legal: bytes(count * actions),
    candidateFeatures: floats(0),
  };
}

function actOutputs(count: number, actions: number): Required<ActOutputs> {
  return {
    action: ints(count),
    logp: floats(count),
    entropy: floats(count),
    value: floats(count),
    logits: floats(count * actions),
  };
}
