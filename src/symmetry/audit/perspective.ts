/** By how much each agent's candidate list was turned between sampling and update. A turn by the agent's own number means that one side was seen from its point of view and the other was not. */
import type { Slice } from '../../doctor/evidence/reading/stream.ts';
import type { Watch } from './audit.ts';

export interface Turns {
  rows: number;
  /** Rows whose lists differ at all. */
  differ: number;
  /** Rows whose lists agree once turned by the agent's number. */
  byOwnNumber: number;
  onset: number;
}

export class PerspectiveWatch implements Watch<Turns[]> {
  private readonly found: Turns[];

  constructor(agents: number) {
    this.found = Array.from({ length: agents }, () => ({ rows: 0, differ: 0, byOwnNumber: 0, onset: -1 }));
  }

  iteration({ number, tables }: Slice): void {
    const { samples, replays } = tables;
    const sampled = samples?.list('subset');
    const replayed = replays?.list('subset');
    const agent = samples?.column('agent');
    const sample = replays?.column('sample');
    const epoch = replays?.column('epoch');
    const source = replays?.column('source_iteration');
    if (!samples || !replays || !sampled || !replayed || !agent || !sample) return;
    for (let row = 0; row < replays.rows; row++) {
      const of = sample[row];
      if (of >= samples.rows || (epoch && epoch[row] > 0)) continue;
      if (source && source[row] !== number && !Number.isNaN(source[row])) continue;
      const own = this.found[agent[of]];
      const from = Number(sampled.offsets[of]);
      const to = Number(replayed.offsets[row]);
      const length = Number(sampled.offsets[of + 1]) - from;
      if (!own || Number(replayed.offsets[row + 1]) - to !== length || length < 2) continue;
      own.rows++;
      const agrees = (turn: number) => {
        for (let c = 0; c < length; c++)
          if (replayed.values[to + c] !== sampled.values[from + ((c + turn) % length)]) return false;
        return true;
      };
      if (agrees(0)) continue;
      own.differ++;
      if (own.onset < 0) own.onset = number;
      if (agrees(agent[of] % length)) own.byOwnNumber++;
    }
  }

  finish(): Turns[] {
    return this.found;
  }
}
