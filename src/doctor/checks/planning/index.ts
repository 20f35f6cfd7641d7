/** Every check of agents that plan, in the order in which a report shows them. */
import type { Check } from '../../check.ts';
import { beliefs } from './beliefs.ts';
import { search } from './search.ts';

export const planningChecks: readonly Check[] = [beliefs, search];
