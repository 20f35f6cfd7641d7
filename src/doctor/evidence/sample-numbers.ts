/**
 * Whether `sample` points at the rows that were trained. Where old_logp, new_logp and the advantages of an update all belong to other rows than
 * `sample` says, by one mapping, the update is sound and the call that recorded it gave the wrong numbers; the checks then go by the right ones.
 */
import { told } from '../../language/language.ts';
import { mean, Pairs } from '../../math/statistics.ts';
import { limits } from '../limits.ts';
import type { Iteration } from './iteration.ts';
import type { Numbers } from './rows.ts';

export interface Misnumbered {
  /** The rows that the replays are really of. */
  sample: Int32Array;
  /** Replays whose number was wrong, of those looked at. */
  wrong: number;
  looked: number;
  /** By how much all numbers are off; null where it is not the same for all. */
  shift: number | null;
}

/** The right numbers where those given are wrong for most rows, and every column that can tell agrees; else null. */
export function misnumbered(iteration: Iteration): Misnumbered | null {
  const { samples, replays } = iteration;
  const used = replays?.column('old_logp');
  const given = replays?.column('sample');
  const stored = samples?.measured('old_logp');
  if (!samples || !replays || !used || !given || !stored || iteration.probed) return null;
  const { own } = iteration;
  const [rounding, enough] = [limits.rounding.value, (1 - limits.most.value) * given.length];
  let [wrong, looked] = [0, 0];
  // Once so many are right, most cannot be wrong.
  for (let i = 0; i < given.length && looked - wrong <= enough; i++) {
    if (own[i] === 0 || Number.isNaN(used[i])) continue;
    looked++;
    const right = stored[given[i]];
    if (!(Math.abs(used[i] - right) <= rounding * (1 + Math.abs(right)))) wrong++;
  }
  if (wrong < limits.fewestRows.value || wrong < limits.most.value * looked) return null;
  const rows = byContent(stored);
  const sample = Int32Array.from(given);
  let found = 0;
  const shifts = new Map<number, number>();
  for (let i = 0; i < given.length; i++) {
    const row = own[i] === 1 ? rows.get(Math.fround(used[i])) : undefined;
    // Several rows with this number: nobody can say which, so it is left out.
    if (own[i] === 1) sample[i] = row === undefined || row < 0 ? stored.length : row;
    if (row === undefined || row < 0) continue;
    found++;
    const shift = given[i] - row;
    shifts.set(shift, (shifts.get(shift) ?? 0) + 1);
  }
  if (found < limits.clearly.value * looked || !replayed(iteration, used) || !credited(iteration, sample)) return null;
  const [shift, count] = [...shifts].sort((a, b) => b[1] - a[1])[0];
  return { sample, wrong, looked, shift: count >= limits.nearlyAll.value * found ? shift : null };
}

/** Rows by their stored log-probability; -1 where several have the same. */
function byContent(stored: Numbers): Map<number, number> {
  const rows = new Map<number, number>();
  for (let row = 0; row < stored.length; row++) {
    const key = Math.fround(stored[row]);
    rows.set(key, rows.has(key) ? -1 : row);
  }
  return rows;
}

/** Whether, before the first step, the update gives the log-probabilities that it uses: then its rows are whole, whatever their numbers. */
function replayed({ replays, first }: Iteration, used: Numbers): boolean {
  const fresh = replays!.measured('new_logp')!;
  const agree = first.filter((i) => Math.abs(fresh[i] - used[i]) < limits.logp.value).length;
  return first.length > 0 && agree >= limits.nearlyAll.value * first.length;
}

/** Whether the advantages follow the rows found: normalised ones lie on a line, minibatch by minibatch. */
function credited({ samples, replays, own }: Iteration, found: Int32Array): boolean {
  const advantage = samples!.column('advantage');
  const used = replays!.column('advantage');
  if (!advantage || !used) return false;
  const [epoch, minibatch] = [replays!.column('epoch')!, replays!.column('minibatch')!];
  const policy = replays!.column('policy');
  const cells = new Map<string, Pairs>();
  for (let i = 0; i < used.length; i++) {
    if (own[i] === 0 || epoch[i] > 0 || !Number.isFinite(used[i] + advantage[found[i]])) continue;
    const key = `${minibatch[i]} ${policy?.[i] ?? 0}`;
    const cell = cells.get(key) ?? new Pairs();
    cells.set(key, cell);
    cell.add(advantage[found[i]], used[i]);
  }
  const all = [...cells.values()].map(({ correlation }) => correlation).filter(Number.isFinite);
  return all.length > 0 && mean(all) > limits.scaleFollowed.value;
}

export function misnumberedText({ wrong, looked, shift }: Misnumbered, iteration: number): string {
  const where =
    shift === null
      ? told('belong to other rows, by one permutation for all columns', '都属于别的行，各列是同一个排列')
      : told(
          `belong to the row ${Math.abs(shift)} ${shift > 0 ? 'before' : 'after'} it`,
          `都属于它${shift > 0 ? '之前' : '之后'}第 ${Math.abs(shift)} 行`,
        );
  return told(
    `in iteration ${iteration} \`sample\` of ${wrong} of ${looked} replays points at rows that were not trained: old_logp, new_logp and the advantages all ${where}. The recording call is the likely mistake, not the program: give replays(sample=...) the indices by which the minibatch was taken, counted in the rows as samples() got them`,
    `第 ${iteration} 次迭代中，${looked} 条 replays 里有 ${wrong} 条的 \`sample\` 指向没有参与训练的行：old_logp、new_logp 与优势${where}。很可能是录制调用有误，而不是程序：请把取小批量时所用的下标（按 samples() 收到的行计数）交给 replays(sample=...)`,
  );
}
