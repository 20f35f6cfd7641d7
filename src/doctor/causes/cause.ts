/** What the doctor knows about one cause. Reports, `trueline explain` and the pages of docs/causes are made from these entries and from nothing else. */

export interface CauseEntry {
  readonly id: string;
  /** A to F, as in the vocabulary. */
  readonly group: 'A' | 'B' | 'C' | 'D' | 'E' | 'F';
  readonly meaning: string;
  /** What tells it from its neighbours. */
  readonly toldApart: string;
  /** What its victims usually see. */
  readonly symptoms: readonly string[];
  /** How a diagnosis proves it. */
  readonly proof: string;
  /** One sentence: what to change. */
  readonly remedy: string;
  /** The same as code. */
  readonly pytorch: string;
  readonly trueline: string;
}
