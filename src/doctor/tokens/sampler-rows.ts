/** Tokens whose log-probability the sampler and the trainer should agree on, with everything that either could have reported in its place. */
import { source } from './codes.ts';
import type { TokenEvidence } from './evidence.ts';
import { floorOf, type Gaps, gaps } from './floor.ts';

export type Predict = (row: number) => number;

export class SamplerRows {
  /** Kept tokens that may be compared. */
  readonly rows: Int32Array;
  /** Tokens of older weights that no column can be compared with. */
  readonly lagging: number;
  readonly said: Float64Array;
  private clean: Float64Array;
  private readonly expectations: Float64Array;

  constructor(readonly evidence: TokenEvidence) {
    const { tokens, responses } = evidence;
    this.said = tokens.column('sampler_logp');
    this.clean = base(evidence);
    if (renormalises(evidence, this.clean)) {
      const kept = tokens.column('kept_mass');
      this.clean = this.clean.map((value, row) => value - Math.log(kept[row]));
    }
    this.expectations = new Float64Array(tokens.rows).fill(Number.NaN);
    const [origin, owner, own] = [tokens.column('source'), tokens.column('response'), tokens.column('sampler_version')];
    const [made, trained, older] = [
      responses.column('sampler_version'),
      responses.column('trainer_version'),
      responses.column('earlier_version'),
    ];
    const earlier = tokens.column('earlier_logp');
    const chosen: number[] = [];
    let lagging = 0;
    for (let row = 0; row < tokens.rows; row++) {
      if (origin[row] !== source.sampled || Number.isNaN(this.said[row])) continue;
      const response = owner[row];
      const version = Number.isNaN(own[row]) ? made[response] : own[row];
      const late = version < trained[response];
      const expected = !late ? this.clean[row] : older[response] === version ? earlier[row] : Number.NaN;
      if (late && Number.isNaN(expected)) lagging++;
      this.expectations[row] = expected;
      if (!Number.isNaN(expected)) chosen.push(row);
    }
    this.rows = Int32Array.from(chosen);
    this.lagging = lagging;
  }

  expected: Predict = (row) => this.expectations[row];

  gaps(predict: Predict, rows: ArrayLike<number> = this.rows): Gaps {
    return gaps(Float64Array.from(rows as Int32Array, (row) => this.said[row] - predict(row)));
  }

  /** By iteration, in order. */
  byIteration(): Map<number, number[]> {
    const lists = new Map<number, number[]>();
    const iteration = this.evidence.tokens.column('iteration');
    for (const row of this.rows) {
      const list = lists.get(iteration[row]);
      if (list) list.push(row);
      else lists.set(iteration[row], [row]);
    }
    return lists;
  }

  /** What is expected `places` tokens later in the same response. */
  shifted(places: number): Predict {
    const { evidence } = this;
    const out = new Float64Array(evidence.tokens.rows).fill(Number.NaN);
    for (const rows of evidence.byResponse.values())
      for (let i = 0; i < rows.length; i++) {
        const other = rows[i + places];
        if (other !== undefined) out[rows[i]] = this.clean[other];
      }
    return (row) => out[row];
  }
}

/** Whether the update itself is over the kept tokens only: a sampler that is, too, then agrees with it. */
function renormalises(evidence: TokenEvidence, clean: Float64Array): boolean {
  const { tokens } = evidence;
  const [first, kept, origin] = [tokens.column('first_logp'), tokens.column('kept_mass'), tokens.column('source')];
  const floor = floorOf(evidence);
  const rows = [...first.keys()].filter((row) => origin[row] === source.sampled && kept[row] < 1 && first[row] <= 0);
  const over = (shift: (row: number) => number) => gaps(rows.map((row) => first[row] - clean[row] + shift(row)));
  return rows.length > 0 && !floor.holds(over(() => 0)) && floor.holds(over((row) => Math.log(kept[row])));
}

/** The trainer's own at temperature 1; of a clean pass where its batch did not show its logits. */
export function plainOf({ tokens }: TokenEvidence): Float64Array {
  const control = tokens.column('control_plain_logp');
  return tokens.column('logp_plain').map((value, row) => (Number.isNaN(value) ? control[row] : value));
}

/** What a clean pass of the trainer gives; where there is none, its usual batch, or the first use of the token. */
export function base({ tokens }: TokenEvidence): Float64Array {
  const [control, usual, first] = [
    tokens.column('control_logp'),
    tokens.column('logp_tempered'),
    tokens.column('first_logp'),
  ];
  return control.map((value, row) =>
    !Number.isNaN(value) ? value : !Number.isNaN(usual[row]) ? usual[row] : first[row],
  );
}
