/** Which runs a bench consists of. Each has a name of its own, by which a finished run is known and not repeated. */
import { readSettings, type SettingsInput } from '../../training/settings.ts';
import type { Fault } from '../fault.ts';
import { findFault } from '../index.ts';
import { expectedIterations, findTraits, type Traits, unmetNeeds } from '../traits.ts';
import { type Head, headsOf, healthySettings, type Setup, setupSettings } from './setups.ts';

export interface Job extends Setup {
  id: string;
  /** The fault's id; empty for a healthy run. */
  fault: string;
}

export interface PlanOptions {
  faults: readonly string[];
  games: readonly string[];
  heads: readonly Head[];
  /** Games for faults that fit fewer than two of the others. */
  reserve: readonly string[];
  seeds: number;
  /** The first seed; the others follow it. */
  firstSeed: number;
  /** How many healthy runs. */
  healthy: number;
}

/** Games of the bench unless told otherwise, and those that take the place of one that a fault does not fit. */
export const benchGames = ['echo', 'stag-hunt', 'city'] as const;
export const reserveGames = ['cartpole'] as const;
/** The games of healthy runs besides the chosen ones. */
const smallGames = ['probe-value', 'probe-observation', 'probe-discount', 'probe-action', 'probe-observation-action'];

export interface Plan {
  jobs: Job[];
  /** Faults with the games that they do not fit, and why. */
  unfit: { fault: string; game: string; why: string }[];
}

export function makePlan(options: PlanOptions): Plan {
  const plan: Plan = { jobs: [], unfit: [] };
  const seeds = Array.from({ length: options.seeds }, (_, i) => options.firstSeed + i);
  // By setup and not by fault: the clean twin of a setup serves all its faults.
  for (const seed of seeds)
    for (const game of options.games) for (const id of options.faults) addFault(plan, id, places(game, seed, options));
  for (const id of options.faults) {
    const games = new Set(plan.jobs.filter((job) => job.fault === id).map(({ game }) => game));
    for (const game of options.reserve) {
      if (games.size >= 2 || games.has(game)) continue;
      for (const seed of seeds) addFault(plan, id, places(game, seed, options));
    }
  }
  const healthyPlaces = pairs([...new Set([...options.games, ...options.reserve, ...smallGames])], options.heads);
  for (let i = 0; i < options.healthy; i++) {
    const { game, head } = healthyPlaces[i % healthyPlaces.length];
    const seed = options.firstSeed * 1000 + i;
    plan.jobs.push({ id: `healthy/${game}-${head}-${seed}`, fault: '', game, head, seed });
  }
  return plan;
}

function pairs(games: readonly string[], heads: readonly Head[]): { game: string; head: Head }[] {
  return games.flatMap((game) =>
    headsOf(game)
      .filter((head) => heads.includes(head))
      .map((head) => ({ game, head })),
  );
}

/** A game with several heads takes one after the other, seed by seed; a fault that does not fit the one whose turn it is takes another. */
function places(game: string, seed: number, { heads }: PlanOptions): Setup[] {
  const own = headsOf(game).filter((head) => heads.includes(head));
  return own.map((_, i) => ({ game, head: own[(seed + i) % own.length], seed }));
}

function addFault(plan: Plan, id: string, setups: readonly Setup[]): void {
  const fault = findFault(id);
  for (const setup of setups) {
    const name = `${setup.game}-${setup.head}`;
    if (settingsFor(fault, setup)) {
      plan.jobs.push({ id: `${id}/${name}-${setup.seed}`, fault: id, ...setup });
      return;
    }
    if (!plan.unfit.some((known) => known.fault === id && known.game === name))
      plan.unfit.push({ fault: id, game: name, why: whyUnfit(fault, setup) });
  }
}

interface Candidate {
  settings: SettingsInput;
  traits: Traits;
  iterations: number;
}

const kept = new Map<string, Candidate[]>();

/** What is drawn, and the same with separate policies; what a game offers is found out once for all faults. */
function candidates(setup: Setup): Candidate[] {
  const key = JSON.stringify([setup.game, setup.head, setup.seed]);
  const found = kept.get(key);
  if (found) return found;
  const drawn = setupSettings(setup);
  const made = [drawn, { ...drawn, sharing: 'separate' as const }].map((settings) => {
    const read = readSettings(settings);
    const traits = findTraits(read);
    return { settings, traits, iterations: expectedIterations(read, traits) };
  });
  kept.set(key, made);
  return made;
}

/** The setup's settings, with separate policies where the fault asks for them; null where the fault does not fit. */
export function settingsFor(fault: Fault, setup: Setup): SettingsInput | null {
  return (
    candidates(setup).find(({ traits, iterations }) => unmetNeeds(fault.needs ?? [], traits, iterations).length === 0)
      ?.settings ?? null
  );
}

/** The settings that a run of the plan is trained with, before its fault changes them. */
export function runSettings(job: Job): SettingsInput {
  if (job.fault === '') return healthySettings(job);
  const settings = settingsFor(findFault(job.fault), job);
  if (!settings) throw new Error(`the plan holds ${job.fault} on ${job.game}, which it does not fit`);
  return settings;
}

function whyUnfit(fault: Fault, setup: Setup): string {
  const { traits, iterations } = candidates(setup)[1];
  return unmetNeeds(fault.needs ?? [], traits, iterations).join(', and ');
}
