/** `trueline train`: trains into a folder, shows the readings as it goes, and says at the end what was learnt and where it is. */

import { writeFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { hopModules } from '../algorithms/hop/settings.ts';
import { plannerModules } from '../algorithms/hop-planner/settings.ts';
import { algorithmNames } from '../algorithms/index.ts';
import { applyFault, findFault, onsetNotice } from '../faults/index.ts';
import { told } from '../language/language.ts';
import { BadInput } from '../recording/bad-input.ts';
import { fold } from '../report/charts/plot.ts';
import { farFromBand } from '../report/far.ts';
import { style, terminalColumns, wantsColour } from '../report/style.ts';
import { number } from '../report/table.ts';
import type { BegunFault } from '../training/checkpoint.ts';
import { GuardStop } from '../training/guard/guard.ts';
import { begunFault, resumeFrom, trainInto } from '../training/node.ts';
import type { ProgressReport, TrainHooks, TrainResult } from '../training/run.ts';
import { describeSettings, type Settings, settingsJsonSchema } from '../training/settings.ts';
import { cleanStages, type Stages } from '../training/stages.ts';
import { interruptible } from './common/interrupt.ts';
import { Live, modulesTable, readingsTable, returnsTable } from './common/live.ts';
import { asBadInput, exitStatus, json, print, wholeNumber } from './common/options.ts';
import { typed } from './common/runner.ts';
import { describeText, givenSettings, runSettings, type SettingFlags } from './common/settings.ts';

interface Flags extends SettingFlags {
  out?: string;
  fault?: string;
  resume?: string;
  describe?: boolean;
  schema?: string | true;
  json?: boolean;
  evaluate: number;
  clock?: boolean;
}

export function trainCommand(): Command {
  return new Command('train')
    .description('Train agents on a game, with every number checked and recorded.')
    .argument('[game]', 'probe-action, echo, cartpole, stag-hunt, snowdrift, city ...')
    .addOption(new Option('--algorithm <name>', 'how agents learn').choices(algorithmNames))
    .option('--config <file>', 'settings from a .json or .yaml file')
    .option(
      '--set <name=value>',
      'one setting, such as ppo.clip=0.1; may be repeated',
      (item: string, list: string[]) => [...list, item],
      [],
    )
    .option('--seed <n>', 'the seed of every random stream of the run', wholeNumber)
    .option('--steps <n>', 'decisions of learning agents', wholeNumber)
    .option(
      '--players <list>',
      'who plays each seat, separated by commas: learn, an algorithm ("hop without subgoals"), "from RUN", "frozen RUN", or a scripted player',
    )
    .option(
      '--without <modules>',
      `modules to leave out, of hop ${hopModules.join(', ')}, of hop-planner ${plannerModules.join(', ')}; or none`,
    )
    .addOption(new Option('--sharing <how>', 'one policy per agent, or one for all').choices(['separate', 'shared']))
    .addOption(
      new Option('--guard <mode>', 'what the live checks do when one fails').choices(['off', 'warn', 'strict']),
    )
    .addOption(
      new Option('--kernel <name>', 'which kernel to compute with; simd gives the same bits on every CPU').choices([
        'auto',
        'relaxed',
        'simd',
        'reference',
      ]),
    )
    .addOption(
      new Option('--engine <name>', 'native code of this CPU or WebAssembly; results do not depend on it').choices([
        'auto',
        'native',
        'wasm',
      ]),
    )
    .addOption(
      new Option('--threads <n>', 'number of threads; results do not depend on it')
        .choices(['1', '2'])
        .argParser(wholeNumber),
    )
    .addOption(
      new Option('--record <what>', 'which iterations are recorded in full').choices(['all', 'cadence', 'off']),
    )
    .option('--fault <name>', 'break the run on purpose, to see whether it is found; trueline zoo list')
    .option('--out <folder>', 'folder for the run (default: runs/<game>-<seed>)')
    .option('--resume <folder>', 'continue a run that was stopped or killed')
    .option('--clock', 'also record the time of day; two runs of the same seed then differ in it')
    .option('--evaluate <episodes>', 'number of fresh episodes to play at the end', wholeNumber, 1000)
    .option('--describe', 'print every setting with its default and meaning')
    .option('--schema [file]', 'print (or write) a JSON Schema of the settings, for editors')
    .addOption(json())
    .addHelpText(
      'after',
      '\nExamples:\n  $ trueline train echo --seed 3 --steps 50000\n  $ trueline train stag-hunt --players ppo,nearest-stag,nearest-stag,nearest-stag\n  $ trueline train stag-hunt --algorithm hop --without subgoals\n  $ trueline train --resume runs/echo-3\n',
    )
    .action(async (game: string | undefined, flags: Flags) => {
      if (flags.describe) return print(flags.json ? JSON.stringify(describeSettings(), null, 2) : describeText());
      if (flags.schema !== undefined) {
        const text = JSON.stringify(settingsJsonSchema(), null, 2);
        return flags.schema === true ? print(text) : writeFile(flags.schema, `${text}\n`);
      }
      await trainAndShow(game, flags);
    });
}

export async function trainAndShow(game: string | undefined, flags: Flags): Promise<TrainResult | undefined> {
  const paint = style(wantsColour(process.stderr, process.env));
  const notices: string[] = [];
  let live: Live | undefined;
  let reports: (report: ProgressReport) => void = () => undefined;
  const interrupt = interruptible(
    told('Finishing this iteration and saving; once more ends at once.', '正在完成本次迭代并保存；再按一次立即结束。'),
  );
  const hooks: TrainHooks = {
    signal: interrupt.signal,
    ...(flags.clock ? { clock: () => Date.now() / 1000 } : {}),
    onIteration: (report) => reports(report),
    onNotice: (sentence) => {
      notices.push(sentence);
      if (!flags.json) process.stderr.write(`${paint.yellow(told('note', '注意'))} ${sentence}\n`);
    },
  };
  const started = (result: { steps: number; policies: string[]; agents: string[] }) => {
    live = new Live(result, result.steps, paint, process.stderr);
    reports = (report) => {
      if (!flags.json) live?.update(report);
    };
  };
  let folder: string;
  let result: TrainResult;
  try {
    if (flags.resume !== undefined) {
      if (game !== undefined || flags.out !== undefined || flags.fault !== undefined)
        throw new BadInput(
          told(
            '--resume goes on with a run as it is; give no game, no --out and no --fault',
            '--resume 按原样继续训练；不要给出游戏、--out 或 --fault',
          ),
        );
      folder = flags.resume;
      const changed = await givenSettings(flags);
      const fault = await begunFault(folder);
      if (fault)
        hooks.onNotice?.(
          told(
            `the run was begun with the fault ${fault.name}, and goes on with it`,
            `训练开始时带有故障 ${fault.name}，并带着它继续`,
          ),
        );
      const stages =
        fault && applyFault(findFault(fault.name), fault.settings.seed, cleanStages, fault.settings).stages;
      result = await resumeFrom(folder, changed, { ...hooks, ...(fault ? { fault, stages } : {}), onStart: started });
    } else {
      const clean = await runSettings(game, flags);
      const { settings, notice, ...more } =
        flags.fault === undefined ? { settings: clean, notice: undefined } : broken(flags.fault, clean, flags);
      if (notice) hooks.onNotice?.(notice);
      folder = flags.out ?? `runs/${settings.game.replace('/', '-')}-${settings.seed}`;
      result = await trainInto(folder, settings, { ...hooks, ...more, onStart: started });
    }
  } catch (error) {
    if (error instanceof GuardStop) {
      process.stderr.write(`${paint.red(told('stopped by the guard:', '被守卫停止：'))} ${error.message}\n`);
      process.exitCode = exitStatus.faulty;
      return undefined;
    }
    throw asBadInput(error);
  } finally {
    interrupt.end();
  }
  live?.finish();
  finish(result, folder, notices, flags, live);
  result.dispose();
  return result;
}

/** The guard would drop the rows that a fault spoils, so it is off unless it is asked for. */
function broken(
  name: string,
  clean: Settings,
  flags: Flags,
): { settings: Settings; stages: Stages; fault: BegunFault; notice: string | undefined } {
  const unbroken = { ...clean, guard: flags.guard === undefined ? ('off' as const) : clean.guard };
  const { settings, stages, strength } = applyFault(findFault(name), clean.seed, cleanStages, unbroken);
  return { settings, stages, fault: { name, settings: unbroken }, notice: onsetNotice(strength) };
}

function finish(result: TrainResult, folder: string, notices: string[], flags: Flags, live: Live | undefined): void {
  const { trainer, last, stopped } = result;
  const agents = [...trainer.seating.names];
  const policies = trainer.learners.map((learner) => learner.name);
  const evaluation = stopped || flags.evaluate === 0 ? null : result.evaluate(flags.evaluate);
  if (flags.json) {
    const readings = last && Object.fromEntries(policies.map((name, i) => [name, last.readings[i]]));
    const modules = last && Object.fromEntries(last.modules.map((values, i) => [policies[i], values]));
    const fresh = evaluation && Object.fromEntries(agents.map((name, i) => [name, evaluation[i]]));
    print(
      JSON.stringify(
        {
          format: 'trueline/training/1',
          folder,
          stopped,
          iterations: trainer.iteration,
          steps: trainer.steps,
          readings,
          modules,
          evaluation: fresh,
          guard: Object.fromEntries(trainer.guard.counts),
          notices,
        },
        null,
        2,
      ),
    );
    return;
  }
  const paint = style(wantsColour(process.stdout, process.env));
  if (last)
    print(
      `${paint.bold(told('Readings of the last update', '最后一次更新的读数'))}\n${readingsTable(last, policies, paint)}`,
    );
  const far =
    last?.readings.flatMap((values, i) =>
      farFromBand(values).map((what) => `${policies[i]}: ${what}${told('.', '。')}`),
    ) ?? [];
  for (const sentence of far)
    for (const line of fold(sentence, Math.min(100, terminalColumns()) - 2)) print(`  ${line}`);
  const probes = live?.probes.text(policies, paint) ?? '';
  if (probes !== '') print(`\n${probes}`);
  if (last && last.modules.length > 0)
    print(`\n${paint.bold(told('Modules', '模块'))}\n${modulesTable(last, policies, paint)}`);
  if (last && evaluation) {
    print(
      `\n${paint.bold(
        told(
          `Sampled play on ${number(evaluation[0].episodes)} fresh episodes`,
          `在 ${number(evaluation[0].episodes)} 局新游戏上按策略采样`,
        ),
      )}\n${returnsTable({ ...last, returns: evaluation }, agents, paint)}`,
    );
  }
  const [iterations, steps] = [number(trainer.iteration), number(trainer.steps)];
  print(
    told(
      `\nThe run is in ${folder} (${iterations} iterations, ${steps} steps).`,
      `\n训练保存在 ${folder}（${iterations} 次迭代，${steps} 步）。`,
    ),
  );
  if (stopped)
    print(
      `${told('It was stopped before its end. Go on with:', '训练在结束前被停止。继续请执行：')} trueline train --resume ${typed(folder)}`,
    );
  else print(`${told('Look for faults with:', '查找故障：')} trueline diagnose ${typed(folder)}`);
}
