/** The HOP+ agents of a run: they accompany play, add imagined rows to the batch, and learn from what they saw. Without modules there is no crew, and the run is plain PPO. */

import type { Batch, ReadonlyBatch } from '../../batch/batch.ts';
import type { Game } from '../../games/game.ts';
import { RandomStream } from '../../math/random.ts';
import type { Crew, CrewRun } from '../algorithm.ts';
import type { Learner } from '../learner.ts';
import type { PlayStages, Table } from '../play.ts';
import { HopAgent, type ModuleReport, type SavedHopAgent } from './agent.ts';
import { HopCompanion, type HopPlayers } from './companion.ts';
import { Diary, type DiaryWidths } from './modules/diary.ts';
import { allowedLength, Imagination, type ImaginedPlay, nextLength } from './modules/imagination.ts';
import { Planes } from './modules/planes.ts';
import { HopPlanner, searchWorlds } from './planner.ts';
import { readingsOf } from './readings.ts';
import { cannotModel } from './settings.ts';
import { HopTable } from './table.ts';

/** Imagined episodes are numbered from here, and imagined environments after the real ones, so that neither can be taken for a real one. */
export const firstImaginedEpisode = 2 ** 30;
/** Crews of one run number theirs apart. */
const episodesOfGroup = 2 ** 27;

/** A value loss above so many times the usual one has blown up; the first few say nothing about what is usual. */
const blowUp = 20;
const enoughLosses = 5;

export interface SavedHop {
  agents: SavedHopAgent[];
  play: ReturnType<HopCompanion['save']>;
  /** Episodes imagined so far, and per agent the pushes into the imagined buffer and what was thrown away. */
  counts: Float64Array;
}

export class HopCrew implements Crew, HopPlayers {
  readonly planes: Planes;
  /** In the order of the plans. */
  readonly agents: readonly HopAgent[];
  /** Per learner: where its agent is among them; -1 where it has none. */
  private readonly at: Int32Array;
  iteration = 0;
  private readonly diaries: (Diary | null)[];
  private readonly imagination: Imagination[];
  /** In the order of the plans; none where nothing is searched. */
  private readonly planners: readonly HopPlanner[];
  readonly companion: HopCompanion;
  private episodes = 0;
  private reports: ModuleReport[] = [];
  /** Per agent. */
  private readonly imagined: Float64Array;
  private readonly imaginedEver: Float64Array;
  private readonly thrownAway: Float64Array;
  /** Per learner: the mean logarithm of its value losses, lately, and how many there were. */
  private readonly usualLoss: Float64Array;

  constructor(private readonly run: CrewRun) {
    const { engine, game, settings, names, plans, stages } = run;
    const { shape, planes } = game;
    if (!planes || shape.features > 0 || shape.candidates !== shape.actions || shape.actions > 31)
      throw cannotModel(game);
    this.planes = new Planes(planes, shape.actions);
    this.agents = plans.map(
      (plan) => new HopAgent(engine, this.planes, settings.hop, settings.seed, plan.name, plan.agents.length),
    );
    this.at = new Int32Array(Math.max(...plans.map((plan) => plan.index)) + 1).fill(-1);
    for (const [i, plan] of plans.entries()) this.at[plan.index] = i;
    this.imagination = this.agents.map((agent) => new Imagination(agent));
    const learning = new Set(plans.flatMap((plan) => plan.agents));
    this.diaries = names.map((_, agent) => (learning.has(agent) ? new Diary(this.planes, this.widths) : null));
    this.imagined = new Float64Array(names.length);
    this.imaginedEver = new Float64Array(names.length);
    this.thrownAway = new Float64Array(names.length);
    this.usualLoss = new Float64Array(2 * plans.length);
    const diaries = run.frozen ? null : this.diaries;
    const { hop, planner, ppo } = settings;
    const searching = hop.planner === 'off' ? [] : this.agents;
    this.planners = searching.map(
      (agent) => new HopPlanner(agent, searchWorlds(hop, agent, game, run.make), planner, ppo.gamma),
    );
    this.companion = new HopCompanion(this, game, diaries, settings.hop.heldOut, stages.hop);
  }

  of(learner: number): HopAgent | undefined {
    return this.agents[this.at[learner]];
  }

  plannerOf(learner: number): HopPlanner | undefined {
    return this.planners[this.at[learner]];
  }

  get names(): readonly string[] {
    return this.run.names;
  }

  get settings() {
    return this.run.settings;
  }

  get width(): number {
    return this.agents[0].width;
  }

  get traceWidth(): number {
    return this.agents[0].traceWidth;
  }

  get codeWidth(): number {
    return this.agents[0].subgoals?.size ?? 0;
  }

  private get widths(): DiaryWidths {
    return { trace: this.traceWidth, code: this.codeWidth };
  }

  playing(game: Game): HopCompanion {
    return new HopCompanion(this, game, null, 0);
  }

