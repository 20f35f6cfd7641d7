/** `trueline diagnose`: names the cause, proves it, says what to change. Exit status 0 healthy, 1 faulty or unexplained, 3 not enough evidence. */
import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { type DiagnoseOptions, diagnose } from '../doctor/diagnose.ts';
import type { Diagnosis } from '../doctor/diagnosis.ts';
import { onnxRuntime } from '../doctor/onnx.ts';
import { told } from '../language/language.ts';
import { BadInput } from '../recording/bad-input.ts';
import { SeveralRuns } from '../recording/importers/log.ts';
import { openRecordingOrLog } from '../recording/importers/node.ts';
import { agentsWithReturns } from '../recording/importers/open.ts';
import { writeWhole } from '../recording/node.ts';
import type { Recording } from '../recording/recording.ts';
import { diagnosisText } from '../report/diagnosis.ts';
import { logText } from '../report/logs/log.ts';
import type { Decode } from '../report/pages/tokenizer.ts';
import { Gatherer } from '../report/pictures/gather.ts';
import type { Pictures } from '../report/pictures/picture.ts';
import { style, wantsColour } from '../report/style.ts';
import { diagnosisData } from '../report/verdict.ts';
import { exitStatus, json, list, maxSize, print, quoted, wholeNumber } from './common/options.ts';
import { progress } from './common/progress.ts';
import { type Project, readProject } from './common/project.ts';
import { addLogOptions, type LogFlags, logOptions } from './import.ts';
import { threadedReading } from './reading/thread.ts';

export interface DiagnoseFlags extends LogFlags {
  json?: boolean;
  html?: string;
  tokenizer?: string;
  only: string[];
  agent?: string;
  ignore: string[];
  config?: string;
  follow?: boolean;
  patience: number;
}

export function diagnoseCommand(): Command {
  const command = new Command('diagnose')
    .description('Say what is wrong with a run, prove it with its own numbers, and say what to change.')
    .argument(
      '<recording>',
      'a recording (folder or zip), or a log: event files, CSV, JSON, printed text; or a folder of logs',
    );
  return addLogOptions(command)
    .addOption(json())
    .option('--html <file>', 'also write the report as one HTML page that works offline')
    .option(
      '--tokenizer <file>',
      'with --html, of a language model: its tokenizer.json or vocabulary, to show tokens as text',
    )
    .option('--follow', 'keep watching a run that is still being written, until it ends or Ctrl-C')
    .option(
      '--patience <seconds>',
      'with --follow: consider the run over after this long without new data',
      wholeNumber,
      600,
    )
    .option('--only <check>', 'run only this check; may be repeated', list, [])
    .option('--agent <name>', 'name only causes that concern this agent')
    .option('--ignore <cause>', 'a cause to accept; it is listed as ignored; may be repeated', list, [])
    .option(
      '--config <file>',
      "the project's file, in place of trueline.yaml: accepted causes, settings that are meant",
    )
    .addOption(maxSize())
    .addHelpText(
      'after',
      '\nExamples:\n  $ trueline diagnose examples/echo\n  $ trueline diagnose examples/echo --html report.html\n\nExit status: 0 healthy, 1 faulty or unexplained, 2 bad input, 3 not enough evidence.\n',
    )
    .action(async (path: string, flags: DiagnoseFlags) => {
      const project = await readProject(path, flags);
      // A file that is no tokenizer is said before the recording is read.
      if (flags.tokenizer !== undefined) await tokenizerOf(flags.tokenizer);
      if (flags.follow) {
        const { follow } = await import('./common/follow.ts');
        process.exitCode = exitStatusOf(await follow(path, flags, project));
        return;
      }
      const open = logOptions(flags);
      const opened = await openRecordingOrLog(path, open).catch((error: unknown) => {
        if (error instanceof SeveralRuns && flags.run === undefined && flags.html === undefined) return null;
        throw error;
      });
      if (!opened) {
        await (await import('./diagnose-runs.ts')).diagnoseRuns(path, flags, project.ids);
        process.exitCode = exitStatus.notEnough;
        return;
      }
      const { recording, imported } = opened;
      if (imported && !flags.json) print(`${logText(imported, style(wantsColour(process.stdout, process.env)))}\n`);
      const read = imported ? undefined : await threadedReading(recording, path, open);
      const examined = await examine(recording, flags, project, read ? { read } : {});
      show(examined, flags);
      const agents = imported ? agentsWithReturns(imported) : 0;
      if (agents > 1 && !flags.json)
        print(
          `\nWhether its ${agents} agents come out unequal: trueline symmetry ${quoted(path)}, with the logs of other seeds beside it.`,
        );
      if (flags.html !== undefined) await writePage(path, examined, flags, project);
      process.exitCode = exitStatusOf(examined.diagnosis);
    });
}

