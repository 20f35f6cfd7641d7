/** From `players` to the learners of a run: one for each learning agent, or one for all, then the frozen ones. Every agent may learn in its own way; what does not fit together is refused here. */
import { type AlgorithmName, algorithmSchemas } from '../../algorithms/index.ts';
import type { LearnerPlan, SeatSettings } from '../../algorithms/learner.ts';
import { networkSchema } from '../../algorithms/ppo/settings.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { mergeSettings } from '../recommended.ts';
import type { Settings } from '../settings.ts';
import { asksToLearn, type Entry, learning, originKey, readEntry } from './entry.ts';
import type { Origins } from './origin.ts';

/** What a seat may have of its own; the discount and lambda are the run's, because credit is assigned to all rows at once. */
const ownRooms = { ppo: algorithmSchemas.ppo, hop: algorithmSchemas.hop, network: networkSchema };
const shared = ['ppo.gamma', 'ppo.lambda'];

export interface Lineup {
  /** Learners that learn, then those that only play. */
  readonly plans: readonly LearnerPlan[];
  /** Of the plans, how many learn. */
  readonly learning: number;
  /** Per plan: where it comes from, as `RUN#agent`. */
  readonly origins: readonly (string | null)[];
}

export type LineupSettings = Pick<Settings, 'players' | 'sharing' | 'algorithm' | 'ppo' | 'hop' | 'network' | 'game'>;

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
      `sharing shared gives all learning agents one policy, but ${names[first]} is "${entries[first].text}" and ${names[other]} is "${entries[other].text}"; make them alike, or use sharing separate`,
    );
}

function seatOf(entry: Entry, name: string, settings: LineupSettings, origins: Origins): SeatSettings {
  const where = `player ${JSON.stringify(entry.text)}`;
  const given: SeatSettings = {
    algorithm: entry.algorithm ?? settings.algorithm,
    ppo: settings.ppo,
    hop: settings.hop,
    network: settings.network,
  };
  if (!entry.origin) return changed(where, given, entry);
  const key = originKey(entry.origin, name);
  const origin = origins[key];
  if (!origin) throw new BadInput(`${where}: the run ${entry.origin.run} was not read; it is read from its folder`);
  if (entry.frozen) return origin.seat;
  const { algorithm, hop, network } = origin.seat;
  if (entry.algorithm && entry.algorithm !== algorithm)
    throw new BadInput(`${where}: ${key} was trained by ${algorithm} and cannot go on as ${entry.algorithm}`);
  if (entry.without)
    throw new BadInput(`${where}: an agent that comes from a run keeps the modules it has; leave "without" out`);
  return changed(where, { ...given, algorithm, hop, network }, entry);
}

function changed(where: string, seat: SeatSettings, entry: Entry): SeatSettings {
  if (entry.without === null && entry.sets.length === 0) return seat;
  const without = entry.without === null ? {} : { hop: { without: entry.without } };
  if (entry.without && seat.algorithm !== 'hop')
    throw new BadInput(`${where}: ${seat.algorithm} has no modules that could be left out; only hop has`);
  const sets = entry.sets.map((text) => readSet(where, text, entry.origin !== null));
  const { algorithm, ...rooms } = seat;
  const merged = mergeSettings(rooms as unknown as Record<string, unknown>, without, ...sets);
  const read = (room: keyof typeof ownRooms) => {
    const result = ownRooms[room].safeParse(merged[room]);
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    throw new BadInput(`${where}: ${[room, ...issue.path].join('.')}: ${issue.message}`);
  };
  return {
    algorithm: algorithm as AlgorithmName,
    ppo: read('ppo') as SeatSettings['ppo'],
    hop: read('hop') as SeatSettings['hop'],
    network: read('network') as SeatSettings['network'],
  };
}

function readSet(where: string, text: string, trained: boolean): Record<string, unknown> {
  const at = text.indexOf('=');
  const path = text.slice(0, at).split('.');
  if (at < 1 || !(path[0] in ownRooms) || path.length < 2)
    throw new BadInput(
      `${where}: "with ${text}" is not understood; a seat may have ${Object.keys(ownRooms).join('., ')}. settings of its own, such as with ppo.clip=0.1`,
    );
  if (shared.includes(path.join('.')))
    throw new BadInput(`${where}: ${path.join('.')} is one for the whole run; set it with --set ${text}`);
  if (trained && path[0] !== 'ppo')
    throw new BadInput(
      `${where}: ${path.join('.')} belongs to the agent as it was trained; only ppo. settings can change`,
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
