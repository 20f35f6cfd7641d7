/** Reads runs back from folders: those of a sweep, or any recording. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { told } from '../language/language.ts';
import { BadInput } from '../recording/bad-input.ts';
import { openRecording } from '../recording/node.ts';
import type { ComparedRun } from './compare.ts';
import { readCurve, score } from './curves.ts';
import { sweepStatus } from './sweep.ts';

/** Every finished run of the folders given, each a sweep or a recording; `onRun` hears how many are read. */
export async function readRuns(
  folders: readonly string[],
  onRun: (done: number, all: number) => void = () => undefined,
): Promise<ComparedRun[]> {
  const found: string[] = [];
  for (const folder of folders) {
    if (!existsSync(join(folder, 'sweep.json'))) found.push(folder);
    else {
      const { jobs } = await sweepStatus(folder);
      found.push(...jobs.filter(({ status }) => status === 'done').map((job) => job.folder));
    }
  }
  if (found.length === 0)
    throw new BadInput(
      told(
        'no run has finished there yet; trueline sweep FILE --out FOLDER --status tells how far it is',
        '那里还没有完成的训练；trueline sweep FILE --out FOLDER --status 会说明进度',
      ),
      {
        file: folders.join(', '),
      },
    );
  const runs: ComparedRun[] = [];
  for (const folder of found) {
    runs.push(await readRun(folder));
    onRun(runs.length, found.length);
  }
  return runs;
}

async function readRun(folder: string): Promise<ComparedRun> {
  const recording = await openRecording(folder);
  const { manifest } = recording;
  if (!recording.tables.includes('episodes'))
    throw new BadInput(
      told(
        'holds no episodes, so there are no returns to compare; record the table episodes',
        '没有 episodes，因此没有可比较的回报；请记录 episodes 表',
      ),
      {
        file: folder,
      },
    );
  const curve = await readCurve(recording);
  const environment = manifest.environment as { name?: string } | undefined;
  const run = manifest.run as Record<string, unknown> | undefined;
  const declared = run ?? { algorithm: manifest.algorithm, ...manifest.settings };
  // What does not touch the numbers of a run does not set it apart.
  const {
    seed,
    name: _name,
    engine: _engine,
    threads: _threads,
    checkpoint: _checkpoint,
    recording: _recording,
    guard: _guard,
    ...settings
  } = declared as Record<string, unknown>;
  return {
    folder,
    seed: manifest.seed ?? (typeof seed === 'number' ? seed : null),
    game: environment?.name ?? String(settings.game ?? 'unknown game'),
    // A bug on purpose sets a run apart like any setting.
    settings: { ...settings, fault: manifest.fault ?? 'none' },
    score: score(curve),
    curve,
  };
}
