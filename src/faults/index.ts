/** The zoo: every fault by its name, and how a run is given one. Faults may be applied one after the other; each wraps what is there. */

import type { GameMaker } from '../games/game.ts';
import { told } from '../language/language.ts';
import { RandomStream } from '../math/random.ts';
import { BadInput } from '../recording/bad-input.ts';
import { readSettings, type Settings, type SettingsInput } from '../training/settings.ts';
import { cleanStages, type Stages } from '../training/stages.ts';
import { gameAsymmetries } from './asymmetry/game.ts';
import { hopAsymmetries } from './asymmetry/hop.ts';
import { trainingAsymmetries } from './asymmetry/training.ts';
import { pairingFaults } from './credit/advantage.ts';
import { endsFaults } from './credit/ends.ts';
import { formulaFaults } from './credit/formula.ts';
import { rowFaults } from './credit/rows.ts';
import { sizeFaults } from './credit/size.ts';
import { inputFaults } from './distribution/inputs.ts';
import { listFaults } from './distribution/lists.ts';
import { noiseFaults } from './distribution/noise.ts';
import { oldFaults } from './distribution/old.ts';
import { updateFaults } from './distribution/update.ts';
import type { Fault, Strength } from './fault.ts';
import { flowFaults } from './gradient/flow.ts';
import { lossFormulaFaults } from './gradient/formula.ts';
import { notFiniteFaults } from './gradient/not-finite.ts';
import { parameterFaults } from './gradient/parameters.ts';
import { settingFaults } from './gradient/settings.ts';
import { networkFaults } from './network-signal.ts';
import { planningFaults } from './planning.ts';
import { readingFaults } from './reading.ts';
import { expectedIterations, findTraits, unmetNeeds } from './traits.ts';

export { type ColumnEffect, effect } from './effect.ts';
export type { Fault, FaultContext, MadeFault, SettingsChange, StageName, Strength } from './fault.ts';
export { onsetNotice } from './fault.ts';
export type { Need, Traits } from './traits.ts';

/** Faults of the doctor's causes, groups A to E. */
export const faults: readonly Fault[] = [
  ...listFaults,
  ...oldFaults,
  ...updateFaults,
  ...noiseFaults,
  ...inputFaults,
  ...pairingFaults,
  ...sizeFaults,
  ...endsFaults,
  ...formulaFaults,
  ...rowFaults,
  ...flowFaults,
  ...lossFormulaFaults,
  ...parameterFaults,
  ...notFiniteFaults,
  ...settingFaults,
  ...networkFaults,
  ...readingFaults,
];

/** Faults that make equal agents come out unequal. Faults above do so too, where they strike only some agents. */
export const asymmetryFaults: readonly Fault[] = [...gameAsymmetries, ...trainingAsymmetries, ...hopAsymmetries];

/** Faults of agents that plan. */
export { planningFaults };

/** How many names are offered in place of one that is not known. */
const offered = 5;

export function findFault(id: string): Fault {
  const all = [...faults, ...asymmetryFaults, ...planningFaults];
  const found = all.find((fault) => fault.id === id);
  if (found) return found;
  const wanted = id.toLowerCase();
  const near = all
    .map((fault) => ({ id: fault.id, distance: nameDistance(wanted, fault) }))
    .sort((a, b) => a.distance - b.distance || (a.id < b.id ? -1 : 1))
    .slice(0, offered)
    .map((fault) => fault.id);
  throw new BadInput(
    told(
      `there is no fault ${JSON.stringify(id)}; near names are ${near.join(', ')}, and the zoo has ${all.length} in all`,
      `没有故障 ${JSON.stringify(id)}；相近的名称有 ${near.join(', ')}，故障库共有 ${all.length} 个`,
    ),
  );
}

/** A cause's name stands for its faults, so that whoever gives it is offered them first. */
function nameDistance(wanted: string, fault: Fault): number {
  if (fault.cause === wanted) return -1;
  return Math.min(editDistance(wanted, fault.id), fault.id.includes(wanted) ? 1 : Infinity);
}

/** Letters to insert, remove or replace until one word is the other. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}

/** Why a fault would mean nothing in a run, in one sentence; null where it fits. */
export function whyNot(fault: Fault, input: SettingsInput, game?: GameMaker): string | null {
  const settings = readSettings(input);
  const traits = findTraits(settings, game);
  const unmet = unmetNeeds(fault.needs ?? [], traits, expectedIterations(settings, traits));
  return unmet.length > 0
    ? told(`the fault ${fault.id} needs ${unmet.join(', and ')}`, `故障 ${fault.id} 需要${unmet.join('、')}`)
    : null;
}

export interface AppliedFault {
  /** Whole stages, for the trainer. */
  stages: Stages;
  /** The settings with what the fault makes of them. */
  settings: Settings;
  /** The numbers that the seed drew. */
  strength: Strength;
}

/**
 * Breaks a run. The guard is off unless the settings name a mode: it would drop the rows that the fault spoils, and no fault would come to
 * anything. The settings name neither the fault nor its seed, so neither does the recording.
 */
export function applyFault(
  fault: Fault,
  seed: number,
  clean: Stages = cleanStages,
  input: SettingsInput = {},
  game?: GameMaker,
): AppliedFault {
  const settings = readSettings({ ...input, guard: input.guard ?? 'off' });
  const traits = findTraits(settings, game);
  const iterations = expectedIterations(settings, traits);
  const unmet = unmetNeeds(fault.needs ?? [], traits, iterations);
  if (unmet.length > 0)
    throw new BadInput(
      told(
        `the fault ${fault.id} needs ${unmet.join(', and ')}, which ${settings.game} with these settings does not give; choose another game, other settings or another fault`,
        `故障 ${fault.id} 需要${unmet.join('、')}，而 ${settings.game} 在这些设置下不具备；请换游戏、设置或故障`,
      ),
    );
  const made = fault.make(RandomStream.of(seed, 'fault', fault.id), { settings, traits, iterations });
  return {
    stages: { ...clean, ...made.stages?.(clean) },
    settings: readSettings({
      ...settings,
      ppo: { ...settings.ppo, ...made.settings?.ppo },
      network: { ...settings.network, ...made.settings?.network },
    }),
    strength: made.strength,
  };
}
