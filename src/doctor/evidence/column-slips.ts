/**
 * Whether columns of the samples were recorded by another convention than they are read by: the two kinds of end exchanged, ends one row late or early, values of the row beside. The credit of all rows must agree
 * once the slip is undone; and where a program could have made the same mistake, a column that its credit does not use must bear it out. Then the program is sound, and the checks go by the columns as they are meant.
 */
import { type Pair, told } from '../../language/language.ts';
import { type CreditInputs, flow } from '../../math/advantages.ts';
import { buildChains, type Chains } from '../../math/chains.ts';
import { conventionRemark } from '../conventions.ts';
import { creditSlack } from '../credit-rule.ts';
import { limits } from '../limits.ts';
import type { Iteration } from './iteration.ts';
import { type Rows, rowsWhere } from './rows.ts';
import type { Run } from './run.ts';

interface Slip {
  /** Says so, once. */
  tell(run: Run, iteration: number): void;
  /** The columns as they are meant. */
  undone(samples: Rows, chains: Chains): Columns | null;
  /** The row that a row's own number stands with, or -1 where it was not recorded. */
  from?: 'streamNext' | 'streamPrevious';
  /** Whether something besides the credit says so. */
  witnessed(iteration: Iteration, meant: Columns): boolean;
}

type Columns = Record<string, ArrayLike<number>>;

const misrecorded =
  (en: string, zh: string, remedy: Pair): Slip['tell'] =>
  (run, iteration) => {
    run.misrecorded ??= told(
      `since iteration ${iteration} ${en} in the recording, and with that undone the credit of all rows is right. The recording call is the likely mistake, not the program: ${remedy[0]}`,
      `自第 ${iteration} 次迭代起，记录中${zh}；改正后所有行的优势都正确。很可能是录制调用有误，而不是程序：${remedy[1]}`,
    );
  };

const flagRemedy: Pair = [
  "give samples(terminated=, truncated=) what the environment returned for the row's own action, such as dones[t + 1] where a program keeps the flag that came before each row",
  '请把环境对该行自己的动作所返回的标志交给 samples(terminated=, truncated=)；若程序保存的是每行之前的标志，那就是 dones[t + 1]',
];

const slips: readonly Slip[] = [
  {
    tell: misrecorded('`terminated` and `truncated` are exchanged', '`terminated` 与 `truncated` 互换了', [
      'give samples(terminated=, truncated=) the ends of the game and those of its time limit, in this order',
      '请依次把游戏的终止与时间上限的截断交给 samples(terminated=, truncated=)',
    ]),
    undone: (samples) => {
      const [terminated, truncated] = [samples.column('terminated'), samples.column('truncated')];
      return terminated && truncated ? { terminated: truncated, truncated: terminated } : null;
    },
    // No program bootstraps where the game is over and nowhere else; what it did there must be known, and a value of 0 leaves no trace.
    witnessed: ({ samples }, { terminated, truncated }) => {
      const next = samples!.column('next_value');
      const traced = (row: number) => Math.abs(next![row]) > limits.credit.value;
      const known = next ? rowsWhere(samples!.rows, (row) => truncated[row] === 1 && traced(row)) : [];
      return Math.min(known.length, count(terminated)) >= limits.fewestSteps.value;
    },
  },
  {
    tell: misrecorded('every end stands one row late', '每个结束标志都晚了一行', flagRemedy),
    from: 'streamNext',
    undone: (samples, { streamNext, streamPrevious }) => endsFrom(samples, streamNext, streamPrevious),
    witnessed: endsWitnessed,
  },
  {
    tell: misrecorded('every end stands one row early', '每个结束标志都早了一行', flagRemedy),
    from: 'streamPrevious',
    undone: (samples, { streamPrevious }) => endsFrom(samples, streamPrevious, streamPrevious),
    witnessed: endsWitnessed,
  },
  ...(['streamNext', 'streamPrevious'] as const).map(
    (link): Slip => ({
      from: link,
      tell: misrecorded(
        `\`value\` stands one row ${link === 'streamNext' ? 'late' : 'early'}`,
        `\`value\` ${link === 'streamNext' ? '晚' : '早'}了一行`,
        [
          "give samples(value=) what the critic said of the row's own observation",
          '请把价值网络对该行自己观测的输出交给 samples(value=)',
        ],
      ),
      undone: (samples, chains) => {
        const value = samples.column('value');
        return value && { value: moved(value, chains[link]) };
      },
      witnessed: valuesWitnessed,
    }),
  ),
];

export class ColumnSlips {
  /** The slip found, or null once an iteration with ends enough is right as recorded. */
  private decided: Slip | null | undefined;

