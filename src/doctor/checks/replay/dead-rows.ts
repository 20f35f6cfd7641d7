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
    // The rows of a stream lie one after the other in this order.
    const { order } = chains;
    const teams = new Map<number, { from: number; length: number }[]>();
    for (let from = 0, to = 1; from < order.length; to++) {
      if (to < order.length && chains.streamPrevious[order[to]] >= 0) continue;
      const stream = { from, length: to - from };
      const team = teams.get(env[order[from]]);
      if (team) team.push(stream);
      else teams.set(env[order[from]], [stream]);
      from = to;
    }
    const found: number[] = [];
    for (const team of teams.values()) {
      // Only where every member has a row for every step do rows of one place belong together.
      if (team.length < 2 || team.some(({ length }) => length !== team[0].length)) continue;
      for (const { from, length } of team) {
        const key = withAgent(env[order[from]], agent[order[from]]);
        let since = before.has(key) ? 0 : -1;
        for (let at = 0; at < length; at++) {
          if (!ended(order[from + at])) continue;
          let together = true;
          for (let k = 0; k < team.length && together; k++) together = ended(order[team[k].from + at]);
          if (since >= 0 && together) found.push(...order.subarray(from + since, from + at + 1));
          since = together || since >= 0 ? -1 : at + 1;
        }
        if (since < 0) continue;
        found.push(...order.subarray(from + since, from + length));
        this.dead.add(key);
      }
    }
    if (found.length === 0) return found;
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
