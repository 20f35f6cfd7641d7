/** Every check of continuous actions, in the order in which a report shows them. */
import type { Check } from '../../check.ts';
import { density } from './density.ts';
import { deviation } from './deviation.ts';
import { gaussianEntropy } from './entropy.ts';

export const continuousChecks: readonly Check[] = [density, deviation, gaussianEntropy];
