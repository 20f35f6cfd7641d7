/**
 * A recorded episode, played again. The start follows from the run's seed, the moves are the recorded ones, so what is shown is what happened;
 * where the recording does not hold every move of an episode, it is not offered.
 */

import { dealSeats, seatedNames } from '../../../src/games/dealt.ts';
import type { Game } from '../../../src/games/game.ts';
import { gameMaker, hasPictures, makePlayer, type Player } from '../../../src/games/index.ts';
import { framePicture, seatColour } from '../../../src/games/picture.ts';
import { inLanguage, told } from '../../../src/language/language.ts';
import { localPolicy, localPolicyBuffer } from '../../../src/math/local-policy.ts';
import { RandomStream } from '../../../src/math/random.ts';
import type { Recording } from '../../../src/recording/recording.ts';
import { numbers } from '../../../src/report/studio/curves.ts';

/** What one agent saw and weighed before a move. */
export interface Thought {
  agent: number;
  name: string;
  /** Names or numbers of the candidates, in the order in which they were scored. */
  candidates: number[];
  legal: boolean[];
  probabilities: number[];
  chosen: number;
  value: number;
  observation: number[];
  /** HOP+: the code of the subgoal that it follows; empty where it has none. */
  subgoal: number[];
  /** HOP+: what it believed that the others would choose. */
  others: { name: string; probabilities: number[] }[];
  extras: Record<string, number | number[]>;
}

export interface Moment {
  t: number;
  svg: string;
  width: number;
  height: number;
  /** What each acting agent decided at this moment; empty after the last move. */
  thoughts: Thought[];
  /** What the step before paid, by agent name. */
  paid: Record<string, number>;
}

export interface Replay {
  episode: number;
  iteration: number;
  game: string;
  moments: Moment[];
  /** In the run's own order, wherever they sit. */
  agents: { name: string; seat: number; colour: string; return: number }[];
}

/** An episode that can be played again, as a list shows it. */
export interface EpisodeEntry {
  episode: number;
  iteration: number;
  /** Decisions of the agent that made the most. */
  length: number;
  /** By name. */
  returns: Record<string, number>;
  mean: number;
}

interface Row extends Thought {
  t: number;
  seat: number;
  env: number;
  iteration: number;
  ended: boolean;
}

/** Episodes of which the recording holds every decision, with the iteration that each ended in and what they paid. */
export async function replayable(recording: Recording): Promise<EpisodeEntry[]> {
  const { environment, run } = recording.manifest as { environment?: { worlds?: number }; run?: unknown };
  if (!environment?.worlds || !run) return [];
  const taken = new Map<number, { first: number; iteration: number; rows: Map<number, number> }>();
  const keys = ['iteration', 'episode', 't', 'agent'];
  for await (const chunk of recording.chunks('samples', [...keys, 'imagined'])) {
    const [iteration, episode, t, agent] = keys.map((name) => numbers(chunk, name)!);
    const imagined = numbers(chunk, 'imagined');
    for (let row = 0; row < chunk.rows; row++) {
      if (imagined?.(row) === 1) continue;
      let found = taken.get(episode(row));
      if (!found) {
        found = { first: t(row), iteration: iteration(row), rows: new Map() };
        taken.set(episode(row), found);
      }
      found.iteration = Math.max(found.iteration, iteration(row));
      found.first = Math.min(found.first, t(row));
      found.rows.set(agent(row), (found.rows.get(agent(row)) ?? 0) + 1);
    }
  }
  const ended = new Map<number, Map<number, { length: number; return: number }>>();
  for await (const chunk of recording.chunks('episodes', ['episode', 'agent', 'length', 'return'])) {
    const [episode, agent, length, paid] = ['episode', 'agent', 'length', 'return'].map((name) => numbers(chunk, name));
    if (!episode || !agent || !length) return [];
    for (let row = 0; row < chunk.rows; row++) {
      if (!taken.has(episode(row))) continue;
      const own = ended.get(episode(row)) ?? new Map<number, { length: number; return: number }>();
      ended.set(episode(row), own.set(agent(row), { length: length(row), return: paid?.(row) ?? Number.NaN }));
    }
  }
  const whole: EpisodeEntry[] = [];
  for (const [episode, { first, iteration, rows }] of taken) {
    const own = ended.get(episode);
    if (first !== 0 || ![...rows].every(([agent, count]) => own?.get(agent)?.length === count)) continue;
    const paid = [...own!].sort(([a], [b]) => a - b);
    whole.push({
      episode,
      iteration,
      length: Math.max(...paid.map(([, { length }]) => length)),
      returns: Object.fromEntries(paid.map(([agent, one]) => [agentName(recording, agent), one.return])),
      mean: paid.reduce((sum, [, one]) => sum + one.return, 0) / paid.length,
    });
  }
  return whole.sort((a, b) => a.episode - b.episode);
}

