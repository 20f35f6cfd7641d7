/** What actions were really drawn with: squared distances from the mean, in units of each deviation that a program may have meant, average 1 under the one that it used. Says nothing where actions pile up at a bound or the noise of neighbouring steps is related. */
import { told } from '../../language/language.ts';
import { type Finding, figure } from '../diagnosis.ts';
import type { Iteration } from '../evidence/iteration.ts';
import { limits } from '../limits.ts';
import { type Deviation, deviationOf } from './laws.ts';

const kinds: readonly Deviation[] = ['own', 'exponential', 'variance', 'root', 'unit'];

export class Noise {
  private count = 0;
  private readonly squares: Record<Deviation, number> = { own: 0, exponential: 0, variance: 0, root: 0, unit: 0 };
  private fourths = 0;
  private readonly related = { both: 0, self: 0, pairs: 0 };
  private clipped = false;

  iteration({ samples, chains }: Iteration): void {
    const [raw, mean, spread] = ['action_values', 'mean', 'log_std'].map((name) => samples!.list(name));
    if (
      !raw ||
      !mean ||
      !spread ||
      mean.values.length !== raw.values.length ||
      spread.values.length !== raw.values.length
    )
      return;
    const seen = new Map<number, number>();
    const z = new Float64Array(raw.values.length);
    for (let i = 0; i < raw.values.length; i++) {
      const distance = raw.values[i] - mean.values[i];
      if (!Number.isFinite(distance) || !Number.isFinite(spread.values[i])) continue;
      for (const kind of kinds) this.squares[kind] += (distance / deviationOf(kind, spread.values[i])) ** 2;
      z[i] = distance / deviationOf('own', spread.values[i]);
      this.fourths += (z[i] * z[i]) ** 2;
      this.count++;
      const times = (seen.get(raw.values[i]) ?? 0) + 1;
      seen.set(raw.values[i], times);
      if (times >= limits.boundTies.value) this.clipped = true;
    }
    const previous = chains?.streamPrevious;
    for (let row = 0; previous && row < samples!.rows; row++) {
      const before = previous[row];
      const width = raw.offsets[row + 1] - raw.offsets[row];
      if (before < 0 || raw.offsets[before + 1] - raw.offsets[before] !== width) continue;
      for (let d = 0; d < width; d++) {
        const [now, then] = [z[raw.offsets[row] + d], z[raw.offsets[before] + d]];
        this.related.both += now * then;
        this.related.self += (now * now + then * then) / 2;
        this.related.pairs++;
      }
    }
  }

  /** The average squared distance in units of a deviation. */
  spread(kind: Deviation): number {
    return this.count > 0 ? this.squares[kind] / this.count : Number.NaN;
  }

  measured(): Record<string, number | string> {
    return this.count > 0 ? { squared_noise: figure(this.spread('own')) } : {};
  }

  private get silent(): boolean {
    if (this.clipped || this.count < limits.decidingRows.value) return true;
    return Math.abs(this.related.both) > limits.relatedNoise.value * this.related.self;
  }

  /** How many times the deviation the noise is, where it is a Gaussian of its own and none that a program may have meant; 0 where there is none. Null where that cannot be told. */
  factor(): number | null {
    const square = this.spread('own');
    if (this.silent || Math.abs(square - 1) < limits.unitSpread.value * Math.sqrt(2 / this.count)) return null;
    // Of a Gaussian, fourth powers average three times the square of the squares' average.
    const shape = this.fourths / this.count / (limits.gaussianFourth.value * square * square);
    const gaussian = Math.abs(shape - 1) <= limits.gaussianShape.value;
    return square < limits.rounding.value ? 0 : gaussian ? Math.sqrt(square) : null;
  }

  /** What the actions were drawn with; null where that cannot be told. */
  drawnWith(): Deviation | null {
    if (this.silent) return null;
    const error = Math.sqrt(2 / this.count);
    const off = (kind: Deviation) => Math.abs(this.spread(kind) - 1) / error;
    const fitting = kinds.filter((kind) => off(kind) <= limits.unitFit.value);
    // All others must be far off: where deviations are near 1, they are all the same.
    const [only] = fitting;
    if (fitting.length !== 1) return null;
    return kinds.every((kind) => kind === only || off(kind) >= limits.unitSpread.value) ? only : null;
  }
}

/** What such a factor says. */
export const drawnAt = (factor: number): Pick<Finding, 'cause' | 'before' | 'summary'> => ({
  cause: 'deviation-scale-wrong',
  before: factor ** 2,
  summary:
    factor === 0
      ? told(
          'Actions are the means themselves: nothing is drawn, while their log-probabilities are those of a draw.',
          '动作就是均值本身：没有任何抽样，而其对数概率却是抽样的对数概率。',
        )
      : told(
          `Actions are drawn with ${figure(factor)} times the deviation that scores them.`,
          `抽取动作的标准差是打分所用的 ${figure(factor)} 倍。`,
        ),
});
