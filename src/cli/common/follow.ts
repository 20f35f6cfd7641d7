/** `trueline diagnose RUN --follow`: diagnoses a run again whenever it has grown, and says so when the verdict changes. It ends when the run does. */

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Diagnosis } from '../../doctor/diagnosis.ts';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { folderStore, openRecording } from '../../recording/node.ts';
import { chunkFile } from '../../recording/recording.ts';
import { diagnosisText } from '../../report/diagnosis.ts';
import { number } from '../../report/number.ts';
import { style, wantsColour } from '../../report/style.ts';
import { diagnosisData, verdictSentence } from '../../report/verdict.ts';
import { type DiagnoseFlags, type Examined, examine, writePage } from '../diagnose.ts';
import { print } from './options.ts';
import type { Project } from './project.ts';

/** Milliseconds between two looks at the folder. */
const pause = 1000;

export async function follow(path: string, flags: DiagnoseFlags, project: Project): Promise<Diagnosis> {
  const found = await stat(path).catch(() => undefined);
  if (found && !found.isDirectory())
    throw new BadInput(
      told(
        'is no folder; only a run that is written into a folder can be followed',
        '不是文件夹；只有写入文件夹的训练才能跟随',
      ),
      { file: path },
    );
  const paint = style(wantsColour(process.stdout, process.env));
  const interrupt = new AbortController();
  const onSignal = () => interrupt.abort();
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  let seen = '';
  let shown = '';
  let latest: Examined | undefined;
  let grown = performance.now();
  const patience = flags.patience * 1000;
  const say = (examined: Examined) => {
    const { diagnosis } = examined;
    const key = [diagnosis.verdict, ...[...diagnosis.causes, ...diagnosis.remarks].map(({ id }) => id)].join(' ');
    if (key === shown) return;
    shown = key;
    if (flags.json) print(JSON.stringify({ iteration: examined.iteration, ...diagnosisData(diagnosis) }));
    else print(`iteration ${number(examined.iteration)}: ${paint.bold(verdictSentence(diagnosis))}`);
  };
  try {
    for (;;) {
      const state = await signature(path);
      if (state.text !== seen && state.tables > 0) {
        seen = state.text;
        grown = performance.now();
        latest = (await attempt(path, flags, project)) ?? latest;
        if (latest) {
          say(latest);
          if (flags.html !== undefined) await writePage(path, latest, { ...flags, json: true }, project);
        }
      }
      const over = latest?.recording.manifest.ended !== undefined || performance.now() - grown > patience;
      // What was written while the last diagnosis was made is looked at once more.
      if (interrupt.signal.aborted || (over && (await signature(path)).text === seen)) break;
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          interrupt.signal.removeEventListener('abort', wake);
          resolve();
        };
        const timer = setTimeout(wake, pause);
        interrupt.signal.addEventListener('abort', wake);
      });
    }
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
  // Nothing more is written, so the last iteration is whole too; what cannot be read now is the user's to know.
  latest = await examine(await openRecording(path, flags), flags, project);
  say(latest);
  if (flags.html !== undefined) await writePage(path, latest, { ...flags, json: true }, project);
  if (!flags.json) {
    const width = process.stdout.columns ?? 100;
    print(`\n${diagnosisText(latest.diagnosis, paint, { pictures: latest.pictures, width })}`);
    if (flags.html !== undefined) print(`\nThe report is in ${flags.html}.`);
  }
  return latest.diagnosis;
}

/** Names, sizes and times of the files: what changes when a run is written on. */
async function signature(path: string): Promise<{ text: string; tables: number }> {
  const files = await folderStore(path).list();
  const parts: string[] = [];
  for (const file of files) {
    const found = await stat(join(path, file)).catch(() => undefined);
    if (found) parts.push(`${file} ${found.size} ${found.mtimeMs}`);
  }
  return { text: parts.join('\n'), tables: files.filter((file) => chunkFile.test(file)).length };
}

/** A file that another program is writing may be cut off just now; the next look will find it whole. */
async function attempt(path: string, flags: DiagnoseFlags, project: Project): Promise<Examined | undefined> {
  try {
    const recording = await openRecording(path, flags);
    return await examine(recording, flags, project, { unfinished: recording.manifest.ended === undefined });
  } catch (error) {
    if (error instanceof BadInput && error.place.file !== undefined) return undefined;
    throw error;
  }
}
