/** One HOP+ agent: its modules, their buffers and counts, and what they add to the policy's input. Nothing here depends on an agent's number. */
import { RandomStream } from '../../math/random.ts';
import type { Engine, PolicySave } from '../../net/types.ts';
import type { Diary } from './modules/diary.ts';
import { OtherAgents, type OtherAgentsErrors, type OtherRing, otherRing } from './modules/other-agents.ts';
import type { Planes, StateArray } from './modules/planes.ts';
import { bytes, copyRow, floats, ints, Ring, type RingColumn } from './modules/ring.ts';
import { chooseGoals, type SubgoalErrors, Subgoals } from './modules/subgoals.ts';
import type { WorldModelErrors } from './modules/world-errors.ts';
import { WorldModel } from './modules/world-model.ts';
import type { HopModule, HopSettings } from './settings.ts';
import { cleanHopStages, type HopStages } from './stages.ts';

/** What is kept of one player's view of the game, from one iteration to the next. */
export interface AgentBuffers {
  readonly worldModel: WorldRing;
  readonly otherAgents: OtherRing;
  /** For each other: rows that ever went in in which it acts. */
  readonly acted: Float64Array;
}

export type WorldRing = Ring<ReturnType<typeof worldLayout>>;

function worldLayout(planes: Planes) {
  const state = (planes.cells < 256 ? bytes : ints) as (size: number) => StateArray;
  const { players, stateWidth } = planes;
  return {
    state: { make: state, width: stateWidth },
    next: { make: state, width: stateWidth },
    action: { make: ints, width: players },
    mask: { make: ints, width: players },
    nextMask: { make: ints, width: players },
    reward: { make: floats, width: players },
    end: { make: bytes, width: 1 },
  };
}

/** What the policy's input is extended from, one state after the other. */
export interface View {
  readonly states: StateArray;
  readonly recent: Int32Array;
  readonly mask: Int32Array;
  /** The histories' traces, and which of them is each state's; the state's own number where that is not said. */
  readonly trace: Float32Array;
  readonly traceOf?: Int32Array;
}

/** Times that something returned before doing its work, because it had too little to work on. */
export type Place = 'world_model' | 'other_agents' | 'subgoal' | 'imagination';

/** How wrong the modules are on steps that they were never trained on; null where a module is off. */
export interface ModuleErrors {
  worldModel: WorldModelErrors | null;
  otherAgents: OtherAgentsErrors | null;
  subgoals: SubgoalErrors | null;
}

/** What the modules are like after an iteration. Losses are NaN where there was too little to learn from; errors null where nothing was held out. */
export interface ModuleReport {
  worldModelLoss: number;
  otherAgentsLoss: number;
  priorLoss: number;
  posteriorLoss: number;
  mix: number;
  errors: ModuleErrors | null;
}

/** Held-out rows that a module is measured on, at most. */
const testRows = 128;

export interface SavedHopAgent {
  counts: Float64Array;
  worldModel: PolicySave[] | null;
  otherAgents: PolicySave[] | null;
  subgoals: PolicySave[] | null;
  buffers: {
    worldModel: Record<string, RingColumn | Float64Array>;
    otherAgents: Record<string, RingColumn | Float64Array>;
    /** Absent in checkpoints of versions that kept a buffer for each other. */
    acted?: Float64Array;
  }[];
}

export class HopAgent {
  readonly worldModel: WorldModel | null;
  readonly otherAgents: OtherAgents | null;
  readonly subgoals: Subgoals | null;
  /** One for each agent that this one plays for. */
  readonly buffers: readonly AgentBuffers[];
  readonly updates = { world_model: 0, other_agents: 0, subgoal: 0 };
  readonly earlyReturns: Record<Place, number> = { world_model: 0, other_agents: 0, subgoal: 0, imagination: 0 };
  /** Steps of an imagined rollout, and the world model's error that allows it; 1 before it was ever measured. */
  length = 1;
  error = 1;
  /** Whether the policy sees the others' likely choices. */
  readonly fed: boolean;

  constructor(
    engine: Engine,
    readonly planes: Planes,
    readonly settings: HopSettings,
    private readonly seed: number,
    /** Names its random streams. */
    readonly name: string,
    agents: number,
  ) {
    const uses = (module: HopModule) => !settings.without.includes(module);
    this.worldModel = uses('world-model') ? new WorldModel(engine, planes, settings, seed, name) : null;
    this.otherAgents = uses('other-agents') ? new OtherAgents(engine, planes, settings, seed, name) : null;
    this.subgoals = uses('subgoals') ? new Subgoals(engine, planes, settings, seed, name) : null;
    this.fed = this.otherAgents !== null && settings.otherAgents.feed;
    this.buffers = Array.from({ length: agents }, () => ({
      worldModel: new Ring(this.worldModel ? settings.worldModel.capacity : 0, worldLayout(planes)),
      otherAgents: otherRing(planes, this.otherAgents ? settings.otherAgents.capacity : 0),
      acted: new Float64Array(planes.players - 1),
    }));
  }