  constructor(private readonly run: Run) {}

  /** Goes by the columns as they are meant where they were recorded otherwise; what was wrong is told once. */
  undo(iteration: Iteration): void {
    const { samples, chains } = iteration;
    if (!samples || !chains || this.decided === null) return;
    const slip = this.decided ?? find(iteration);
    if (slip === 'none') this.decided = null;
    if (!slip || slip === 'none') return;
    const meant = slip.undone(samples, chains);
    if (!meant) return;
    if (slip.from) fill(iteration, meant, chains[slip.from]);
    if (!this.decided) slip.tell(this.run, iteration.number);
    this.decided = slip;
    iteration.replaceSamples(meant);
  }
}

/** The slip that the rows show, or 'none' where they show that there is none; null where they tell nothing. */
function find(iteration: Iteration): Slip | 'none' | null {
  const { run, samples, chains, credit } = iteration;
  const figures = { gamma: run.number('gamma'), lambda: run.number('lambda') };
  const recorded = samples!.column('advantage');
  // Where time limits are declared to end all, their bootstraps say nothing.
  if (!credit || !recorded || !(figures.gamma > 0) || Number.isNaN(figures.lambda) || iteration.probed) return null;
  if (run.setting('truncation_bootstraps') === false) return null;
  // Row by row, with the credit of the next row as recorded: what one row lacks leaves the others alone.
  const wrongIn = (inputs: CreditInputs, from?: Int32Array) => {
    const { carry, boot } = flow(inputs, 'asRecorded');
    const slack = creditSlack(iteration, recorded, figures);
    const rows: number[] = [];
    let known = 0;
    for (let i = 0; i < boot.length; i++) {
      const carried = carry[i] >= 0 ? figures.lambda * recorded[carry[i]] : 0;
      const off = inputs.reward[i] - inputs.value[i] + figures.gamma * (boot[i] + carried) - recorded[i];
      if (!Number.isFinite(off) || (from && from[i] < 0)) continue;
      known++;
      if (Math.abs(off) > slack) rows.push(i);
    }
    return { rows, wrong: rows.length, known };
  };
  const own = wrongIn(credit);
  const length = samples!.column('env') ? null : spacing(credit, own.rows);
  if (length !== null) return oneAfterTheOther(length);
  if (own.wrong < limits.fewestRows.value) {
    const ends = count(credit.terminated) + (credit.truncated ? count(credit.truncated) : 0);
    return ends >= limits.fewestSteps.value && own.known > 0 ? 'none' : null;
  }
  const found = slips.find((slip) => {
    const meant = slip.undone(samples!, chains!);
    if (!meant) return false;
    const linked = meant.episode
      ? buildChains(meant.episode, meant.t, samples!.column('agent')!, samples!.column('env'))
      : chains!;
    const after = wrongIn({ ...credit, ...meant, chains: linked }, slip.from && chains![slip.from]);
    // What is undone is exact, and takes no rows out of sight.
    const exact = after.wrong <= (1 - limits.exactly.value) * own.wrong && after.known >= limits.most.value * own.known;
    return exact && slip.witnessed(iteration, meant);
  });
  return found ?? null;
}

/** Rows of several environments that lie one after the other: all that disagrees does so at every so many rows. Null where it does not, or is too little to tell. */
function spacing({ terminated, truncated, chains: { rows } }: CreditInputs, wrong: readonly number[]): number | null {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  const length = wrong.reduce((found, row) => divisor(found, row + 1), rows);
  if (wrong.length < limits.fewestSteps.value || length < limits.fewestRows.value) return null;
  const breaks = new Set(wrong);
  for (let row = length - 1; row < rows - 1; row += length)
    if (terminated[row] !== 1 && truncated?.[row] !== 1 && !breaks.has(row)) return null;
  return length;
}

/** Credit was never taken across them, so the environments are told apart as the program did; nothing is misread, and a remark says so. */
const oneAfterTheOther = (length: number): Slip => ({
  tell: ({ remarks }) =>
    remarks.push(
      conventionRemark(
        'environments-not-told',
        'Rows of several environments lie one after the other, and `env` was not recorded: credit breaks off where one begins.',
      ),
    ),
  undone: (samples) => {
    if (samples.rows % length !== 0) return null;
    const env = Int32Array.from({ length: samples.rows }, (_, row) => Math.floor(row / length));
    const episode = Float64Array.from(
      samples.column('episode')!,
      (number, row) => number * (samples.rows / length) + env[row],
    );
    return { env, episode };
  },
  witnessed: () => true,
});

