/** From `players` to the learners of a run: one for each learning agent, or one for all, then the frozen ones. Every agent may learn in its own way; what does not fit together is refused here. */

import { type AlgorithmName, algorithmSchemas } from '../../algorithms/index.ts';
import type { LearnerPlan, SeatSettings } from '../../algorithms/learner.ts';
import { networkSchema } from '../../algorithms/ppo/settings.ts';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { mergeSettings } from '../recommended.ts';
import type { Settings } from '../settings.ts';
import { asksToLearn, type Entry, learning, originKey, readEntry } from './entry.ts';
import type { Origins } from './origin.ts';

/** What a seat may have of its own; the discount and lambda are the run's, because credit is assigned to all rows at once. */
const ownRooms = { ...algorithmSchemas, network: networkSchema };
const shared = ['ppo.gamma', 'ppo.lambda'];

export interface Lineup {
  /** Learners that learn, then those that only play. */
  readonly plans: readonly LearnerPlan[];
  /** Of the plans, how many learn. */
  readonly learning: number;
  /** Per plan: where it comes from, as `RUN#agent`. */
  readonly origins: readonly (string | null)[];
}

export type LineupSettings = Pick<
  Settings,
  'players' | 'sharing' | 'algorithm' | 'ppo' | 'hop' | 'planner' | 'network' | 'game'
>;

export function readLineup(names: readonly string[], settings: LineupSettings, origins: Origins = {}): Lineup {
  const entries = names.map((_, agent) => readEntry(settings.players?.[agent] ?? learning));
  const seats = entries.map((entry, agent) => (entry.scripted ? null : seatOf(entry, names[agent], settings, origins)));
  const agents = names.map((_, agent) => agent);
  const learners = agents.filter((agent) => asksToLearn(entries[agent].text));
  const frozen = agents.filter((agent) => entries[agent].frozen);
  const origin = (agent: number) =>
    entries[agent].origin ? originKey(entries[agent].origin as NonNullable<Entry['origin']>, names[agent]) : null;
  const plan = (agent: number, index: number): LearnerPlan => ({
    index,
    name: names[agent],
    agents: [agent],
    seat: seats[agent] as SeatSettings,
  });
  let plans = learners.map(plan);
  let from = learners.map(origin);
  if (settings.sharing === 'shared' && learners.length > 0) {
    requireAlike(learners, entries, names);
    plans = [{ index: 0, name: 'shared', agents: learners, seat: seats[learners[0]] as SeatSettings }];
    from = [from[0]];
  }
  const own = plans.length;
  return {
    plans: [...plans, ...frozen.map((agent, i) => plan(agent, own + i))],
    learning: own,
    origins: [...from, ...frozen.map(origin)],
  };
}

function requireAlike(learners: readonly number[], entries: readonly Entry[], names: readonly string[]): void {
  const [first, ...rest] = learners;
  const other = rest.find((agent) => entries[agent].text !== entries[first].text);
  if (other !== undefined)
    throw new BadInput(
      told(
        `sharing shared gives all learning agents one policy, but ${names[first]} is "${entries[first].text}" and ${names[other]} is "${entries[other].text}"; make them alike, or use sharing separate`,
        `sharing shared 让所有学习的智能体共用一个策略，但 ${names[first]} 是 "${entries[first].text}" 而 ${names[other]} 是 "${entries[other].text}"；请让它们相同，或用 sharing separate`,
      ),
    );
}

function seatOf(entry: Entry, name: string, settings: LineupSettings, origins: Origins): SeatSettings {
  const where = `player ${JSON.stringify(entry.text)}`;
  const given: SeatSettings = {
    algorithm: entry.algorithm ?? settings.algorithm,
    ppo: settings.ppo,
    hop: settings.hop,
    planner: settings.planner,
    network: settings.network,
  };
  if (!entry.origin) return changed(where, given, entry);
  const key = originKey(entry.origin, name);
  const origin = origins[key];
  if (!origin)
    throw new BadInput(
      told(
        `${where}: the run ${entry.origin.run} was not read; it is read from its folder`,
        `${where}：没有读取训练 ${entry.origin.run}；它要从其文件夹读取`,
      ),
    );
  if (entry.frozen) return entry.without ? lessened(where, key, origin.seat, entry.without) : origin.seat;
  const { algorithm, hop, planner, network } = origin.seat;
  if (entry.algorithm && entry.algorithm !== algorithm)
    throw new BadInput(
      told(
        `${where}: ${key} was trained by ${algorithm} and cannot go on as ${entry.algorithm}`,
        `${where}：${key} 由 ${algorithm} 训练，不能以 ${entry.algorithm} 继续`,
      ),
    );
  if (entry.without)
    throw new BadInput(
      told(
        `${where}: an agent that comes from a run keeps the modules it has; leave "without" out`,
        `${where}：来自训练的智能体保留它的模块；请去掉 "without"`,
      ),
    );
  return changed(where, { ...given, algorithm, hop, planner, network }, entry);
}

