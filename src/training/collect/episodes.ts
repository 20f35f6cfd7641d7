/** Results of the episodes that ended in one iteration, one entry per agent. Kept as columns, in the order in which they ended. */

export class EpisodeResults {
  length = 0;
  episode = new Int32Array(64);
  agent = new Int32Array(64);
  seat = new Int32Array(64);
  return = new Float64Array(64);
  decisions = new Int32Array(64);
  iteration = new Int32Array(64);
  learner = new Int32Array(64);

  clear(): void {
    this.length = 0;
  }

  add(
    episode: number,
    agent: number,
    seat: number,
    sum: number,
    decisions: number,
    iteration: number,
    learner: number,
  ): void {
    if (this.length === this.episode.length) this.grow();
    const i = this.length++;
    this.episode[i] = episode;
    this.agent[i] = agent;
    this.seat[i] = seat;
    this.return[i] = sum;
    this.decisions[i] = decisions;
    this.iteration[i] = iteration;
    this.learner[i] = learner;
  }

  /** Adds the results of another round. */
  take(other: EpisodeResults): void {
    for (let i = 0; i < other.length; i++)
      this.add(
        other.episode[i],
        other.agent[i],
        other.seat[i],
        other.return[i],
        other.decisions[i],
        other.iteration[i],
        other.learner[i],
      );
  }

  /** Mean return of each agent with its standard error; NaN for an agent without a finished episode. */
  means(agents: number): AgentReturn[] {
    return Array.from({ length: agents }, (_, agent) => {
      let count = 0;
      let mean = 0;
      let squares = 0;
      for (let i = 0; i < this.length; i++) {
        if (this.agent[i] !== agent) continue;
        count++;
        const change = this.return[i] - mean;
        mean += change / count;
        squares += change * (this.return[i] - mean);
      }
      const standardError = count > 1 ? Math.sqrt(squares / (count - 1) / count) : Number.NaN;
      return { mean: count > 0 ? mean : Number.NaN, standardError, episodes: count };
    });
  }

  private grow(): void {
    const room = this.length * 2;
    const ints = (old: Int32Array<ArrayBuffer>) => {
      const grown = new Int32Array(room);
      grown.set(old);
      return grown;
    };
    this.episode = ints(this.episode);
    this.agent = ints(this.agent);
    this.seat = ints(this.seat);
    this.decisions = ints(this.decisions);
    this.iteration = ints(this.iteration);
    this.learner = ints(this.learner);
    const returns = new Float64Array(room);
    returns.set(this.return);
    this.return = returns;
  }
}

/**
 * One agent's mean return over episodes; lists of them are in the order of the agents.
 *
 * @example
 * const returns: AgentReturn[] = run.evaluate(1000);
 */
export interface AgentReturn {
  mean: number;
  standardError: number;
  episodes: number;
}
