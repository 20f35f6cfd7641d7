/** Every check of memory and of what the update sees, in the order in which a report shows them. */
import type { Check } from '../../check.ts';
import { memory } from './memory.ts';
import { normaliser } from './normaliser.ts';

export const memoryChecks: readonly Check[] = [memory, normaliser];
