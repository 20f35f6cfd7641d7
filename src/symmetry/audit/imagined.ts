/** Imagined rows of each agent beside its real ones: how many, and how rewarded. */
import type { Slice } from '../../doctor/evidence/reading/stream.ts';
import type { Watch } from './audit.ts';

export interface ImaginedRows {
  real: number;
  imagined: number;
  realReward: number;
  imaginedReward: number;
  /** Imagined rows at seats in which the agent never sat, and by the seat they show. */
  strange: number;
  strangeSeats: number[];
}

export class ImaginedWatch implements Watch<ImaginedRows[]> {
  private readonly found: ImaginedRows[];
  /** By agent: the seats of its real rows, and its imagined rows by seat. */
  private readonly real: Set<number>[];
  private readonly imagined: Map<number, number>[];

  constructor(agents: number) {
    const each = <T>(make: () => T) => Array.from({ length: agents }, make);
    this.found = each(() => ({
      real: 0,
      imagined: 0,
      realReward: 0,
      imaginedReward: 0,
      strange: 0,
      strangeSeats: [],
    }));
    this.real = each(() => new Set());
    this.imagined = each(() => new Map());
  }

  iteration({ tables }: Slice): void {
    const { samples } = tables;
    const [agent, reward, imagined] = ['agent', 'reward', 'imagined'].map((name) => samples?.column(name));
    const seat = samples?.column('seat');
    if (!samples || !agent) return;
    for (let row = 0; row < samples.rows; row++) {
      const own = this.found[agent[row]];
      if (!own) continue;
      const dreamt = imagined?.[row] === 1;
      if (seat && dreamt) {
        const seats = this.imagined[agent[row]];
        seats.set(seat[row], (seats.get(seat[row]) ?? 0) + 1);
      } else if (seat) this.real[agent[row]].add(seat[row]);
      if (dreamt) {
        own.imagined++;
        own.imaginedReward += reward?.[row] ?? 0;
      } else {
        own.real++;
        own.realReward += reward?.[row] ?? 0;
      }
    }
  }

  finish(): ImaginedRows[] {
    for (const [agent, own] of this.found.entries())
      for (const [seat, rows] of this.imagined[agent]) {
        if (this.real[agent].has(seat)) continue;
        own.strange += rows;
        own.strangeSeats.push(seat);
      }
    return this.found;
  }
}
