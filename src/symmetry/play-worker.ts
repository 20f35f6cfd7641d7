/** The program of a worker thread that plays at random: the game and its fault are named, because functions cannot be sent. */
import { applyFault, findFault } from '../faults/index.ts';
import { gameMaker } from '../games/index.ts';
import type { SettingsInput } from '../training/settings.ts';
import { cleanStages, type Stages } from '../training/stages.ts';
import { playRandom, type RandomPlayOrder } from './play.ts';
import type { PlayedSums } from './stage.ts';

export interface PlayTask {
  settings: SettingsInput;
  fault?: { id: string; seed: number };
  names: string[];
  order: RandomPlayOrder;
}

export default function play({ settings, fault, names, order }: PlayTask): PlayedSums {
  const make = gameMaker(settings.game ?? '', settings.gameSettings);
  return playRandom(make, stagesOf(settings, fault), names, order);
}

/** The stages of a run with these settings. */
export function stagesOf(settings: SettingsInput, fault: PlayTask['fault']): Stages {
  return fault ? applyFault(findFault(fault.id), fault.seed, cleanStages, settings).stages : cleanStages;
}