/** Where a row's own number was not recorded, the one that its credit implies: such a row proves nothing. */
function fill({ run, samples, credit }: Iteration, meant: Columns, from: Int32Array): void {
  const recorded = samples!.column('advantage');
  if (!credit || !recorded) return;
  const { reward, value, nextValue, chains } = { ...credit, ...meant };
  const gamma = run.number('gamma');
  for (let row = 0; row < from.length; row++) {
    if (from[row] >= 0) continue;
    const after = chains.next[row];
    const ended = credit.terminated[row] === 1;
    const next = ended
      ? 0
      : after < 0
        ? (nextValue?.[row] ?? 0)
        : value[after] + run.number('lambda') * recorded[after];
    if (meant.value) (meant.value as Float64Array)[row] = reward[row] + gamma * next - recorded[row];
    else if (Math.abs(reward[row] - value[row] - recorded[row]) <= limits.credit.value * (1 + Math.abs(value[row])))
      (meant.terminated as Int32Array)[row] = 1;
  }
}

const count = (flags: ArrayLike<number>) => Array.from(flags).filter((flag) => flag === 1).length;

const moved = (column: ArrayLike<number>, from: Int32Array) =>
  Float64Array.from(from, (row) => (row < 0 ? Number.NaN : column[row]));

/** Flags and episodes of the row beside, with steps counted anew; null where environments are not told apart. */
function endsFrom(samples: Rows, from: Int32Array, before: Int32Array): Columns | null {
  const [terminated, truncated, env, episode] = ['terminated', 'truncated', 'env', 'episode'].map((name) =>
    samples.column(name),
  );
  if (!terminated || !env || !episode) return null;
  const flags = (column: ArrayLike<number>) => Int32Array.from(from, (row) => (row < 0 ? 0 : column[row]));
  const meant = { terminated: flags(terminated), ...(truncated ? { truncated: flags(truncated) } : {}) };
  const ended = (row: number) => meant.terminated[row] === 1 || meant.truncated?.[row] === 1;
  let largest = 0;
  for (let row = 0; row < episode.length; row++) largest = Math.max(largest, episode[row]);
  // The first row of an episode whose other rows are not here has none to take its number from.
  const episodes = Float64Array.from(from, (other, row) =>
    other >= 0 ? episode[other] : before[row] >= 0 && ended(before[row]) ? largest + row + 1 : episode[row],
  );
  const t = Float64Array.from(samples.column('t')!);
  for (let row = 0; row < t.length; row++) if (before[row] >= 0) t[row] = ended(before[row]) ? 0 : t[before[row]] + 1;
  return { ...meant, episode: episodes, t };
}

/** Whether values of the state that followed break off where ends are meant to be, and go on where they were recorded. */
function endsWitnessed({ samples, chains }: Iteration, meant: Columns): boolean {
  const [value, next] = [samples!.column('value'), samples!.column('next_value')];
  const [terminated, truncated] = [samples!.column('terminated')!, samples!.column('truncated')];
  if (!value || !next) return false;
  const counts = { meant: { breaks: 0, all: 0 }, recorded: { breaks: 0, all: 0 } };
  for (let row = 0; row < samples!.rows; row++) {
    const after = chains!.streamNext[row];
    if (after < 0 || !Number.isFinite(next[row])) continue;
    const breaks = Math.abs(next[row] - value[after]) > limits.rounding.value * (1 + Math.abs(value[after]));
    const ended = terminated[row] === 1 || truncated?.[row] === 1;
    const should = meant.terminated[row] === 1 || meant.truncated?.[row] === 1;
    if (ended === should) continue;
    const at = counts[should ? 'meant' : 'recorded'];
    at.all++;
    if (breaks) at.breaks++;
  }
  const { meant: right, recorded } = counts;
  return (
    Math.min(right.all, recorded.all) >= limits.fewestSteps.value &&
    right.breaks >= limits.nearlyAll.value * right.all &&
    recorded.breaks <= (1 - limits.nearlyAll.value) * recorded.all
  );
}

/** Whether the critic says before the first step what was meant, row by row. */
function valuesWitnessed({ replays, first }: Iteration, { value }: Columns): boolean {
  const said = replays?.column('value');
  if (!said) return false;
  const sample = replays!.column('sample')!;
  let [same, all] = [0, 0];
  for (const row of first) {
    const meant = value[sample[row]];
    if (!Number.isFinite(meant + said[row])) continue;
    all++;
    if (Math.abs(said[row] - meant) <= limits.credit.value * (1 + Math.abs(meant))) same++;
  }
  return all >= limits.fewestRows.value && same >= limits.exactly.value * all;
}
