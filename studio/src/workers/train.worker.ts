/** Trains in the page. What the recording writes is handed to the page file by file, so that it is read and diagnosed as any other run. */
import { applyFault, findFault } from '../../../src/faults/index.ts';
import type { WritableStore } from '../../../src/recording/source.ts';
import { join, memoryStore } from '../../../src/recording/source.ts';
import { RecordingWriter } from '../../../src/recording/writer.ts';
import { mergeSettings, recommendedSettings } from '../../../src/training/recommended.ts';
import { type ProgressReport, train } from '../../../src/training/run.ts';
import { readSettings } from '../../../src/training/settings.ts';
import { cleanStages } from '../../../src/training/stages.ts';
import { answer } from './rpc.ts';

export type TrainNews =
  | { kind: 'file'; path: string; bytes: Uint8Array<ArrayBuffer> }
  | { kind: 'start'; threads: number; steps: number }
  | { kind: 'report'; report: Pick<ProgressReport, 'iteration' | 'steps' | 'stepsPerSecond' | 'secondsLeft'> }
  | { kind: 'notice'; sentence: string };

export interface TrainRequest {
  settings: Record<string, unknown>;
  fault?: string;
  /** Where an earlier part of the run stopped. */
  resume?: Uint8Array;
}

let stop = new AbortController();

answer({
  async train([request]: [TrainRequest], progress) {
    const say = progress as (news: TrainNews) => void;
    stop = new AbortController();
    const game = String(request.settings.game ?? 'echo');
    const clean = readSettings(mergeSettings(recommendedSettings(game), request.settings));
    const { settings, stages } = request.fault
      ? applyFault(findFault(request.fault), clean.seed, cleanStages, { ...clean, guard: 'off' })
      : { settings: clean, stages: undefined };
    let checkpoint: Uint8Array | undefined;
    const result = await train(settings, {
      ...(stages ? { stages } : {}),
      ...(request.resume ? { resume: request.resume } : {}),
      signal: stop.signal,
      clock: () => Date.now() / 1000,
      recording: (manifest) => RecordingWriter.create(telling(memoryStore('page'), say), manifest),
      checkpoint: async (bytes) => {
        checkpoint = bytes;
      },
      onStart: ({ steps }) => say({ kind: 'start', threads: 0, steps }),
      onIteration: ({ iteration, steps, stepsPerSecond, secondsLeft }) =>
        say({ kind: 'report', report: { iteration, steps, stepsPerSecond, secondsLeft } }),
      onNotice: (sentence) => say({ kind: 'notice', sentence }),
    });
    const { threads } = result.trainer.engine;
    result.dispose();
    return { stopped: result.stopped, threads, checkpoint };
  },

  stop() {
    stop.abort();
  },
});

/** A store that hands on what is written to it. The bytes are copied to the page, so the worker keeps none. */
function telling(store: WritableStore, say: (news: TrainNews) => void): WritableStore {
  return {
    ...store,
    write: async (path, parts) => {
      const bytes = join(parts);
      say({ kind: 'file', path, bytes });
      // The manifest is read again when names are added to it.
      if (path === 'manifest.json') await store.write(path, [bytes]);
    },
  };
}
