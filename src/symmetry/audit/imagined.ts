/** Imagined rows of each agent beside its real ones: how many, and how rewarded. */
import type { Slice } from '../../doctor/stream.ts';
import type { Watch } from './audit.ts';

export interface ImaginedRows {
  real: number;
  imagined: number;
  realReward: number;
  imaginedReward: number;
}

export class ImaginedWatch implements Watch<ImaginedRows[]> {
  private readonly found: ImaginedRows[];

  constructor(agents: number) {
    this.found = Array.from({ length: agents }, () => ({ real: 0, imagined: 0, realReward: 0, imaginedReward: 0 }));
  }

  iteration({ tables }: Slice): void {
    const { samples } = tables;
    const [agent, reward, imagined] = ['agent', 'reward', 'imagined'].map((name) => samples?.column(name));
    if (!samples || !agent) return;
    for (let row = 0; row < samples.rows; row++) {
      const own = this.found[agent[row]];
      if (!own) continue;
      if (imagined?.[row] === 1) {
        own.imagined++;
        own.imaginedReward += reward?.[row] ?? 0;
      } else {
        own.real++;
        own.realReward += reward?.[row] ?? 0;
      }
    }
  }

  finish(): ImaginedRows[] {
    return this.found;
  }
}
