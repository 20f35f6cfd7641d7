/** An investigation as one page. */
import type { SymmetryDiagnosis } from '../symmetry/stages/explanation.ts';

export async function symmetryPage(
  diagnosis: SymmetryDiagnosis,
  _of: { command: string; title: string },
): Promise<string> {
  return JSON.stringify(diagnosis);
}