/** A planner's networks can play without its search; what other agents leave out, their policies miss as an input. */
function lessened(where: string, key: string, seat: SeatSettings, without: readonly string[]): SeatSettings {
  if (seat.algorithm !== 'hop-planner')
    throw new BadInput(
      told(
        `${where}: ${key} was trained by ${seat.algorithm} and keeps the modules it has; only a frozen hop-planner plays without some`,
        `${where}：${key} 由 ${seat.algorithm} 训练，保留它的模块；只有冻结的 hop-planner 可以去掉模块来玩`,
      ),
    );
  const { planner } = seat;
  return readRooms(where, seat.algorithm, {
    ...seat,
    planner: { ...planner, without: [...new Set([...planner.without, ...without])] },
  });
}

function changed(where: string, seat: SeatSettings, entry: Entry): SeatSettings {
  if (entry.without === null && entry.sets.length === 0) return seat;
  const room = { hop: 'hop', 'hop-planner': 'planner' }[seat.algorithm as string];
  if (entry.without && !room)
    throw new BadInput(
      told(
        `${where}: ${seat.algorithm} has no modules that could be left out; only hop and hop-planner have`,
        `${where}：${seat.algorithm} 没有可去掉的模块；只有 hop 和 hop-planner 有`,
      ),
    );
  const without = entry.without && room ? { [room]: { without: entry.without } } : {};
  const sets = entry.sets.map((text) => readSet(where, text, entry.origin !== null));
  return readRooms(where, seat.algorithm, mergeSettings(seat as unknown as Record<string, unknown>, without, ...sets));
}

function readRooms(where: string, algorithm: AlgorithmName, merged: Record<string, unknown>): SeatSettings {
  const read = (room: keyof typeof ownRooms) => {
    const result = ownRooms[room].safeParse(merged[room]);
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    throw new BadInput(`${where}: ${[room, ...issue.path].join('.')}: ${issue.message}`);
  };
  return {
    algorithm,
    ppo: read('ppo') as SeatSettings['ppo'],
    hop: read('hop') as SeatSettings['hop'],
    planner: read('planner') as SeatSettings['planner'],
    network: read('network') as SeatSettings['network'],
  };
}

function readSet(where: string, text: string, trained: boolean): Record<string, unknown> {
  const at = text.indexOf('=');
  const path = text.slice(0, at).split('.');
  if (at < 1 || !(path[0] in ownRooms) || path.length < 2)
    throw new BadInput(
      told(
        `${where}: "with ${text}" is not understood; a seat may have ${Object.keys(ownRooms).join('., ')}. settings of its own, such as with ppo.clip=0.1`,
        `${where}：看不懂 "with ${text}"；位置可以有自己的 ${Object.keys(ownRooms).join('.、')}. 设置，例如 with ppo.clip=0.1`,
      ),
    );
  if (shared.includes(path.join('.')))
    throw new BadInput(
      told(
        `${where}: ${path.join('.')} is one for the whole run; set it with --set ${text}`,
        `${where}：${path.join('.')} 对整个训练只有一个；请用 --set ${text}`,
      ),
    );
  if (trained && path[0] !== 'ppo')
    throw new BadInput(
      told(
        `${where}: ${path.join('.')} belongs to the agent as it was trained; only ppo. settings can change`,
        `${where}：${path.join('.')} 属于训练时的智能体；只能改 ppo. 设置`,
      ),
    );
  const value = text.slice(at + 1);
  let parsed: unknown = value;
  try {
    parsed = JSON.parse(value);
  } catch {
    // Words such as tanh need no quotes.
  }
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), parsed) as Record<string, unknown>;
}
