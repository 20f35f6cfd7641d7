/** What every agent believes about every other agent's goal. Within an episode Bayes' rule follows the other's moves; between episodes a prior keeps what goals it had. An entry is b[world][observer][other][goal]. */
export class Beliefs {
  readonly now: Float64Array;
  readonly prior: Float64Array;

  constructor(
    readonly worlds: number,
    readonly agents: number,
    readonly goals: number,
    /** alpha: how much of the prior is kept from one episode to the next. */
    private readonly horizonWeight: number,
  ) {
    const size = worlds * agents * agents * goals;
    this.now = new Float64Array(size).fill(1 / goals);
    this.prior = new Float64Array(size).fill(1 / goals);
  }

  /** Where the belief of `observer` about `other` begins. */
  at(world: number, observer: number, other: number): number {
    return ((world * this.agents + observer) * this.agents + other) * this.goals;
  }

  /** A new episode begins with the prior. */
  begin(world: number): void {
    const size = this.agents * this.agents * this.goals;
    const from = world * size;
    this.now.set(this.prior.subarray(from, from + size), from);
  }

  /** b(g) becomes b(g) Pr(move | g) / Z; `likelihood` holds Pr(move | g) for each goal from `from` on. */
  see(at: number, likelihood: ArrayLike<number>, from: number): void {
    let sum = 0;
    for (let g = 0; g < this.goals; g++) sum += this.now[at + g] * likelihood[from + g];
    if (!(sum > 0)) return;
    for (let g = 0; g < this.goals; g++) this.now[at + g] *= likelihood[from + g] / sum;
  }

  /** The other has reached a goal, which everybody saw: the prior becomes alpha prior + (1 - alpha) [goal], and what it does next begins from there. */
  reached(world: number, other: number, goal: number): void {
    const { goals, agents, horizonWeight: keep, prior, now } = this;
    for (let observer = 0; observer < agents; observer++) {
      const at = this.at(world, observer, other);
      for (let g = 0; g < goals; g++) {
        prior[at + g] = keep * prior[at + g] + (g === goal ? 1 - keep : 0);
        now[at + g] = prior[at + g];
      }
    }
  }

  /** A goal drawn from a belief; `uniform` lies in [0, 1). */
  draw(at: number, uniform: number): number {
    let left = uniform;
    for (let g = 0; g < this.goals - 1; g++) {
      left -= this.now[at + g];
      if (left < 0) return g;
    }
    return this.goals - 1;
  }
}