  table(game: Game): Table {
    return new HopTable(this, game);
  }

  /** Accompanies play that is only looked at: every step counts as held out. */
  watching(game: Game): { companion: HopCompanion; diaries: (Diary | null)[] } {
    const diaries = this.diaries.map((diary) => diary && new Diary(this.planes, this.widths));
    return { companion: new HopCompanion(this, game, diaries, 1), diaries };
  }

  /** Before an iteration is collected: what was seen and imagined before is stale. */
  begin(iteration: number): void {
    this.iteration = iteration;
    for (const diary of this.diaries) diary?.clear();
    this.companion.forget();
    for (let agent = 0; agent < this.imagined.length; agent++) {
      this.thrownAway[agent] += this.imagined[agent];
      this.imagined[agent] = 0;
    }
  }

  /** Adds imagined rows to a batch of real ones, from the policies that collected it. */
  imagine(batch: Batch, learners: readonly Learner[], stages: PlayStages): void {
    const { longest, error, realShare } = this.run.settings.hop.imagination;
    if (longest === 0 || realShare === 1 || this.planners.length > 0) return;
    const real = batch.rows;
    for (const learner of learners) {
      const hop = this.of(learner.index);
      if (!hop?.worldModel || !hop.otherAgents) continue;
      const allowed = allowedLength(hop.error, error, longest);
      if (allowed === 0) {
        hop.length = 1;
        hop.earlyReturns.imagination++;
        continue;
      }
      if (this.iteration > 0) hop.length = Math.min(hop.length, allowed);
      for (const agent of learner.agents) {
        const own = countRows(batch, real, agent);
        const most = realShare === 0 ? own : Math.floor((own * (1 - realShare)) / realShare);
        this.rollOut(batch, learner, agent, Math.floor(most / hop.length), stages);
      }
      hop.length = nextLength(hop.length, allowed);
    }
  }

  private rollOut(batch: Batch, learner: Learner, agent: number, rollouts: number, stages: PlayStages): void {
    const hop = this.of(learner.index)!;
    const diary = this.diaries[agent]!;
    if (rollouts === 0 || diary.length === 0) {
      hop.earlyReturns.imagination++;
      return;
    }
    const stream = RandomStream.of(this.run.settings.seed, 'hop', this.run.names[agent], 'imagine', this.iteration);
    const starts = Int32Array.from({ length: rollouts }, () => stream.below(diary.length));
    const play = this.play(batch, learner, agent, stages);
    const made = this.imagination[this.at[learner.index]].run(diary, starts, hop.length, this.iteration, stream, play);
    this.episodes += rollouts;
    this.imagined[agent] += made;
    this.imaginedEver[agent] += made;
  }

  private play(batch: Batch, learner: Learner, agent: number, stages: PlayStages): ImaginedPlay {
    const { engine } = this.run;
    const { actions } = this.planes;
    const { worlds } = this.run.settings;
    const own = learner.inputs;
    const filed = this.run.stages.hop.fileImagined(agent);
    const episode = firstImaginedEpisode + (this.run.group ?? 0) * episodesOfGroup + this.episodes;
    return {
      act: (rows, uniforms, out, temperatures) =>
        stages.act(engine, [{ learner, policy: learner.policy, rows, uniforms, temperature: 1, out, temperatures }]),
      values: (state, count, out) => stages.values(learner, state, count, out),
      add: (t, rollout, seat, rows, out, temperature) => {
        const first = batch.extend(rows.length);
        const items = batch.extendLists(rows.length * actions);
        for (let i = 0; i < rows.length; i++) {
          const row = first + i;
          batch.iteration[row] = this.iteration;
          batch.episode[row] = episode + rollout[i];
          batch.t[row] = t;
          batch.agent[row] = filed;
          batch.seat[row] = seat[i];
          batch.env[row] = worlds * (1 + agent) + (rollout[i] % worlds);
          batch.imagined[row] = 1;
          batch.action[row] = out.action[i];
          batch.oldLogp[row] = out.logp[i];
          batch.value[row] = out.value[i];
          batch.temperature[row] = temperature[i];
          batch.numActions[row] = actions;
          batch.first[row] = items + i * actions;
          batch.see(row, rows.obs, i * own, own);
        }
        for (let i = 0; i < rows.length * actions; i++) {
          batch.subset[items + i] = i % actions;
          batch.legal[items + i] = rows.legal[i];
          batch.logits[items + i] = out.logits[i];
        }
        return first;
      },
      close: (row, reward, terminated) => {
        batch.reward[row] = reward;
        batch.envReward[row] = reward;
        batch.terminated[row] = terminated ? 1 : 0;
      },
      follow: (row, value) => {
        batch.nextValue[row] = value;
      },
    };
  }