export interface Examined {
  recording: Recording;
  diagnosis: Diagnosis;
  /** Absent where nothing is drawn. */
  pictures?: Pictures;
  /** The last iteration that was looked at; -1 where there is none. */
  iteration: number;
}

/** Diagnoses with progress, and gathers what the report draws where it draws anything. */
export async function examine(
  opened: Recording,
  flags: Pick<DiagnoseFlags, 'only' | 'agent' | 'json' | 'html'>,
  project: Project,
  more: Pick<DiagnoseOptions, 'unfinished' | 'read'> = {},
): Promise<Examined> {
  const recording = opened.declaring(project.settings);
  const bar = progress(told('diagnosing', '诊断'));
  const gatherer = flags.json && flags.html === undefined ? null : new Gatherer();
  let last = -1;
  const options: DiagnoseOptions = {
    ...(flags.only.length > 0 ? { only: flags.only } : {}),
    ...(flags.agent === undefined ? {} : { agent: flags.agent }),
    ignore: project.ids,
    progress: bar.update,
    watch: (iteration) => {
      last = iteration.number;
      gatherer?.watch(iteration);
    },
    ...(gatherer ? { prove: gatherer.prove, tokens: gatherer.tokens } : {}),
    ...more,
    ...(recording.snapshots.length > 0 ? { onnx: await onnxRuntime() } : {}),
  };
  try {
    const diagnosis = await diagnose(recording, options);
    const reasons = Object.fromEntries(
      (diagnosis.ignored ?? []).flatMap(({ id }) => (project.reasons[id] ? [[id, project.reasons[id]]] : [])),
    );
    if (Object.keys(reasons).length > 0) diagnosis.reasons = reasons;
    const pictures = await gatherer?.finish(recording, diagnosis);
    return { recording, diagnosis, ...(pictures ? { pictures } : {}), iteration: last };
  } finally {
    bar.stop();
  }
}

function show({ diagnosis, pictures }: Examined, flags: DiagnoseFlags): void {
  const paint = style(wantsColour(process.stdout, process.env));
  const width = process.stdout.columns ?? 100;
  print(
    flags.json
      ? JSON.stringify(diagnosisData(diagnosis), null, 2)
      : diagnosisText(diagnosis, paint, { ...(pictures ? { pictures } : {}), width }),
  );
}

export async function writePage(
  path: string,
  { recording, diagnosis, pictures }: Examined,
  flags: Pick<DiagnoseFlags, 'only' | 'agent' | 'ignore' | 'html' | 'json' | 'tokenizer'>,
  project: Project,
): Promise<void> {
  const file = flags.html!;
  const options = [
    ...flags.only.map((check) => `--only ${quoted(check)}`),
    ...(flags.agent === undefined ? [] : [`--agent ${quoted(flags.agent)}`]),
    ...flags.ignore.map((cause) => `--ignore ${quoted(cause)}`),
    ...(project.file && project.given ? [`--config ${quoted(project.file)}`] : []),
    ...(flags.tokenizer === undefined ? [] : [`--tokenizer ${quoted(flags.tokenizer)}`]),
    `--html ${quoted(file)}`,
  ];
  const command = `trueline diagnose ${[quoted(path), ...options].join(' ')}`;
  const { diagnosisPage } = await import('../report/pages/page.ts');
  const { probesOf } = await import('../report/update/probes.ts');
  const page = await diagnosisPage({
    diagnosis,
    pictures: pictures!,
    name: path,
    manifest: recording.manifest,
    probes: (await probesOf(recording)).html((recording.manifest.policies ?? []).map(({ name }) => name)),
    ...(flags.tokenizer === undefined ? {} : { decode: await tokenizerOf(flags.tokenizer) }),
    command,
  });
  await writeWhole(file, [new TextEncoder().encode(page)]);
  if (!flags.json) print(told(`\nThe report is in ${file}.`, `\n报告在 ${file}。`));
}

async function tokenizerOf(file: string): Promise<Decode> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new BadInput(
      told(
        `the tokenizer ${file} cannot be read (${error.code}); --tokenizer takes a tokenizer.json or a vocabulary`,
        `分词器 ${file} 无法读取（${error.code}）；--tokenizer 接受 tokenizer.json 或词表`,
      ),
    );
  });
  return (await import('../report/pages/tokenizer.ts')).readTokenizer(text, file);
}

export function exitStatusOf(diagnosis: Diagnosis): number {
  const { good, faulty, notEnough } = exitStatus;
  return { healthy: good, faulty, unexplained: faulty, 'not-enough-evidence': notEnough }[diagnosis.verdict];
}
