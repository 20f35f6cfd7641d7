/** `trueline symmetry`: why do equal agents come out unequal? The whole investigation of a game, or what recordings made elsewhere allow. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Command, Option } from 'commander';
import { findFault } from '../faults/index.ts';
import { gameMaker } from '../games/index.ts';
import { inLanguage, type Language, speak, spokenLanguage, tell, tellAll, told } from '../language/language.ts';
import { BadInput } from '../recording/bad-input.ts';
import { openRuns } from '../recording/importers/node.ts';
import { writeWhole } from '../recording/node.ts';
import { style, wantsColour } from '../report/style.ts';
import { symmetryText } from '../report/symmetry.ts';
import { duration, number } from '../report/table.ts';
import { readResult } from '../sweep/work.ts';
import { investigateRecordings } from '../symmetry/from-recordings.ts';
import { investigate } from '../symmetry/investigate.ts';
import { familyLevel } from '../symmetry/levels.ts';
import { NodeLaboratory, Stopped } from '../symmetry/node.ts';
import { keepBudget, makePlan, projectTime, type Speed, trainingTime } from '../symmetry/plan.ts';
import { rungsOf } from '../symmetry/rungs.ts';
import { type Investigation, type Plan, type StageReport, stageIds, stageTitle } from '../symmetry/stage.ts';
import type { SymmetryDiagnosis } from '../symmetry/stages/explanation.ts';
import { agentNames } from '../training/collect/seating.ts';
import { describeSettings, type Settings } from '../training/settings.ts';
import { interruptible } from './common/interrupt.ts';
import { asBadInput, json, print, wholeNumber } from './common/options.ts';
import { progress } from './common/progress.ts';
import { addRunnerOptions, type RunnerFlags, runnerOf, typed, typedRunner } from './common/runner.ts';
import { runSettings } from './common/settings.ts';
import { exitStatusOf } from './diagnose.ts';
import { InvestigationDiary } from './investigation.ts';
import { SweepView } from './sweep/sweep-view.ts';

interface Flags extends RunnerFlags {
  algorithm?: string;
  seeds?: number;
  steps?: number;
  seed: number;
  quick?: boolean;
  all?: boolean;
  budget?: number;
  config?: string;
  set: string[];
  fault?: string;
  out?: string;
  json?: boolean;
  html?: string;
}

const algorithms = describeSettings().find(({ path }) => path === 'algorithm')?.choices ?? [];

export function symmetryCommand(): Command {
  const command = new Command('symmetry')
    .description('Find out why equal agents come out unequal: the whole investigation, in one command.')
    .argument(
      '<game or recording...>',
      'a game, or runs made elsewhere, one per seed: recordings, logs, or folders of them',
    )
    .addOption(new Option('--algorithm <name>', 'how agents learn').choices(algorithms))
    .option('--seeds <n>', 'number of runs of every kind (default: 10, or 6 with --quick)', wholeNumber)
    .option('--steps <n>', 'steps per run (default: 400,000, or 240,000 with --quick)', wholeNumber)
    .option('--seed <n>', 'the seed of every random stream; another number gives another investigation', wholeNumber, 1)
    .option('--quick', 'fewer seeds, shorter runs')
    .option('--all', 'run every stage, even when the cause is proved')
    .option(
      '--budget <minutes>',
      'stay within this time by using fewer seeds or steps, and report what that costs',
      wholeNumber,
    );
  return addRunnerOptions(command)
    .option('--config <file>', 'settings from a .json or .yaml file')
    .option(
      '--set <name=value>',
      'one setting, such as ppo.gamma=0.9; may be repeated',
      (item: string, list: string[]) => [...list, item],
      [],
    )
    .option('--fault <name>', 'break every run on purpose, to see whether it is found; trueline zoo list')
    .option(
      '--out <folder>',
      'folder for the runs (default: runs/symmetry-<game>); the same command continues where it stopped',
    )
    .option('--html <file>', 'write the whole report as one page that works offline')
    .addOption(json())
    .addHelpText(
      'after',
      '\nExamples:\n  $ trueline symmetry stag-hunt --quick\n  $ trueline symmetry stag-hunt --html symmetry.html\n  $ trueline symmetry runs/seed-1 runs/seed-2 runs/seed-3\n  $ trueline symmetry tensorboard-logs\n',
    )
    .action((targets: string[], flags: Flags) =>
      symmetry(targets, flags).catch((error: unknown) => {
        throw asBadInput(error);
      }),
    );
}

async function symmetry(targets: string[], flags: Flags): Promise<void> {
  const command = await commandOf(targets, flags);
  const recordings = targets.some((target) => existsSync(target));
  if (!recordings && targets.length > 1)
    throw new BadInput(
      told(
        `one game at a time, or recordings that are there; got ${targets.join(', ')}`,
        `一次只能给一个游戏，或者给确实存在的记录；收到的是 ${targets.join('、')}`,
      ),
    );
  const begun = performance.now();
  const diagnosis = recordings ? await ofRecordings(targets, command) : await ofGame(targets[0], flags, command);
  if (!diagnosis) return;
  if (flags.html !== undefined) {
    // The drawing library is loaded only where something is drawn.
    const { symmetryPage } = await import('../report/pages/symmetry-page.ts');
    const page = await symmetryPage(diagnosis, { command, title: targets.join(', ') });
    await writeWhole(flags.html, [new TextEncoder().encode(page)]);
  }
  const paint = style(wantsColour(process.stdout, process.env));
  if (flags.json) print(JSON.stringify(diagnosis, null, 2));
  else {
    print(symmetryText(diagnosis, paint));
    const took = duration((performance.now() - begun) / 1000);
    print(
      paint.dim(
        told(
          `\nFamily-wise level ${familyLevel}: the chance that an investigation of equal agents accuses anything. It took ${took}.`,
          `\n族错误率水平 ${familyLevel}：对相同的智能体做调查时误报任何原因的概率。用时 ${took}。`,
        ),
      ),
    );
  }
  process.exitCode = exitStatusOf(diagnosis);
}

async function commandOf(targets: readonly string[], flags: Flags): Promise<string> {
  const parts = ['trueline symmetry', ...targets];
  const named = {
    algorithm: flags.algorithm,
    seeds: flags.seeds,
    steps: flags.steps,
    budget: flags.budget,
    config: flags.config,
    fault: flags.fault,
    out: flags.out,
  };
  for (const [name, value] of Object.entries(named))
    if (value !== undefined) parts.push(`--${name} ${typed(`${value}`)}`);
  if (flags.seed !== 1) parts.push(`--seed ${flags.seed}`);
  for (const item of flags.set) parts.push(`--set ${typed(item)}`);
  if (flags.quick) parts.push('--quick');
  if (flags.all) parts.push('--all');
  return parts.join(' ') + (await typedRunner(flags));
}

async function ofRecordings(paths: readonly string[], command: string): Promise<SymmetryDiagnosis> {
  const { recordings: opened, unread } = await openRuns(paths);
  for (const { why } of unread) process.stderr.write(`${told('not read:', '未读取：')} ${why}\n`);
  if (opened.length === 0)
    throw new BadInput(
      told('holds neither a recording nor a log that can be read', '里既没有可读的记录，也没有可读的日志'),
      { file: paths[0] },
    );
  const bar = progress(told('reading', '读取'));
  let looked = 0;
  const diagnosis = await investigateRecordings(opened, command, () => bar.update(looked++, opened.length));
  bar.stop();
  return diagnosis;
}

async function ofGame(game: string, flags: Flags, command: string): Promise<SymmetryDiagnosis | null> {
  const settings = await baseSettings(game, flags);
  const made = gameMaker(settings.game, settings.gameSettings)(1);
  const { seats, roles } = made.shape;
  if (seats < 2)
    throw new BadInput(
      told(
        `${game} has one seat; symmetry needs at least two agents, such as stag-hunt`,
        `${game} 只有一个位置；symmetry 至少需要两个智能体，例如 stag-hunt`,
      ),
    );
  if (roles)
    throw new BadInput(
      told(
        `the seats of ${game} are different roles (${roles.join(', ')}), which need not come out equal; choose a game whose seats are alike, such as stag-hunt`,
        `${game} 的位置是不同的角色（${roles.join('、')}），结果本不必相等；请选位置相同的游戏，例如 stag-hunt`,
      ),
    );
  const names = agentNames(settings, made);
  const out = flags.out ?? `runs/symmetry-${settings.game.replace('/', '-')}`;
  const interrupt = interruptible(
    told(
      'Finishing the iterations under way and saving; once more ends at once.',
      '正在完成进行中的迭代并保存；再按一次立即结束。',
    ),
  );
  const paint = style(wantsColour(process.stderr, process.env));
  const view = new SweepView(process.stderr, paint);
  const bar = progress(told('playing', '对局'));
  const threads = flags.threads ?? availableParallelism();
  const plan = stageIds.map((id) => ({ id, title: stageTitle(id) }));
  const language = spokenLanguage() as Language;
  /** Stages speak both languages at once, for the diary; people are told in theirs. */
  const aloud = (work: () => void) => inLanguage(language, work);
  const diary = new InvestigationDiary(out, { title: settings.game, language, command, names, plan });
  const lab = new NodeLaboratory({
    settings,
    names,
    out,
    seed: flags.seed,
    threads,
    ...(flags.redis === undefined ? {} : { runner: await runnerOf(flags) }),
    signal: interrupt.signal,
    ...(flags.fault === undefined ? {} : { fault: { id: findFault(flags.fault).id, seed: flags.seed } }),
    onProgress: (report) => {
      aloud(() => view.update(report));
      const { done, all, secondsLeft } = report;
      diary.progress({ what: 'runs', done, all, secondsLeft });
    },
    onPlayed: (done, all) => {
      aloud(() => bar.update(done, all));
      diary.progress({ what: 'portions of play', done, all, secondsLeft: null });
    },
    onFailure: (label, error) => aloud(() => view.say(`${paint.red(told('failed', '失败'))} ${label}: ${error}`)),
  });
  const reports: StageReport[] = [];
  const say = (sentence: string) => {
    aloud(() => view.finish());
    diary.begin(sentence, reports);
    if (!flags.json) process.stderr.write(`${paint.dim(tell(sentence, language))}\n`);
  };
  try {
    speak('both');
    const made = await affordable(makePlan(seats, flags), lab, settings, seats, threads, flags, say);
    const of: Investigation = { settings, names, seats, ...made, lab, command, reports, audits: null, say };
    const diagnosis = await investigate(of);
    await diary.end(diagnosis);
    return tellAll(diagnosis, language);
  } catch (error) {
    await diary.end(null);
    speak(language);
    if (error instanceof Error) error.message = tell(error.message, language);
    if (!(error instanceof Stopped)) throw error;
    view.finish();
    print(
      told(
        `It was stopped; what is finished is kept in ${out}. Go on with: ${command}`,
        `已停止；完成的部分保存在 ${out}。继续请执行：${command}`,
      ),
    );
    return null;
  } finally {
    speak(language);
    view.finish();
    bar.stop();
    interrupt.end();
    await lab.close();
  }
}

