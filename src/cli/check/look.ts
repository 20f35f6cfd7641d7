/** Finds what a path holds (a recording, a log, a zip, a folder of many), diagnoses each, and puts every answer into the same few words. The verdicts are those of `trueline diagnose`. */

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { causeById } from '../../doctor/causes.ts';
import type { Diagnosis } from '../../doctor/diagnosis.ts';
import { told } from '../../language/language.ts';
import { figureName } from '../../language/words.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { isBeingWritten } from '../../recording/claim/node.ts';
import { everyLog } from '../../recording/importers/every.ts';
import { findLogs } from '../../recording/importers/find.ts';
import { findRecordings, openLogStore } from '../../recording/importers/node.ts';
import { type LogOptions, logRecording } from '../../recording/importers/open.ts';
import { openRecording } from '../../recording/node.ts';
import type { Recording } from '../../recording/recording.ts';
import { number } from '../../report/number.ts';
import { verdictSentence } from '../../report/verdict.ts';
import { exitStatus, quoted } from '../common/options.ts';
import { failingVerdicts, type Project, verdicts } from '../common/project.ts';
import { examine } from '../diagnose.ts';
import type { CheckedRun, CheckResult } from './result.ts';

export interface LookOptions extends LogOptions {
  /** Verdicts that fail; without them the statuses of `trueline diagnose` hold. */
  failOn?: readonly (typeof verdicts)[number][];
}

export async function look(path: string, project: Project, options: LookOptions = {}): Promise<CheckResult> {
  if (!existsSync(path))
    throw new BadInput(told('there is no such file or folder', '没有这个文件或文件夹'), { file: path });
  const runs: CheckedRun[] = [];
  const unread: CheckResult['unread'] = [];
  const see = async (name: string, kind: CheckedRun['kind'], recording: Recording, running: boolean) => {
    const flags = { only: [], json: true };
    const { diagnosis } = await examine(recording, flags, project, { unfinished: running });
    runs.push(summarise(name, kind, running, recording, diagnosis));
  };
  const recordings = await findRecordings(path);
  for (const found of recordings)
    try {
      const running = statSync(found).isDirectory() && (await isBeingWritten(found));
      await see(found, 'recording', await openRecording(found, options), running);
    } catch (error) {
      if (!(error instanceof BadInput) || recordings.length === 1) throw error;
      unread.push({ name: found, why: error.message });
    }
  if (recordings.length === 0)
    for await (const run of everyLog(await openLogStore(path, options), options)) {
      if ('why' in run) unread.push(run);
      else {
        const name = run.name === path ? path : join(path, run.name);
        await see(name, 'log', await logRecording(run.imported), false);
      }
    }
  if (runs.length === 0 && unread.length === 1) throw new BadInput(unread[0].why);
  if (runs.length === 0)
    throw new BadInput(
      told('holds neither a recording nor a log that could be read', '里既没有可读的记录，也没有可读的日志'),
      { file: path },
    );
  const place = (run: CheckedRun) => verdicts.indexOf(run.verdict);
  runs.sort((a, b) => place(a) - place(b));
  const [{ verdict }] = runs;
  const failOn = options.failOn ?? project.failOn;
  const failed = runs.some((run) => (failOn ?? failingVerdicts).includes(run.verdict));
  const open = failOn === undefined && verdict === 'not-enough-evidence';
  const status = failed ? exitStatus.faulty : open ? exitStatus.notEnough : exitStatus.good;
  const beside =
    recordings.length === 0 || recordings.includes(path) ? [] : await findLogs(await openLogStore(path, options));
  return {
    format: 'trueline/check/1',
    path,
    verdict,
    failed,
    status,
    runs,
    unread,
    beside: beside.map(({ name, files }) => join(path, name || files[0])),
  };
}

/** One run's diagnosis in the words of the answer. */
export function summarise(
  name: string,
  kind: CheckedRun['kind'],
  running: boolean,
  { manifest }: Recording,
  diagnosis: Diagnosis,
): CheckedRun {
  const [first, ...others] = diagnosis.causes;
  const [open] = diagnosis.unexplained;
  const [symptom] = diagnosis.scalars?.symptoms ?? [];
  const entry = first && causeById(first.id);
  const named = diagnosis.verdict === 'faulty';
  return {
    name,
    kind,
    state: running ? 'running' : 'ended',
    verdict: diagnosis.verdict,
    cause: first?.id ?? null,
    also: others.map(({ id }) => id),
    confidence: first?.confidence ?? null,
    sentence: named ? first.summary : verdictSentence(diagnosis),
    decisive: named
      ? decided(first)
      : open
        ? { text: shares(open.rows, open.share), rows: open.rows, iteration: open.onset }
        : symptom
          ? { text: symptom.summary, iteration: symptom.onset }
          : null,
    remedy: first?.remedy ?? null,
    code: entry?.pytorch ?? null,
    where: sites(manifest.recorder?.calls),
    agents: first?.agents ?? [],
    ignored: (diagnosis.ignored ?? []).map(({ id }) => ({ cause: id, reason: diagnosis.reasons?.[id] ?? null })),
    remarks: diagnosis.remarks.map(({ id }) => id),
    next: nextCommand(name, kind, running, diagnosis),
  };
}

function decided(cause: Diagnosis['causes'][number]): CheckedRun['decisive'] {
  const { rows, onset, residual_before: before, residual_after: after } = cause;
  const count = told(`${number(rows)} rows from iteration ${onset}`, `自迭代 ${onset} 起 ${number(rows)} 行`);
  if (before !== undefined && after !== undefined)
    return {
      text: told(
        `residual ${number(before)} before, ${number(after)} once it is undone; ${count}`,
        `偏差 ${number(before)}，还原后 ${number(after)}；${count}`,
      ),
      before,
      after,
      rows,
      iteration: onset,
    };
  const measured = Object.entries(cause.evidence[0]?.measured ?? {}).filter(([, value]) => typeof value === 'number');
  const figures = measured.slice(0, 3).map(([key, value]) => `${figureName(key)} ${number(value as number)}`);
  return { text: [...figures, count].join(told(', ', '，')), rows, iteration: onset };
}

const shares = (rows: number, share: number) =>
  told(
    `${number(rows)} rows disagree (${number(100 * share)} %)`,
    `${number(rows)} 行不符（${number(100 * share)} %）`,
  );

function sites(calls: Readonly<Record<string, string>> | undefined): string[] {
  return Object.entries(calls ?? {}).map(([call, site]) => `${site} (${call})`);
}

function nextCommand(name: string, kind: CheckedRun['kind'], running: boolean, diagnosis: Diagnosis): string {
  if (running) return `trueline diagnose ${quoted(name)} --follow`;
  if (kind === 'log') {
    const [run, inside] = name.split('#');
    const chosen = inside === undefined ? quoted(run) : `${quoted(run)} --run ${quoted(inside)}`;
    return `trueline diagnose ${chosen}`;
  }
  if (diagnosis.verdict === 'not-enough-evidence') return `trueline inspect ${quoted(name)}`;
  return `trueline diagnose ${quoted(name)} --html report.html`;
}