  /** Values that follow the observation in the policy's input. */
  get width(): number {
    return (this.fed ? this.otherAgents!.width : 0) + (this.subgoals?.size ?? 0);
  }

  get traceWidth(): number {
    return this.subgoals?.traceWidth ?? 0;
  }

  /** Fills what follows the observation for states that lie one after the other: the others' likely choices, then the subgoal. */
  extend(view: View, count: number, iteration: number, inputs: Float32Array, stride: number): void {
    const { observation } = this.planes;
    let at = observation;
    if (this.fed) {
      this.otherAgents!.predict(view.states, count, view.recent, view.mask, inputs, at, stride);
      at += this.otherAgents!.width;
    }
    if (this.subgoals) this.subgoals.infer(view, count, this.subgoals.mix(iteration), inputs, at, stride);
  }

  /** Takes an iteration's diaries, one for each of `agents`, into the buffers, trains every module and measures it on what was held out. */
  learn(
    agents: readonly number[],
    diaries: readonly Diary[],
    iteration: number,
    stages: HopStages = cleanHopStages,
  ): ModuleReport {
    for (const [i, diary] of diaries.entries()) stages.remember(this, diary, this.buffers[i], agents[i]);
    const worldModelLoss = stages.learnWorld(this, agents, iteration);
    const otherAgentsLoss = stages.learnOthers(this, agents, iteration);
    const [priorLoss, posteriorLoss] = stages.learnSubgoals(this, agents, diaries, iteration);
    // Agents that share their modules take turns to be measured on.
    const errors = this.measure(diaries[iteration % diaries.length], testRows);
    this.error = errors?.worldModel?.any ?? this.error;
    const mix = this.subgoals?.mix(iteration) ?? 0;
    return { worldModelLoss, otherAgentsLoss, priorLoss, posteriorLoss, mix, errors };
  }

  /** Measures every module on at most `most` held-out rows of a diary; null where it has none. */
  measure(diary: Diary, most: number): ModuleErrors | null {
    const rows = spread(diary.rows(1), most);
    if (rows.length === 0) return null;
    if (this.subgoals) this.chooseGoals(diary);
    return {
      worldModel: this.worldModel?.test(diary, rows) ?? null,
      otherAgents: this.otherAgents?.test(diary, rows) ?? null,
      subgoals: this.subgoals?.test(diary, rows, this.seed) ?? null,
    };
  }

  private chooseGoals(diary: Diary): void {
    const { horizon, choose } = this.settings.subgoals;
    chooseGoals(diary.later, diary.value, diary.length, horizon, choose, diary.goal);
  }

  /** Keeps the rows of a diary that are not held out. */
  remember(diary: Diary, buffers: AgentBuffers): void {
    const { players, stateWidth } = this.planes;
    for (let row = 0; row < diary.length; row++) {
      if (diary.held[row] === 1) continue;
      if (this.worldModel) {
        const to = buffers.worldModel.push();
        const { columns } = buffers.worldModel;
        copyRow(diary.state, row, columns.state, to, stateWidth);
        copyRow(diary.next, row, columns.next, to, stateWidth);
        copyRow(diary.action, row, columns.action, to, players);
        copyRow(diary.mask, row, columns.mask, to, players);
        copyRow(diary.nextMask, row, columns.nextMask, to, players);
        copyRow(diary.reward, row, columns.reward, to, players);
        columns.end[to] = diary.end[row];
      }
      if (this.otherAgents) this.rememberOthers(diary, row, buffers);
    }
  }

  /** Keeps a step in which somebody else acts: who has left chooses nothing, and there is nothing to learn from it. */
  private rememberOthers(diary: Diary, row: number, { otherAgents, acted }: AgentBuffers): void {
    const { players, stateWidth } = this.planes;
    let somebody = false;
    for (let other = 0; other < acted.length; other++) {
      if (diary.action[row * players + other + 1] < 0) continue;
      acted[other]++;
      somebody = true;
    }
    if (!somebody) return;
    const to = otherAgents.push();
    const { columns } = otherAgents;
    copyRow(diary.state, row, columns.state, to, stateWidth);
    copyRow(diary.recent, row, columns.recent, to, players);
    copyRow(diary.mask, row, columns.mask, to, players);
    copyRow(diary.action, row, columns.action, to, players);
  }

