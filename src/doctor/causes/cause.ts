/** What the doctor knows about one cause. Ranking, reports, `trueline explain` and the pages of docs/causes are made from these entries and from nothing else. */

/** `ratio`: the ratio is off 1 before the first step; `pairing`: the credit is another row's. Both have symptoms of their own further down. */
export type Family = 'ratio' | 'pairing';

/** Pictures of a run as a whole, by their ids. */
export type RunPicture =
  | 'gradients'
  | 'changes'
  | 'kl'
  | 'entropy'
  | `token-${'rewards' | 'ratios' | 'places' | 'groups' | 'versions' | 'padding' | 'sampler-padding' | 'cache'}`
  | `reported-${'policy_loss' | 'approx_kl' | 'clip_fraction' | 'entropy'}`;

export interface CauseEntry {
  /** The name of its folder; it never changes its meaning. */
  readonly id: string;
  /** A to F, as in the vocabulary. */
  readonly group: 'A' | 'B' | 'C' | 'D' | 'E' | 'F';
  /** Where it strikes on the way from the game to the readings. The smaller, the earlier: it spoils what comes after it, so it is to be fixed first. */
  readonly place: number;
  readonly family?: Family;
  /** Families of which it is a symptom, where one of their causes was found. */
  readonly follows?: readonly Family[];
  /** Families whose causes are its symptoms. */
  readonly explainsFamilies?: readonly Family[];
  /** Other causes that are its symptoms. */
  readonly explains?: readonly string[];
  /** Columns that speak for or against it where rows are unexplained. */
  readonly decidedBy?: readonly string[];
  /** Only choices from a list can have it: it is no candidate where actions are continuous. */
  readonly choices?: true;
  readonly meaning: string;
  /** What tells it from its neighbours. */
  readonly toldApart: string;
  /** What its victims usually see. A diagnosis tells what was measured instead. */
  readonly symptoms: readonly string[];
  /** What of the run shows it, where no transform undoes its rows one by one: the first of these pictures that can be drawn. Otherwise its picture is its rows, before and after the transform. */
  readonly pictures?: readonly RunPicture[];
  /** How a diagnosis proves it. */
  readonly proof: string;
  /** One sentence: what to change. */
  readonly remedy: string;
  /** The same as code. */
  readonly pytorch: string;
  /** Absent where Trueline itself has no such trainer. */
  readonly trueline?: string;
  readonly chinese: Readonly<Record<'meaning' | 'remedy' | 'toldApart' | 'proof', string>> & {
    /** In the order of the English ones. */
    readonly symptoms: readonly string[];
  };
}

/** Whether `b` is a symptom where `a` was found. */
export function accountsFor(a: CauseEntry, b: CauseEntry): boolean {
  return (
    (a.family !== undefined && (b.follows?.includes(a.family) ?? false)) ||
    (b.family !== undefined && (a.explainsFamilies?.includes(b.family) ?? false)) ||
    (a.explains?.includes(b.id) ?? false)
  );
}
