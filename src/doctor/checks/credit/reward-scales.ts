/** What was done to rewards that are not what the environment paid: a running figure that they are divided by, a factor of their own for some agents, or the bootstrap of a time limit added where no time limit is. */
import { spread } from '../../../math/statistics.ts';
import { fewestRows } from '../../check.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { withAgent } from '../../evidence/keys.ts';
import type { Numbers } from '../../evidence/rows.ts';
import { limits } from '../../limits.ts';
import { Lag, lags } from '../../transforms/credit/lag.ts';

/** Ways in which rewards may stand with another row. */
export const moves = [...lags.map((lag) => new Lag(lag, 'episode')), ...lags.map((lag) => new Lag(lag, 'stream'))];

/** The factor of each agent's rewards, where every agent has one for all of its rows and they are not the same; else null. A running figure changes from row to row. */
export function ownFactors({ samples }: Iteration, reward: Numbers, paid: Numbers): Map<number, number> | null {
  const agent = samples!.column('agent')!;
  const found = new Map<number, { least: number; most: number; rows: number }>();
  for (let row = 0; row < samples!.rows; row++) {
    if (!Number.isFinite(reward[row])) continue;
    // No factor makes something of nothing; and what is small rounds away.
    if (Math.abs(paid[row]) <= limits.sameReward.value && Math.abs(reward[row]) > limits.noticedShare.value)
      return null;
    if (!(Math.abs(paid[row]) > limits.noticedShare.value)) continue;
    const factor = reward[row] / paid[row];
    const own = found.get(agent[row]);
    if (!own) found.set(agent[row], { least: factor, most: factor, rows: 1 });
    else {
      own.least = Math.min(own.least, factor);
      own.most = Math.max(own.most, factor);
      own.rows++;
    }
  }
  const factors = new Map<number, number>();
  for (const [own, { least, most, rows }] of found) {
    if (rows < limits.fewestSteps.value || least < 0 || most - least > limits.credit.value * most) return null;
    factors.set(own, (least + most) / 2);
  }
  const all = [...factors.values()];
  return Math.max(...all) - Math.min(...all) > limits.formulaSame.value * Math.max(...all) ? factors : null;
}

/** The bound at which the rewards of some agents are cut off while others keep theirs beyond it, by agent; null where that is not what was done. A cut of all agents is a custom. */
export function cutForSome(
  { samples }: Iteration,
  reward: Numbers,
  paid: Numbers,
  wrong: Int32Array,
): Map<number, number> | null {
  const agent = samples!.column('agent')!;
  const bounds = new Map<number, number>();
  for (const row of wrong) {
    const bound = bounds.get(agent[row]) ?? reward[row];
    bounds.set(agent[row], bound);
    if (reward[row] !== bound) return null;
  }
  const beyond = new Map<number, number>();
  for (let row = 0; row < samples!.rows; row++) {
    const own = bounds.get(agent[row]);
    if (own !== undefined && reward[row] < own) return null;
    if (own === undefined)
      for (const [cut, bound] of bounds) if (reward[row] < bound) beyond.set(cut, (beyond.get(cut) ?? 0) + 1);
  }
  const cut = (row: number) => paid[row] < reward[row];
  // Below the bound, where rewards of the others are kept.
  return wrong.every(cut) && [...bounds.keys()].every((own) => (beyond.get(own) ?? 0) >= fewestRows) ? bounds : null;
}

/** Rows that no time limit cuts off and whose reward holds the discounted value of what follows, which credit adds once more. */
export function bootstrapped({ samples, run }: Iteration, reward: Numbers, paid: Numbers, wrong: Int32Array): number[] {
  const next = samples!.column('next_value');
  const truncated = samples!.column('truncated');
  const gamma = run.number('gamma');
  if (!next || !(gamma > 0)) return [];
  return Array.from(wrong).filter((row) => {
    const given = gamma * next[row];
    const slack = limits.sameReward.value + limits.sameRewardRelative.value * (Math.abs(paid[row]) + Math.abs(given));
    return truncated?.[row] !== 1 && Math.abs(reward[row] - paid[row] - given) <= slack;
  });
}

