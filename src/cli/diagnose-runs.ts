/** `trueline diagnose` of a folder with several logs: each run's decisive fact, what they share, and every file that could not be read. */

import { diagnose } from '../doctor/diagnose.ts';
import type { Diagnosis } from '../doctor/diagnosis.ts';
import { told } from '../language/language.ts';
import { everyLog } from '../recording/importers/every.ts';
import { openLogStore } from '../recording/importers/node.ts';
import { agentsWithReturns, logRecording } from '../recording/importers/open.ts';
import { runsText } from '../report/runs.ts';
import { style, wantsColour } from '../report/style.ts';
import { diagnosisData } from '../report/verdict.ts';
import { print } from './common/options.ts';
import { progress } from './common/progress.ts';
import { typed } from './common/runner.ts';
import { type LogFlags, logOptions } from './import.ts';

/** What is printed with --json for several runs; each diagnosis is as for one. */
export interface Diagnoses {
  format: 'trueline/diagnoses/2';
  runs: { name: string; diagnosis: Diagnosis }[];
  unread: { name: string; why: string }[];
}

export async function diagnoseRuns(
  path: string,
  flags: LogFlags & { json?: boolean },
  ignore: readonly string[],
): Promise<Diagnoses> {
  const all: Diagnoses = { format: 'trueline/diagnoses/2', runs: [], unread: [] };
  let agents = 0;
  const bar = progress(told('reading logs', '读取日志'));
  try {
    for await (const run of everyLog(await openLogStore(path, logOptions(flags)), logOptions(flags))) {
      if ('why' in run) all.unread.push(run);
      else {
        const diagnosis = await diagnose(await logRecording(run.imported), { ignore });
        all.runs.push({ name: run.name, diagnosis });
        agents = Math.max(agents, agentsWithReturns(run.imported));
      }
      bar.update(all.runs.length + all.unread.length, all.runs.length + all.unread.length + 1);
    }
  } finally {
    bar.stop();
  }
  const width = process.stdout.columns ?? 100;
  print(
    flags.json
      ? JSON.stringify(
          { ...all, runs: all.runs.map(({ name, diagnosis }) => ({ name, diagnosis: diagnosisData(diagnosis) })) },
          null,
          2,
        )
      : runsText(typed(path), { ...all, agents }, style(wantsColour(process.stdout, process.env)), width),
  );
  return all;
}
