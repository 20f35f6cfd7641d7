/** Rows of agents that have died while their team goes on: from an end of their own to the common end they earn nothing. An agent that begins anew at once also ends alone, but it earns something, and its next end is its own. */
import type { Iteration } from '../../evidence/iteration.ts';
import { withAgent } from '../../evidence/keys.ts';
import { limits } from '../../limits.ts';

export class DeadRows {
  /** Agents that were dead when an iteration ended, by environment and agent. */
  private dead = new Set<number>();

  /** Rows of this iteration that were made by the dead. */
  of({ samples, chains }: Iteration): number[] {
    const env = samples?.column('env');
    const agent = samples?.column('agent');
    const reward = samples?.column('reward');
    const terminated = samples?.column('terminated');
    const truncated = samples?.column('truncated');
    const before = this.dead;
    this.dead = new Set();
    if (!samples || !chains || !env || !agent || !reward || !terminated) return [];
    const ended = (row: number) => terminated[row] === 1 || truncated?.[row] === 1;
    const teams = new Map<number, number[][]>();
    for (let row = 0; row < samples.rows; row++) {
      if (chains.streamPrevious[row] >= 0) continue;
      const stream: number[] = [];
      for (let at = row; at >= 0; at = chains.streamNext[at]) stream.push(at);
      const team = teams.get(env[row]) ?? [];
      if (team.length === 0) teams.set(env[row], team);
      team.push(stream);
    }
    const found: number[] = [];
    for (const team of teams.values()) {
      // Only where every member has a row for every step do rows of one place belong together.
      if (team.length < 2 || team.some(({ length }) => length !== team[0].length)) continue;
      for (const stream of team) {
        const key = withAgent(env[stream[0]], agent[stream[0]]);
        let since = before.has(key) ? 0 : -1;
        for (let at = 0; at < stream.length; at++) {
          if (!ended(stream[at])) continue;
          const together = team.every((other) => ended(other[at]));
          if (since >= 0 && together) found.push(...stream.slice(since, at + 1));
          since = together || since >= 0 ? -1 : at + 1;
        }
        if (since < 0) continue;
        found.push(...stream.slice(since));
        this.dead.add(key);
      }
    }
    return this.contrast(reward, new Set(found)) ? found : [];
  }

  /** Whether the dead earn nothing at all while the living mostly do. */
  private contrast(reward: ArrayLike<number>, dead: ReadonlySet<number>): boolean {
    let [paid, alive] = [0, 0];
    for (let row = 0; row < reward.length; row++) {
      if (dead.has(row)) {
        if (reward[row] !== 0) return false;
        continue;
      }
      alive++;
      if (reward[row] !== 0) paid++;
    }
    return dead.size > 0 && paid > limits.most.value * alive;
  }
}
