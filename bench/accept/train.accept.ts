/** What must hold of training, in full: every game learnt for every seed, and the bench's figures. */
import { createEngine } from '../../src/net/engine.ts';
import type { Figure } from '../support.ts';
import { learning } from '../train/learning.ts';
import { fullSizes, reducedSizes } from '../train/sizes.ts';
import { bench, needs } from '../train.bench.ts';

export { needs };

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  const engine = await createEngine();
  try {
    const learnt = await learning(say, engine, size === 'full' ? 5 : 1);
    return [...learnt, ...(await bench(say, size === 'full' ? fullSizes : reducedSizes))];
  } finally {
    engine.dispose();
  }
}