/** The files that hold decisions of these episodes: of a long run only they need be read whole. */
export async function filesOf(recording: Recording, episodes: readonly number[]): Promise<Set<string>> {
  const files = new Set<string>();
  const wanted = new Set(episodes);
  for await (const chunk of recording.chunks('samples', ['episode'])) {
    const episode = numbers(chunk, 'episode');
    for (let row = 0; episode && row < chunk.rows && !files.has(chunk.file); row++)
      if (wanted.has(episode(row))) files.add(chunk.file);
  }
  return files;
}

/** Plays recorded episodes again, picture by picture. */
export async function replays(recording: Recording, episodes: readonly number[]): Promise<Replay[]> {
  const rows = await rowsOf(recording, new Set(episodes));
  return episodes.map((episode) => replay(recording, episode, rows.get(episode) ?? []));
}

function replay(recording: Recording, episode: number, rows: readonly Row[]): Replay {
  if (rows.length === 0)
    throw new Error(
      told(`The recording holds no decision of episode ${episode}.`, `记录里没有第 ${episode} 局的任何决策。`),
    );
  const { environment, seed, agents } = recording.manifest as unknown as {
    environment: { name: string; worlds: number; settings: Record<string, unknown> };
    seed: number;
    agents: { name: string; player?: string }[];
  };
  const run = (recording.manifest as unknown as { run: { deal?: boolean } }).run;
  const game = gameMaker(environment.name, environment.settings)(1);
  if (!hasPictures(game)) throw new Error(told(`${game.name} has no pictures.`, `${game.name} 没有图像。`));
  const { seats } = game.shape;
  const world = episode % environment.worlds;
  const number = Math.floor(episode / environment.worlds);
  const dealt = run.deal ? seatedNames(dealSeats(RandomStream.of(seed, 'deal', world, number), seats)) : null;
  const agentAt = Array.from({ length: seats }, (_, seat) => (dealt ? dealt[seat] : seat));
  const scripted = agentAt.map((agent): Player | null =>
    agents[agent]?.player ? makePlayer(agents[agent].player, game) : null,
  );
  const streams = agentAt.map((agent) => RandomStream.of(seed, 'scripted', agents[agent]?.name, world, number));
  game.reset(0, RandomStream.of(seed, 'world', world, number));
  return film(game, {
    episode,
    iteration: Math.max(0, ...rows.map((row) => row.iteration)),
    names: agentAt.map((agent) => agentName(recording, agent)),
    order: agentAt,
    decide: (t, seat) => {
      const player = scripted[seat];
      if (player) return { action: player.act(game, seat, streams[seat]) };
      const row = rows.find((candidate) => candidate.t === t && candidate.agent === agentAt[seat]);
      if (!row) {
        const who = agents[agentAt[seat]]?.name;
        throw new Error(
          told(`Agent ${who} moved at step ${t} without a row.`, `智能体 ${who} 在第 ${t} 步行动，却没有对应的行。`),
        );
      }
      // The others are told by how many seats they sit further on.
      const others = row.others.map((other, i) => ({
        ...other,
        name: agents[agentAt[(seat + i + 1) % seats]]?.name ?? '',
      }));
      return { action: row.chosen, thought: { ...row, others } };
    },
  });
}

/** A fresh episode with players that are asked on the spot. */
export function freshEpisode(game: Game, players: readonly Player[], seed: number, names?: readonly string[]): Replay {
  const streams = players.map((_, seat) => RandomStream.of(seed, 'player', 0, seat));
  game.reset(0, RandomStream.of(seed, 'world', 0));
  return film(game, {
    episode: seed,
    iteration: -1,
    names: players.map((player, seat) => names?.[seat] ?? `${player.name} ${seat + 1}`),
    decide: (_, seat) => ({ action: players[seat].act(game, seat, streams[seat]) }),
  });
}

interface Direction {
  episode: number;
  iteration: number;
  /** By seat. */
  names: string[];
  /** The agent of each seat; without it agents are told in the order of their seats. */
  order?: readonly number[];
  decide(t: number, seat: number): { action: number; thought?: Thought };
}

