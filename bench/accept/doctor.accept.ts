/** What must hold of the doctor's cost: its time beside reading, and its memory on a long recording. */
import { bench } from '../doctor.bench.ts';
import type { Figure } from '../support.ts';

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  return size === 'full' ? bench(say) : bench(say, { rows: 20_000, long: 50_000, rounds: 1 });
}