/** So many worlds that agents meet often enough to learn to cooperate, where the runs are long enough for it; short runs learn most by many small iterations. Whatever a module may do is looked for, so none is left out. */
const unlessChosen = ({ budget, steps = 240_000 }: Flags) => [
  `worlds=${budget === undefined && steps >= 150_000 ? 128 : 32}`,
  'rollout=32',
  'hop.without=[]',
];

async function baseSettings(game: string, flags: Flags): Promise<Settings> {
  const { fault, config, algorithm } = flags;
  const set = config === undefined ? [...unlessChosen(flags), ...flags.set] : flags.set;
  const settings = await runSettings(game, {
    // A run may begin on one machine and end on another, so the arithmetic is the same on every CPU unless it is chosen.
    set: flags.redis === undefined ? set : ['kernel=simd', ...set],
    ...(config === undefined ? {} : { config }),
    ...(algorithm === undefined ? {} : { algorithm }),
  });
  // The guard would drop the rows that a fault spoils.
  return fault === undefined ? settings : { ...settings, guard: 'off' };
}

interface Affordable {
  plan: Plan;
  affords?: (times: number) => boolean;
}

/** Short runs, as many as threads, tell how long a step takes; the time is printed first where a budget is given or the runs will be long. */
async function affordable(
  plan: Plan,
  lab: NodeLaboratory,
  settings: Settings,
  seats: number,
  threads: number,
  flags: Flags,
  say: (sentence: string) => void,
): Promise<Affordable> {
  const begun = performance.now();
  const long = settings.algorithm !== 'ppo' && settings.algorithm !== 'mappo';
  if (flags.budget === undefined && !long) return { plan };
  say(told('How long will it take?', '需要多长时间？'));
  const rows = settings.worlds * settings.rollout * seats;
  const probes = await lab.train(
    Array.from({ length: threads }, (_, i) => ({
      label: `how long a step takes, ${i + 1}`,
      settings: { steps: 3 * rows, recording: { record: 'off' } },
      seed: plan.firstSeed + i + 1,
    })),
  );
  const each: number[] = [];
  for (const { folder } of probes) {
    const result = await readResult(folder);
    if (result) each.push(result.seconds / result.steps);
  }
  if (each.length === 0) return { plan };
  const episodes = 20_000;
  const playing = performance.now();
  await lab.play({ purpose: 'how long an episode takes', episodes, deal: false });
  const speed: Speed = {
    secondsPerStep: each.reduce((a, b) => a + b, 0) / each.length,
    secondsPerEpisode: (performance.now() - playing) / 1000 / episodes,
    threads,
    rungs: rungsOf(settings).length,
  };
  const wanted = projectTime(plan, speed);
  const [speedSaid, steps] = [number(Math.round(1 / speed.secondsPerStep)), number(plan.steps)];
  const [least, most] = [duration(wanted.least), duration(wanted.most)];
  say(
    told(
      `${speedSaid} steps a second and thread: ${plan.seeds} seeds of ${steps} steps will take about ${least} with all the rest, and ${most} if every experiment is needed.`,
      `每线程每秒 ${speedSaid} 步：${plan.seeds} 个种子各 ${steps} 步，连同其余部分约需 ${least}；若每个实验都要做，则需 ${most}。`,
    ),
  );
  if (flags.budget === undefined) return { plan };
  const seconds = flags.budget * 60;
  const elapsed = () => (performance.now() - begun) / 1000;
  const { plan: kept, cost } = keepBudget(plan, seats, speed, seconds - elapsed());
  if (cost !== null) {
    const about = duration(elapsed() + projectTime(kept, speed)[kept.all ? 'most' : 'least']);
    say(
      told(
        `To keep to ${flags.budget} ${flags.budget === 1 ? 'minute' : 'minutes'}: ${cost} It will take about ${about}.`,
        `为了不超过 ${flags.budget} 分钟：${cost}大约需要 ${about}。`,
      ),
    );
  }
  return { plan: kept, affords: (times) => elapsed() + trainingTime(kept, speed, times) <= seconds };
}
