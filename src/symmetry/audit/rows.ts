/** How many rows of each agent were stored, against how many decisions it took. Only episodes whose every iteration was kept whole are counted, so a cadence loses no rows here. */
import type { Slice } from '../../doctor/evidence/reading/stream.ts';
import type { Recording } from '../../recording/recording.ts';
import type { Watch } from './audit.ts';
import { entryOf } from './entry.ts';

export interface RowCounts {
  /** Decisions taken, in the episodes that could be counted. */
  decisions: number;
  stored: number;
  episodes: number;
  /** Episodes of which not one row was stored, though decisions were taken. */
  empty: number;
  /** First iteration of an episode that lacks rows; -1 where none does. */
  onset: number;
}

interface SeenEpisode {
  /** Iteration in which it was seen to begin; -1 where its beginning was not kept. */
  begun: number;
  stored: Int32Array;
}

export class RowWatch implements Watch<RowCounts[]> {
  private readonly episodes = new Map<number, SeenEpisode>();
  private readonly kept = new Set<number>();
  private readonly counts: RowCounts[];

  constructor(private readonly agents: number) {
    this.counts = Array.from({ length: agents }, () => ({ decisions: 0, stored: 0, episodes: 0, empty: 0, onset: -1 }));
  }

  iteration({ number, tables }: Slice): void {
    const { samples } = tables;
    const [agent, episode, t] = ['agent', 'episode', 't'].map((name) => samples?.column(name));
    if (!samples || !agent || !episode || !t) return;
    const imagined = samples.column('imagined');
    this.kept.add(number);
    for (let row = 0; row < samples.rows; row++) {
      if (imagined?.[row] === 1) continue;
      const own = entryOf(this.episodes, episode[row], () => ({ begun: -1, stored: new Int32Array(this.agents) }));
      if (t[row] === 0 && own.begun < 0) own.begun = number;
      own.stored[agent[row]]++;
    }
  }

  async readEpisodes(recording: Recording): Promise<void> {
    if (!recording.tables.includes('episodes')) return;
    const table = await recording.read('episodes', ['episode', 'agent', 'length', 'iteration']);
    const numbers = (name: string) => table.columns.get(name)?.values as ArrayLike<number> | undefined;
    const [episode, agent, length, ended] = [
      numbers('episode'),
      numbers('agent'),
      numbers('length'),
      numbers('iteration'),
    ];
    if (!episode || !agent || !length || !ended) return;
    for (let row = 0; row < table.rows; row++) {
      const own = this.episodes.get(episode[row]);
      const count = this.counts[agent[row]];
      if (!own || !count || own.begun < 0 || Number.isNaN(length[row])) continue;
      let whole = true;
      for (let at = own.begun; at <= ended[row] && whole; at++) whole = this.kept.has(at);
      if (!whole) continue;
      const stored = own.stored[agent[row]];
      count.decisions += length[row];
      count.stored += stored;
      count.episodes++;
      if (stored === 0 && length[row] > 0) count.empty++;
      if (stored < length[row] && (count.onset < 0 || own.begun < count.onset)) count.onset = own.begun;
    }
  }

  finish(): RowCounts[] {
    return this.counts;
  }
}
