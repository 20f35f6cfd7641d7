/**
 * What `trueline/testing` offers: guards for tests of training code, for vitest, node:test and every runner that takes an error for a failure. The one thing to get wrong: too few
 * updates leave too little evidence, and then nothing fails unless `not-enough-evidence` is asked for.
 */
import { diagnose } from '../../doctor/diagnose.ts';
import { memoryStore } from '../../recording/index.ts';
import { openRecording } from '../../recording/node.ts';
import { Recording } from '../../recording/recording.ts';
import { RecordingWriter } from '../../recording/writer.ts';
import { type TrainHooks, train } from '../../training/run.ts';
import type { SettingsInput } from '../../training/settings.ts';
import { failingVerdicts, type verdicts } from '../common/project.ts';
import { details } from './formats.ts';
import { summarise } from './look.ts';
import type { CheckedRun } from './result.ts';

export interface GuardOptions {
  /** Verdicts that fail; faulty and unexplained unless given. */
  failOn?: readonly (typeof verdicts)[number][];
  /** Causes that are accepted. */
  ignore?: readonly string[];
  /** Settings that are meant, whatever the recording says. */
  settings?: Readonly<Record<string, unknown>>;
}

/** The error that fails a test: its message is the diagnosis, its `run` the same as data. */
export class Diagnosed extends Error {
  override readonly name = 'Diagnosed';

  constructor(readonly run: CheckedRun) {
    super(details(run));
  }
}

/**
 * Fails unless a recorded run is well: a folder, a zip, or a recording in memory.
 *
 * @example
 * test('the update learns from its own rows', async () => {
 *   await expectHealthy('runs/mine');
 * });
 */
export async function expectHealthy(run: string | Recording, options: GuardOptions = {}): Promise<CheckedRun> {
  const opened = typeof run === 'string' ? await openRecording(run) : run;
  const recording = opened.declaring(options.settings ?? {});
  const diagnosis = await diagnose(recording, { ignore: options.ignore ?? [] });
  const checked = summarise(recording.name, 'recording', false, recording, diagnosis);
  if ((options.failOn ?? failingVerdicts).includes(checked.verdict)) throw new Diagnosed(checked);
  return checked;
}

/**
 * Trains with the settings, keeps every iteration in memory, and fails unless the run is well. `hooks.game` is a game of your own, `hooks.stages` are stages of your own.
 *
 * @example
 * await expectTrains({ game: 'echo', steps: 20_000, seed: 1 });
 */
export async function expectTrains(
  settings: SettingsInput,
  hooks: Omit<TrainHooks, 'recording' | 'checkpoint' | 'resume'> = {},
  options: GuardOptions = {},
): Promise<CheckedRun> {
  const store = memoryStore(settings.game ?? 'run');
  const result = await train(settings, { ...hooks, recording: (manifest) => RecordingWriter.create(store, manifest) });
  result.dispose();
  return expectHealthy(await Recording.open(store), options);
}
