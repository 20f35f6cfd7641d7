/** What findings of an audit have in common: rows prove them, and agents are called by name. */
import { figure } from '../../doctor/diagnosis.ts';
import { comma } from '../../language/language.ts';
import type { SymmetryFinding } from '../stage.ts';
import type { Audit } from './audit.ts';

type Parts = Pick<SymmetryFinding, 'cause' | 'agents' | 'summary' | 'evidence'> &
  Partial<Pick<SymmetryFinding, 'rows' | 'onset' | 'confidence'>>;

export const proved = (parts: Parts): SymmetryFinding => ({
  proof: 'rows',
  confidence: 0.99,
  rows: 0,
  onset: 0,
  ...parts,
});

export const list = (audit: Audit, agents: readonly number[]) =>
  agents.map((agent) => audit.agents[agent] ?? `agent ${agent}`).join(comma());
export const shown = (values: readonly number[]) => values.map((value) => figure(value)).join(', ');
