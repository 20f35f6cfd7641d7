/** Whose reward stands with a row: that of another step, cut or scaled on the way, or that of another environment at the same moment. Asked only where stored rewards are not what was paid. */
import { fewestRows } from '../../check.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { type Cut, possibleCuts, sameReward } from '../../evidence/rewards/reward-cuts.ts';
import type { Numbers } from '../../evidence/rows.ts';
import { limits } from '../../limits.ts';
import { moves } from './reward-scales.ts';

/** What was done to each payment besides moving it, where one move accounts for all rewards and none does without it; else null. */
export function formOfMoved(iteration: Iteration, reward: Numbers, paid: Numbers): Cut | null {
  const cuts = possibleCuts(reward);
  for (const move of moves) {
    const owed = move.apply({ iteration, own: paid })!;
    const factor = factorOf(reward, owed);
    for (const form of [...cuts, ...(factor > 0 ? [(value: number) => factor * value] : [])])
      if (share(reward, owed, form) >= limits.exactly.value && share(reward, paid, form) < limits.exactly.value)
        return form;
  }
  return null;
}

/** Share of the rows that are known in which a reward is what was owed, in some form. */
function share(reward: Numbers, owed: Numbers, form: Cut): number {
  let [known, same] = [0, 0];
  for (let row = 0; row < reward.length; row++) {
    if (!Number.isFinite(reward[row] + owed[row])) continue;
    known++;
    if (sameReward(reward[row], form(owed[row]))) same++;
  }
  return same / Math.max(1, known);
}

/** The middle one of the quotients. */
function factorOf(reward: Numbers, owed: Numbers): number {
  const quotients: number[] = [];
  for (let row = 0; row < reward.length; row++)
    if (Math.abs(owed[row]) > limits.sameReward.value && Number.isFinite(reward[row]))
      quotients.push(reward[row] / owed[row]);
  return quotients.sort((a, b) => a - b)[quotients.length >> 1] ?? Number.NaN;
}

/** For every row, the row of the same moment whose payment stands with it, where each environment has the payments of one other throughout, and no two have the same one's; else null. */
export function otherEnvironments(iteration: Iteration, reward: Numbers, paid: Numbers): Int32Array | null {
  const { samples, chains } = iteration;
  const streams: number[][] = [];
  const place = new Int32Array(chains!.rows);
  for (const row of chains!.order) {
    const before = chains!.streamPrevious[row];
    if (before < 0) streams.push([]);
    place[row] = before < 0 ? streams.length - 1 : place[before];
    streams[place[row]].push(row);
  }
  const [agent, length] = [samples!.column('agent')!, streams[0]?.length ?? 0];
  if (streams.length < 2 || length < limits.fewestSteps.value || streams.some((rows) => rows.length !== length))
    return null;
  const source = new Int32Array(chains!.rows).fill(-1);
  const taken = new Set<number>();
  let moved = 0;
  for (const [at, rows] of streams.entries()) {
    const from = streams.findIndex(
      (others, other) =>
        !taken.has(other) &&
        agent[others[0]] === agent[rows[0]] &&
        rows.every((row, i) => sameReward(reward[row], paid[others[i]])),
    );
    if (from < 0) return null;
    taken.add(from);
    for (const [i, row] of rows.entries()) source[row] = streams[from][i];
    if (from !== at) moved += length;
  }
  return moved >= fewestRows ? source : null;
}

/** By agent, whose payments at the same moment stand with its rows, where they account for all rewards that are not its own; else null. Zeros tell nothing: they stand with everybody. */
export function otherAgents(
  iteration: Iteration,
  reward: Numbers,
  paid: Numbers,
  wrong: Int32Array,
): Map<number, number> | null {
  const agent = iteration.samples!.column('agent')!;
  const found = new Map<number, { rows: number; told: number; same: Map<number, number> }>();
  for (const row of wrong) {
    const own = found.get(agent[row]) ?? { rows: 0, told: 0, same: new Map<number, number>() };
    found.set(agent[row], own);
    own.rows++;
    if (Math.abs(reward[row]) <= limits.sameReward.value) continue;
    own.told++;
    for (const other of iteration.others(row))
      if (sameReward(reward[row], paid[other])) own.same.set(agent[other], (own.same.get(agent[other]) ?? 0) + 1);
  }
  const sources = new Map<number, number>();
  let left = 0;
  for (const [name, { rows, told, same }] of found) {
    const [source, most] = [...same].reduce((a, b) => (b[1] > a[1] ? b : a), [-1, 0]);
    if (told >= fewestRows && most >= limits.exactly.value * told) sources.set(name, source);
    else left += rows;
  }
  return left <= (1 - limits.nearlyAll.value) * wrong.length ? sources : null;
}
