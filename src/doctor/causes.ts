/** The one table of causes, A to F. Ids never change their meaning. */
import type { CauseEntry } from './causes/cause.ts';
import { creditCauses } from './causes/credit.ts';
import { gradientCauses } from './causes/gradient.ts';
import { networkCauses } from './causes/network.ts';
import { replayCauses } from './causes/replay.ts';
import { symmetryCauses } from './causes/symmetry.ts';

export type { CauseEntry } from './causes/cause.ts';

export const causes: readonly CauseEntry[] = [
  ...replayCauses,
  ...creditCauses,
  ...gradientCauses,
  ...networkCauses,
  ...symmetryCauses,
];

const byId = new Map(causes.map((cause) => [cause.id, cause]));

export function causeById(id: string): CauseEntry | undefined {
  return byId.get(id);
}