  /** After the policies were updated: every module learns from the iteration's diaries, agents in the order given. */
  learn(learners: readonly Learner[], order: readonly number[]): void {
    this.reports = [];
    for (const index of order) {
      const hop = this.of(index);
      if (!hop) continue;
      const { agents } = learners[index];
      const diaries = agents.map((agent) => this.diaries[agent]!);
      this.reports[index] = hop.learn(agents, diaries, this.iteration, this.run.stages.hop);
    }
  }

  /** What the learner's value loss used to be, where this one is many times that; it takes the loss into account. */
  blownUp(learner: number, loss: number): number | null {
    const at = 2 * this.at[learner];
    const usual = Math.exp(this.usualLoss[at]);
    const count = ++this.usualLoss[at + 1];
    const blown = count > enoughLosses && loss > 1 && loss > blowUp * usual;
    if (Number.isFinite(loss) && loss > 0)
      this.usualLoss[at] += Math.max(0.1, 1 / count) * (Math.log(loss) - this.usualLoss[at]);
    return blown ? usual : null;
  }

  /** Per learner: losses and held-out errors by name. */
  readings(): Record<string, number>[] {
    return this.reports.map((report, index) => {
      const rows = this.run.plans[this.at[index]].agents.reduce((sum, agent) => sum + this.imagined[agent], 0);
      return readingsOf(report, this.of(index)!, rows);
    });
  }

  /** Per counter: one value for each agent. `rows` holds the real rows of each. */
  counters(learners: readonly Learner[], rows: ArrayLike<number>): Map<string, Float64Array> {
    const counters = new Map<string, Float64Array>();
    const put = (name: string, agent: number, value: number) => {
      const values = counters.get(name) ?? new Float64Array(this.run.names.length);
      values[agent] = value;
      counters.set(name, values);
    };
    for (const learner of learners) {
      const hop = this.of(learner.index);
      if (!hop) continue;
      learner.agents.forEach((agent, i) => {
        const { worldModel, otherAgents, acted } = hop.buffers[i];
        const diary = this.diaries[agent]!;
        if (hop.worldModel) {
          put('updates.world_model', agent, hop.updates.world_model);
          put('buffer.world_model', agent, worldModel.size);
          put('push.world_model', agent, worldModel.pushes);
          put('early_return.world_model', agent, hop.earlyReturns.world_model);
          put('buffer.imagined', agent, this.imagined[agent]);
          put('push.imagined', agent, this.imaginedEver[agent]);
          put('stale.imagined', agent, this.thrownAway[agent]);
          put('early_return.imagination', agent, hop.earlyReturns.imagination);
        }
        if (hop.otherAgents) {
          put('updates.other_agents', agent, hop.updates.other_agents);
          put('early_return.other_agents', agent, hop.earlyReturns.other_agents);
          put('buffer.other_agents', agent, otherAgents.size);
          put('push.other_agents', agent, otherAgents.pushes);
          acted.forEach((steps, other) => {
            // Where agents are dealt to seats, the other is known by its seat alone.
            const name = this.run.settings.deal
              ? `seat_${other + 1}_on`
              : this.run.names[(agent + other + 1) % this.run.names.length];
            put(`push.other_agents.${name}`, agent, steps);
          });
        }
        if (hop.subgoals) {
          put('updates.subgoal', agent, hop.updates.subgoal);
          put('early_return.subgoal', agent, hop.earlyReturns.subgoal);
          put('subgoal.length', agent, diary.subgoals);
          put('subgoal.expected', agent, rows[agent]);
        }
      });
    }
    return counters;
  }

  adopt(learner: number, saved: SavedHopAgent, iteration: number): void {
    this.of(learner)!.load(saved);
    // Nothing moves on where nobody learns.
    if (this.run.frozen) this.iteration = iteration;
  }

  save(): SavedHop {
    return {
      agents: this.agents.map((agent) => agent.save()),
      play: this.companion.save(),
      counts: Float64Array.of(
        this.episodes,
        ...this.imagined,
        ...this.imaginedEver,
        ...this.thrownAway,
        ...this.usualLoss,
      ),
    };
  }

  load(saved: SavedHop): void {
    this.agents.forEach((agent, i) => {
      agent.load(saved.agents[i]);
    });
    this.companion.load(saved.play);
    const count = this.run.names.length;
    this.episodes = saved.counts[0];
    this.imagined.set(saved.counts.subarray(1, 1 + count));
    this.imaginedEver.set(saved.counts.subarray(1 + count, 1 + 2 * count));
    this.thrownAway.set(saved.counts.subarray(1 + 2 * count, 1 + 3 * count));
    this.usualLoss.set(saved.counts.subarray(1 + 3 * count));
  }
}

function countRows(batch: ReadonlyBatch, rows: number, agent: number): number {
  let count = 0;
  for (let row = 0; row < rows; row++) if (batch.agent[row] === agent) count++;
  return count;
}
