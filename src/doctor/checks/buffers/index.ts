/** Every check of replay buffers, in the order in which a report shows them. They are asked only where there are targets. */
import type { Check } from '../../check.ts';
import { targetNetworks } from './copies.ts';
import { priorities } from './priorities.ts';
import { targets } from './targets.ts';
import { temperature } from './temperature.ts';

export const bufferChecks: readonly Check[] = [targets, targetNetworks, priorities, temperature];