/** Whether what was paid was divided by one positive figure at each moment, in all environments, or in all of an agent; or, in a single one, by a figure that runs on slowly. */
export function rescaled(iteration: Iteration, reward: Numbers, paid: Numbers, wrong: Int32Array): boolean {
  const { samples, chains } = iteration;
  const agent = samples!.column('agent')!;
  const moment = new Int32Array(samples!.rows);
  for (const row of chains!.order) {
    const before = chains!.streamPrevious[row];
    moment[row] = before < 0 ? 0 : moment[before] + 1;
  }
  const grain = Math.max(samples!.grain('reward'), samples!.grain('env_reward'));
  // What is cut off on top of it tells no quotient.
  const greatest = Array.from(wrong, (i) => Math.abs(reward[i])).reduce((a, b) => Math.max(a, b), 0);
  const told = wrong.filter((i) => Math.abs(reward[i]) < greatest * (1 - limits.rounding.value));
  const together = [(row: number) => moment[row], (row: number) => withAgent(moment[row], agent[row])].some((at) => {
    const groups = new Map<number, number[]>();
    for (const row of told) {
      const list = groups.get(at(row)) ?? [];
      if (list.length === 0) groups.set(at(row), list);
      list.push(reward[row] / paid[row]);
    }
    let [known, same] = [0, 0];
    for (const list of groups.values()) {
      if (list.length < 2) continue;
      known += list.length;
      const { mean, std } = spread(list);
      if (mean > 0 && std <= (limits.credit.value + 2 * grain) * mean) same += list.length;
    }
    return known >= fewestRows && same >= limits.exactly.value * known;
  });
  return together || runsOn(iteration, reward, paid, told);
}

/**
 * Whether the quotients of neighbours in time are positive and nearly the same, and are so with no other row's payment more nearly: rewards that are moved by a step may be alike, too.
 * A figure that has only begun to run jumps; while it does, every quotient must be positive and other rows' payments clearly worse.
 */
function runsOn(iteration: Iteration, reward: Numbers, paid: Numbers, rows: Int32Array): boolean {
  const before = iteration.chains!.streamPrevious;
  const drift = (owed: Numbers) => {
    const steps: number[] = [];
    for (const row of rows) {
      const [now, then] = [row, before[row]].map((at) => (at < 0 ? Number.NaN : reward[at] / owed[at]));
      if (Number.isFinite(now) && Number.isFinite(then))
        steps.push(now > 0 && then > 0 ? Math.abs(Math.log(now / then)) : Number.POSITIVE_INFINITY);
    }
    return steps.length < limits.decidingRows.value ? null : steps.sort((a, b) => a - b);
  };
  const own = drift(paid);
  const middle = (steps: readonly number[]) => steps[steps.length >> 1];
  if (!own || !(middle(own) <= limits.rewardDrift.value)) return false;
  const begins = !(own[Math.floor(limits.nearlyAll.value * own.length)] <= limits.rewardDrift.value);
  if (begins && (iteration.number > 0 || own[own.length - 1] === Number.POSITIVE_INFINITY)) return false;
  return moves.every((move) => {
    const moved = drift(move.apply({ iteration, own: paid })!) ?? [Number.POSITIVE_INFINITY];
    if (!begins) return middle(moved) >= middle(own);
    const impossible = moved.length - moved.findLastIndex((step) => step < Number.POSITIVE_INFINITY) - 1;
    return impossible >= fewestRows || middle(moved) >= limits.clearlyWorse.value * middle(own);
  });
}

/** Whether all that an episode was paid stands at its last row, and nothing before it. Several payments must be summed up: a single one at the end is a moved one. Episodes that began or end elsewhere show only that nothing stands before the end. */
export function delayed({ samples, chains }: Iteration, reward: Numbers, paid: Numbers): boolean {
  const [t, terminated, truncated] = (['t', 'terminated', 'truncated'] as const).map((name) => samples!.column(name));
  if (!t || !terminated) return false;
  const totals = new Float64Array(samples!.rows);
  const sizes = new Float64Array(samples!.rows);
  const payments = new Int32Array(samples!.rows);
  const whole = new Uint8Array(samples!.rows);
  let [ends, summed] = [0, 0];
  for (const row of chains!.order) {
    const before = chains!.previous[row];
    const has = before >= 0;
    totals[row] = paid[row] + (has ? totals[before] : 0);
    sizes[row] = Math.abs(paid[row]) + (has ? sizes[before] : 0);
    payments[row] = Number(paid[row] !== 0) + (has ? payments[before] : 0);
    whole[row] = has ? whole[before] : Number(t[row] === 0);
    const ended = terminated[row] === 1 || truncated?.[row] === 1;
    if (!ended && reward[row] !== 0) return false;
    if (!ended || whole[row] === 0) continue;
    ends++;
    if (
      !(Math.abs(reward[row] - totals[row]) <= limits.sameReward.value + limits.sameRewardRelative.value * sizes[row])
    )
      return false;
    if (payments[row] > 1) summed++;
  }
  return ends >= limits.fewestRows.value && summed >= limits.most.value * ends;
}
