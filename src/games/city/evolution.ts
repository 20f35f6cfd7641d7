/** Separable CMA-ES: an evolution strategy that learns one step size for each coordinate (Ros and Hansen 2008). It maximises. */
import type { RandomStream } from '../../math/random.ts';

export class SeparableEvolution {
  readonly mean: Float64Array;
  /** Overall step size. */
  sigma: number;
  readonly population: Float64Array[];
  private readonly variance: Float64Array;
  private readonly pathSigma: Float64Array;
  private readonly pathVariance: Float64Array;
  private readonly weights: Float64Array;
  private readonly effective: number;
  private readonly expectedNorm: number;
  private generation = 0;

  constructor(start: ArrayLike<number>, sigma: number, members: number) {
    if (members < 4) throw new RangeError(`Evolution needs at least 4 members and got ${members}.`);
    const n = start.length;
    this.mean = Float64Array.from(start);
    this.sigma = sigma;
    this.population = Array.from({ length: members }, () => new Float64Array(n));
    this.variance = new Float64Array(n).fill(1);
    this.pathSigma = new Float64Array(n);
    this.pathVariance = new Float64Array(n);
    const parents = Math.floor(members / 2);
    this.weights = Float64Array.from({ length: parents }, (_, i) => Math.log((members + 1) / 2) - Math.log(i + 1));
    const total = this.weights.reduce((sum, w) => sum + w, 0);
    for (let i = 0; i < parents; i++) this.weights[i] /= total;
    this.effective = 1 / this.weights.reduce((sum, w) => sum + w * w, 0);
    this.expectedNorm = Math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
  }

  /** Draws a new population around the mean. */
  ask(stream: RandomStream): readonly Float64Array[] {
    for (const member of this.population) {
      for (let i = 0; i < member.length; i++) {
        member[i] = this.mean[i] + this.sigma * Math.sqrt(this.variance[i]) * stream.normal();
      }
    }
    return this.population;
  }

  /** Learns from the population's fitness, in its order. */
  tell(fitness: ArrayLike<number>): void {
    const n = this.mean.length;
    const { effective: mu, weights } = this;
    const order = this.population.map((_, i) => i).sort((a, b) => fitness[b] - fitness[a]);
    const rateSigma = (mu + 2) / (n + mu + 5);
    const damping = 1 + 2 * Math.max(0, Math.sqrt((mu - 1) / (n + 1)) - 1) + rateSigma;
    const ratePath = (4 + mu / n) / (n + 4 + (2 * mu) / n);
    // A diagonal has n numbers to learn instead of n squared, so it may learn (n + 2) / 3 times as fast.
    const speed = (n + 2) / 3;
    const rateOne = (speed * 2) / ((n + 1.3) ** 2 + mu);
    const rateMany = Math.min(1 - rateOne, (speed * 2 * (mu - 2 + 1 / mu)) / ((n + 2) ** 2 + mu));
    this.generation++;
    let norm = 0;
    const steps = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < weights.length; k++) {
        steps[i] += (weights[k] * (this.population[order[k]][i] - this.mean[i])) / this.sigma;
      }
      this.pathSigma[i] =
        (1 - rateSigma) * this.pathSigma[i] +
        (Math.sqrt(rateSigma * (2 - rateSigma) * mu) * steps[i]) / Math.sqrt(this.variance[i]);
      norm += this.pathSigma[i] ** 2;
    }
    norm = Math.sqrt(norm);
    const settled =
      norm / Math.sqrt(1 - (1 - rateSigma) ** (2 * this.generation)) < (1.4 + 2 / (n + 1)) * this.expectedNorm;
    for (let i = 0; i < n; i++) {
      this.pathVariance[i] =
        (1 - ratePath) * this.pathVariance[i] + (settled ? Math.sqrt(ratePath * (2 - ratePath) * mu) * steps[i] : 0);
      let spread = 0;
      for (let k = 0; k < weights.length; k++) {
        spread += weights[k] * ((this.population[order[k]][i] - this.mean[i]) / this.sigma) ** 2;
      }
      this.variance[i] =
        (1 - rateOne - rateMany) * this.variance[i] + rateOne * this.pathVariance[i] ** 2 + rateMany * spread;
    }
    for (let i = 0; i < n; i++) this.mean[i] += this.sigma * steps[i];
    this.sigma *= Math.exp((rateSigma / damping) * (norm / this.expectedNorm - 1));
  }
}
