/** Every symptom, the most decisive first: a report's headline is the first one that is seen. */
import type { Symptom } from '../symptom.ts';
import { agentsApart } from './agents.ts';
import { creditSymptoms } from './credit.ts';
import { criticSymptoms } from './critic.ts';
import { entropySymptoms } from './entropy.ts';
import { nonFinite } from './finite.ts';
import { overshootSymptoms } from './overshoot.ts';
import { stillSymptoms } from './still.ts';

export const symptoms: readonly Symptom[] = [
  nonFinite,
  ...stillSymptoms,
  agentsApart,
  ...overshootSymptoms,
  ...criticSymptoms,
  ...creditSymptoms,
  ...entropySymptoms,
];
