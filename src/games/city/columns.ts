/** The city's extra columns of a recording: what was picked and what it was picked from. They describe the decision just taken, not the next. */
import type { GameColumn } from '../game.ts';
import type { CandidateFigures } from './candidates.ts';
import { geometry } from './map.ts';
import { parcels } from './rules.ts';

export class DecisionColumns {
  readonly all: readonly GameColumn[];
  private readonly parcels: Float64Array;
  private readonly parcelLengths: Int32Array;
  private readonly cost: Float64Array;
  private readonly score: Float64Array;
  private readonly sequenceScore: Float64Array;
  private readonly candidatesCount: Float64Array;
  private readonly parcelsCount: Float64Array;
  private readonly month: Float64Array;
  private readonly seen = new Int32Array(parcels);
  private stamp = 0;

  constructor(places: number) {
    const all: GameColumn[] = [];
    this.all = all;
    const column = (name: string, kind: 'int' | 'float', meaning: string): Float64Array => {
      const values = new Float64Array(places);
      all.push({ name, kind, meaning, width: 1, values });
      return values;
    };
    this.parcels = new Float64Array(places * 4);
    this.parcelLengths = new Int32Array(places);
    all.push({
      name: 'parcels',
      kind: 'int',
      meaning: 'Parcels that the pick builds on, row by row from the top left; none for STOP.',
      width: 4,
      values: this.parcels,
      lengths: this.parcelLengths,
    });
    this.cost = column('cost', 'float', 'What the pick costs, land included.');
    this.score = column('score', 'float', 'Monthly net income that the pick promises, rent included.');
    this.sequenceScore = column('sequence_score', 'float', 'Sum of the scores of the turn so far, this pick included.');
    this.candidatesCount = column(
      'candidates_count',
      'int',
      'Candidates that the pick was chosen from, STOP included.',
    );
    this.parcelsCount = column('parcels_count', 'int', 'Different top-left parcels among the candidates.');
    this.month = column('month', 'int', 'Month of the pick.');
  }

  record(
    place: number,
    at: number,
    figures: CandidateFigures,
    sequenceScore: number,
    month: number,
    start: number,
    count: number,
  ): void {
    const footprint = figures.footprint[at];
    const length = footprint >= 0 ? geometry.cellCount[footprint] : 0;
    this.parcelLengths[place] = length;
    for (let i = 0; i < length; i++) this.parcels[place * 4 + i] = geometry.cells[footprint][i];
    this.cost[place] = figures.cost[at];
    this.score[place] = figures.net[at];
    this.sequenceScore[place] = sequenceScore;
    this.candidatesCount[place] = count;
    this.month[place] = month;
    this.stamp++;
    let different = 0;
    // The last candidate is STOP, which has no parcel.
    for (let i = start; i < start + count - 1; i++) {
      const parcel = figures.footprint[i] % parcels;
      if (this.seen[parcel] === this.stamp) continue;
      this.seen[parcel] = this.stamp;
      different++;
    }
    this.parcelsCount[place] = different;
  }
}