function film(game: Game, { episode, iteration, names, order, decide }: Direction): Replay {
  const { seats } = game.shape;
  const actions = new Int32Array(seats);
  const moments: Moment[] = [];
  const agents = names.map((name, seat) => ({ name, seat, colour: seatColour(game, seat), return: 0 }));
  let paid: Record<string, number> = {};
  for (let t = 0; ; t++) {
    const thoughts: Thought[] = [];
    if (game.over[0] === 0) {
      for (let seat = 0; seat < seats; seat++) {
        if (game.acting[seat] === 0) continue;
        const { action, thought } = decide(t, seat);
        actions[seat] = action;
        if (thought) thoughts.push(thought);
      }
    }
    const { svg, width, height } = inLanguage('both', () => framePicture(game, 0, false));
    moments.push({ t, svg, width, height, thoughts, paid });
    if (game.over[0] === 1) break;
    game.step(actions);
    paid = {};
    names.forEach((name, seat) => {
      if (game.reward[seat] !== 0) paid[name] = game.reward[seat];
      agents[seat].return += game.reward[seat];
    });
  }
  if (order) agents.sort((a, b) => order[a.seat] - order[b.seat]);
  return { episode, iteration, game: game.name, moments, agents };
}

const agentName = ({ manifest }: Recording, agent: number) => manifest.agents?.[agent]?.name ?? `agent ${agent}`;

const plain = new Set([
  'iteration',
  'episode',
  't',
  'agent',
  'action',
  'old_logp',
  'value',
  'obs',
  'logits',
  'subset',
  'legal',
]);

/** How a HOP+ policy's input is put together: the observation, the others' likely choices, the subgoal's code. */
interface Appended {
  others: number;
  choices: number;
  code: number;
}

function appended({ manifest }: Recording, choices: number): Appended {
  const { run, agents } = manifest as unknown as {
    run?: {
      algorithm?: string;
      hop?: { without?: string[]; otherAgents?: { feed?: boolean }; subgoals?: { size?: number } };
    };
    agents?: unknown[];
  };
  const hop = run?.algorithm === 'hop' ? run.hop : undefined;
  const uses = (module: string) => hop !== undefined && !(hop.without ?? []).includes(module);
  return {
    others: uses('other-agents') && hop?.otherAgents?.feed ? (agents?.length ?? 1) - 1 : 0,
    choices,
    code: uses('subgoals') ? (hop?.subgoals?.size ?? 0) : 0,
  };
}

function takeApart(input: number[], { others, choices, code }: Appended) {
  const end = input.length - code;
  const start = end - others * choices;
  if (start < 0) return { observation: input, subgoal: [], others: [] };
  return {
    observation: input.slice(0, start),
    subgoal: input.slice(end),
    others: Array.from({ length: others }, (_, i) => ({
      name: '',
      probabilities: input.slice(start + i * choices, start + (i + 1) * choices),
    })),
  };
}

async function rowsOf(recording: Recording, wanted: ReadonlySet<number>): Promise<Map<number, Row[]>> {
  const found = new Map<number, Row[]>();
  for await (const chunk of recording.chunks('samples')) {
    const episode = numbers(chunk, 'episode')!;
    const get = (name: string, row: number) => numbers(chunk, name)?.(row) ?? Number.NaN;
    const list = (name: string, row: number): number[] => {
      const column = chunk.columns.get(name);
      if (!column || column.kind === 'text' || !column.offsets) return [];
      return Array.from(column.values.slice(column.offsets[row], column.offsets[row + 1]), Number);
    };
    for (let row = 0; row < chunk.rows; row++) {
      if (!wanted.has(episode(row)) || get('imagined', row) === 1) continue;
      const rows = found.get(episode(row)) ?? [];
      found.set(episode(row), rows);
      const logits = list('logits', row);
      const legal = list('legal', row).map((value) => value === 1);
      const agent = get('agent', row);
      const extras: Record<string, number | number[]> = {};
      for (const [name, column] of chunk.columns) {
        if (plain.has(name) || column.kind === 'text') continue;
        extras[name] = column.offsets ? list(name, row) : get(name, row);
      }
      rows.push({
        t: get('t', row),
        agent,
        name: agentName(recording, agent),
        seat: get('seat', row),
        env: get('env', row),
        iteration: get('iteration', row),
        candidates: list('subset', row),
        legal: legal.length > 0 ? legal : logits.map(() => true),
        probabilities: probabilities(logits, legal, get('temperature', row)),
        chosen: get('action', row),
        value: get('value', row),
        ...takeApart(list('obs', row), appended(recording, logits.length)),
        ended: get('terminated', row) === 1 || get('truncated', row) === 1,
        extras,
      });
    }
  }
  return found;
}

function probabilities(logits: number[], legal: boolean[], temperature: number): number[] {
  const out = localPolicyBuffer(logits.length);
  localPolicy(logits, null, legal.length > 0 ? legal : null, temperature > 0 ? temperature : 1, out);
  return [...out.probabilities];
}
