/** Programs that the doctor's makers did not write, trained in Python and judged one by one: what was named, what was missed, and who was accused wrongly. */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { diagnose } from '../src/doctor/diagnose.ts';
import { openRecording } from '../src/recording/node.ts';
import { clear, isKept, keep, keptLine } from './kept.ts';
import { type Figure, figure } from './support.ts';

export interface Program {
  /** What it is, in a few words. */
  what: string;
  /** Where it leaves its recording. */
  out: string;
  seed: number;
  /** The causes that are right, the first of them best; none where it is healthy. */
  causes?: readonly string[];
  /** Whether the columns that are there can tell; without, only a wrong name or `healthy` with a wrong name counts. */
  tellable?: boolean;
  /** Whether it records enough for `healthy`: what the deciding checks need. */
  enough?: boolean;
}

export interface Judged extends Program {
  verdict: string;
  named: string[];
  candidates: string[];
  /** What is true and harms nothing, such as a reading that misleads. */
  remarks: string[];
  summary: string;
  error?: string;
}

/** Fewer programs than this are made by one process: importing torch twice would take longer. */
const worthAProcess = 40;

/**
 * Trains all of them, in as many processes as there are cores; each reads its list and prints a line for each program. Each recording is judged; one that is there is not made again.
 */
export async function judge(
  say: (line: string) => void,
  command: readonly string[],
  programs: readonly Program[],
): Promise<Judged[]> {
  const judged = new Map<Program, Judged>();
  const told = (program: Program, found: Judged) => {
    judged.set(program, found);
    say(`${judged.size} of ${programs.length}: ${found.what}: ${found.named[0] ?? found.verdict}`);
  };
  const missing = new Set(programs.filter(({ out }) => !isKept(out)));
  for (const program of programs)
    if (!missing.has(program)) told(program, await judgeOne(struck(program, keptLine(program.out))));
  for (const { out } of missing) clear(out);
  const shares = Math.max(1, Math.min(availableParallelism(), Math.floor(missing.size / worthAProcess)));
  const lists = Array.from({ length: shares }, (_, share) => [...missing].filter((_, i) => i % shares === share));
  await Promise.all(lists.filter((list) => list.length > 0).map((list) => make(command, list, told)));
  return programs.map((program) => judged.get(program)!);
}

/** One process that makes the listed programs one after the other, judged as they come. */
async function make(
  command: readonly string[],
  list: readonly Program[],
  told: (program: Program, found: Judged) => void,
): Promise<void> {
  const child = spawn(command[0], command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(list));
  const status = new Promise<number | null>((done) => child.on('close', done));
  let made = 0;
  for await (const line of createInterface(child.stdout)) {
    const { error } = JSON.parse(line) as { error?: string };
    const program = list[made++];
    if (!error) keep(program.out, line);
    told(program, error ? { ...program, ...nothing, verdict: 'failed', error } : await judgeOne(struck(program, line)));
  }
  const ended = await status;
  if (ended !== 0 || made < list.length) throw new Error(`${command[1]} ended with status ${ended}`);
}

/**
 * A number that a bug moves by k roundings agrees with the formula of another by chance once in k times, so it tells log2 k bits. The doctor knows a dozen formulas; for one of
 * them to fit by chance in less than one run of a thousand, all steps together must tell log2(12 x 1000) of them.
 */
const fewestBits = Math.log2(12 * 1000);

/** The program with what became of its bug: one that left hardly a trace in the numbers cannot be told, by arithmetic alone. */
function struck(program: Program, line: string): Program {
  const { bits } = JSON.parse(line || '{}') as { bits?: number };
  return bits === undefined || bits >= fewestBits ? program : { ...program, tellable: false };
}

const nothing = { named: [], candidates: [], remarks: [], summary: '' };

async function judgeOne(program: Program): Promise<Judged> {
  const found = await diagnose(await openRecording(program.out));
  const open = found.unexplained;
  return {
    ...program,
    verdict: found.verdict,
    named: found.causes.map(({ id }) => id),
    candidates: open.flatMap(({ candidates }) => candidates),
    remarks: found.remarks.map(({ id }) => id),
    summary: found.causes[0]?.summary ?? open[0]?.summary ?? '',
  };
}

export type Outcome = 'named' | 'wrong' | 'healthy' | 'candidate' | 'unexplained' | 'silent' | 'failed';

/** What became of a program with a bug. */
export function outcome({ causes = [], verdict, named, candidates, remarks }: Judged): Outcome {
  if (verdict === 'failed') return 'failed';
  // A reading that misleads is said in a remark, because the training is sound.
  if (verdict === 'healthy' && causes.length === 1 && causes[0] === 'metric-misreported' && remarks.includes(causes[0]))
    return 'named';
  if (verdict === 'healthy') return 'healthy';
  if (verdict === 'not-enough-evidence') return 'silent';
  if (verdict === 'faulty') return causes.includes(named[0]) ? 'named' : 'wrong';
  return candidates.some((id) => causes.includes(id)) ? 'candidate' : 'unexplained';
}

/** The figures that must hold of any collection of programs. */
export function tally(judged: readonly Judged[]): Figure[] {
  const healthy = judged.filter(({ causes }) => causes === undefined);
  const faulty = judged.filter(({ causes }) => causes !== undefined);
  const tellable = faulty.filter(({ tellable }) => tellable !== false);
  const told = (list: readonly Judged[]) =>
    list
      .slice(0, 12)
      .map(({ what, named, verdict, error }) => `${what}: ${error?.trim().split('\n').at(-1) ?? named[0] ?? verdict}`)
      .join('; ') + (list.length > 12 ? `; and ${list.length - 12} more` : '');
  const of = (list: readonly Judged[], ...kinds: Outcome[]) => list.filter((item) => kinds.includes(outcome(item)));
  const share = (list: readonly Judged[], all: readonly Judged[]) =>
    all.length === 0 ? 0 : (100 * list.length) / all.length;
  const alarms = healthy.filter(({ verdict }) => verdict === 'faulty' || verdict === 'unexplained');
  const unsure = healthy.filter(({ verdict, enough }) => verdict === 'not-enough-evidence' && enough !== false);
  const missing = tellable.filter((item) => outcome(item) !== 'named');
  const rest = of(faulty, 'candidate', 'unexplained');
  const failed = judged.filter(({ verdict }) => verdict === 'failed');
  return [
    figure(`alarms in ${healthy.length} healthy programs`, alarms.length, '', { most: 0 }, told(alarms)),
    figure(
      'healthy programs that record enough and are not called healthy',
      unsure.length,
      '',
      { most: 0 },
      told(unsure),
    ),
    figure(
      `named first, of ${tellable.length} faults whose columns can tell`,
      100 - share(missing, tellable),
      '%',
      { least: 97 },
      told(missing),
    ),
    figure(
      `wrongly named, of ${faulty.length} faults`,
      share(of(faulty, 'wrong'), faulty),
      '%',
      { most: 0.5 },
      told(of(faulty, 'wrong')),
    ),
    figure('called healthy', share(of(tellable, 'healthy'), tellable), '%', { most: 1 }, told(of(tellable, 'healthy'))),
    figure(
      `unexplained with the right cause among its candidates, of ${rest.length} unexplained`,
      rest.length === 0 ? 100 : share(of(rest, 'candidate'), rest),
      '%',
      { least: 100 },
      told(of(rest, 'unexplained')),
    ),
    figure('programs that failed', failed.length, '', { most: 0 }, told(failed)),
  ];
}