  /** The mean loss; NaN where there is no such module, or too little to learn from. */
  learnWorld(iteration: number): number {
    const { worldModel: model } = this;
    if (!model) return Number.NaN;
    const { updates, members, batch } = this.settings.worldModel;
    // The rules of a game do not change: once they are known, a quarter lets the model follow where play goes.
    const wanted = iteration < this.settings.worldModel.early ? updates : Math.ceil(updates / 4);
    const losses = new Losses();
    for (const [i, { worldModel: ring }] of this.buffers.entries()) {
      if (ring.size < batch) {
        this.earlyReturns.world_model++;
        continue;
      }
      const stream = this.stream('world-model', i, iteration);
      for (let update = 0; update < wanted; update++) {
        for (let member = 0; member < members; member++)
          losses.add(model.learn(member, ring.columns, () => this.pickStep(ring, stream), stream));
        this.updates.world_model++;
      }
    }
    return losses.mean;
  }

  /** Every other row is one in which somebody was paid, if a few draws find one: catches are rare, and matter most. */
  private pickStep(ring: WorldRing, stream: RandomStream): number {
    const { reward } = ring.columns;
    const { players } = this.planes;
    let row = stream.below(ring.size);
    if (stream.int32() < 0) return row;
    for (let draw = 0; draw < 4; draw++) {
      for (let p = 0; p < players; p++) if (reward[row * players + p] !== 0) return row;
      row = stream.below(ring.size);
    }
    return row;
  }

  learnOthers(iteration: number): number {
    const { otherAgents: model } = this;
    if (!model) return Number.NaN;
    const { batch, updates } = this.settings.otherAgents;
    const losses = new Losses();
    for (const [i, { otherAgents: ring }] of this.buffers.entries()) {
      this.updates.other_agents += updates;
      if (ring.size < batch) {
        this.earlyReturns.other_agents++;
        continue;
      }
      const stream = this.stream('other-agents', i, iteration);
      for (let update = 0; update < updates; update++) losses.add(model.learn(ring, () => stream.below(ring.size)));
    }
    return losses.mean;
  }

  /** The losses of prior and posterior. */
  learnSubgoals(diaries: readonly Diary[], iteration: number): [number, number] {
    const { subgoals: model } = this;
    if (!model) return [Number.NaN, Number.NaN];
    const { updates, batch } = this.settings.subgoals;
    const prior = new Losses();
    const posterior = new Losses();
    for (const [i, diary] of diaries.entries()) {
      this.chooseGoals(diary);
      const rows = diary.rows(0);
      if (rows.length < batch) {
        this.earlyReturns.subgoal++;
        continue;
      }
      const stream = this.stream('subgoals', i, iteration);
      for (let update = 0; update < updates; update++) {
        const loss = model.learn(diary, () => rows[stream.below(rows.length)], stream);
        prior.add(loss.prior);
        posterior.add(loss.posterior);
        this.updates.subgoal++;
      }
    }
    return [prior.mean, posterior.mean];
  }

  private stream(...path: (string | number)[]): RandomStream {
    return RandomStream.of(this.seed, 'hop', this.name, ...path);
  }

  save(): SavedHopAgent {
    const { updates, earlyReturns } = this;
    return {
      counts: Float64Array.of(this.length, this.error, ...Object.values(updates), ...Object.values(earlyReturns)),
      worldModel: this.worldModel?.save() ?? null,
      otherAgents: this.otherAgents?.save() ?? null,
      subgoals: this.subgoals?.save() ?? null,
      buffers: this.buffers.map(({ worldModel, otherAgents, acted }) => ({
        worldModel: worldModel.save(),
        otherAgents: otherAgents.save(),
        acted: acted.slice(),
      })),
    };
  }

  load(saved: SavedHopAgent): void {
    const [length, error, ...counts] = saved.counts;
    this.length = length;
    this.error = error;
    for (const record of [this.updates, this.earlyReturns] as Record<string, number>[])
      for (const name of Object.keys(record)) record[name] = counts.shift() as number;
    if (saved.worldModel) this.worldModel?.load(saved.worldModel);
    if (saved.otherAgents) this.otherAgents?.load(saved.otherAgents);
    if (saved.subgoals) this.subgoals?.load(saved.subgoals);
    saved.buffers.forEach(({ worldModel, otherAgents, acted }, i) => {
      this.buffers[i].worldModel.load(worldModel);
      if (!acted) return;
      this.buffers[i].otherAgents.load(otherAgents);
      this.buffers[i].acted.set(acted);
    });
  }
}

class Losses {
  private sum = 0;
  private count = 0;

  add(loss: number): void {
    this.sum += loss;
    this.count++;
  }

  get mean(): number {
    return this.count > 0 ? this.sum / this.count : Number.NaN;
  }
}

/** At most so many of the rows, evenly spread over them. */
function spread(rows: Int32Array, most: number): Int32Array {
  if (rows.length <= most) return rows;
  return Int32Array.from({ length: most }, (_, i) => rows[Math.floor((i * rows.length) / most)]);
}
