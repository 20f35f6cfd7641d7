/** Trains in the page. What the recording writes is handed to the page file by file, so that it is read and diagnosed as any other run. */

import { applyFault, findFault, onsetNotice } from '../../../src/faults/index.ts';
import type { Game } from '../../../src/games/game.ts';
import { gameMaker, hasPictures, type Player } from '../../../src/games/index.ts';
import { type Language, speak } from '../../../src/language/language.ts';
import { createEngine } from '../../../src/net/engine.ts';
import type { Engine } from '../../../src/net/types.ts';
import type { WritableStore } from '../../../src/recording/source.ts';
import { join, memoryStore } from '../../../src/recording/source.ts';
import { RecordingWriter } from '../../../src/recording/writer.ts';
import type { ToldIteration } from '../../../src/report/studio/curves.ts';
import { mergeSettings, recommendedSettings } from '../../../src/training/recommended.ts';
import { train } from '../../../src/training/run.ts';
import { readSettings, type Settings } from '../../../src/training/settings.ts';
import { cleanStages } from '../../../src/training/stages.ts';
import { freshEpisode, type Replay } from '../lib/episode.ts';
import { answer } from './rpc.ts';

export type TrainNews =
  | { kind: 'file'; path: string; bytes: Uint8Array<ArrayBuffer> }
  | { kind: 'start'; steps: number; agents: string[]; policies: string[] }
  | { kind: 'report'; told: ToldIteration; pace?: { speed: number; left: number } }
  | { kind: 'episode'; replay: Replay }
  | { kind: 'notice'; sentence: string };

export interface TrainRequest {
  settings: Record<string, unknown>;
  fault?: string;
  /** Where an earlier part of the run stopped. */
  resume?: Uint8Array;
}

let stop = new AbortController();
/** An engine that was made before anybody asked for a training: to compile its kernels and to start its threads takes as long as the first episodes. */
let spare: Promise<Engine> | undefined;

answer({
  /** Gets ready for a training that may be asked for. */
  prepare() {
    spare ??= createEngine();
    spare.catch(() => undefined);
  },

  async train([request, language]: [TrainRequest, Language], progress) {
    const say = progress as (news: TrainNews) => void;
    stop = new AbortController();
    speak(language);
    const game = String(request.settings.game ?? 'echo');
    const clean = readSettings(mergeSettings(recommendedSettings(game), request.settings));
    const { settings, stages, strength } = request.fault
      ? applyFault(findFault(request.fault), clean.seed, cleanStages, { ...clean, guard: 'off' })
      : { settings: clean, stages: undefined, strength: {} };
    const notice = onsetNotice(strength);
    if (notice) say({ kind: 'notice', sentence: notice });
    let checkpoint: Uint8Array | undefined;
    let film: (() => Replay | undefined) | undefined;
    let drawn = false;
    const usual = settings.kernel === 'auto' && settings.engine === 'auto' && settings.threads === null;
    const engine = usual ? await spare?.catch(() => undefined) : undefined;
    if (engine) spare = undefined;
    try {
      const result = await train(settings, {
        ...(engine ? { engine } : {}),
        ...(stages ? { stages } : {}),
        ...(request.resume ? { resume: request.resume } : {}),
        signal: stop.signal,
        clock: () => Date.now() / 1000,
        recording: (manifest) => RecordingWriter.create(telling(memoryStore('page'), say), manifest),
        checkpoint: async (bytes) => {
          checkpoint = bytes;
        },
        onStart: ({ steps, agents, policies, play }) => {
          say({ kind: 'start', steps, agents, policies });
          film = filming(settings, play, agents);
        },
        // How an iteration was played is told at once; what was learnt from it follows when that is written and looked at.
        onPlayed: ({ iteration, steps, returns }) => {
          const means = returns.map(({ mean }) => mean);
          say({
            kind: 'report',
            told: { iteration, step: steps, time: Date.now() / 1000, readings: [], returns: means },
          });
          // Both threads of an update may be all the processors that there are: the page draws its first chart before.
          if (drawn) return;
          drawn = true;
          return new Promise((resolve) => setTimeout(resolve, firstChart));
        },
        onIteration: ({ iteration, steps, readings, stepsPerSecond, secondsLeft }) => {
          const told = { iteration, step: steps, time: Date.now() / 1000, readings, returns: [] };
          say({ kind: 'report', told, pace: { speed: stepsPerSecond, left: secondsLeft } });
          const replay = film?.();
          if (replay) say({ kind: 'episode', replay });
        },
        onNotice: (sentence) => say({ kind: 'notice', sentence }),
      });
      const { threads } = result.trainer.engine;
      result.dispose();
      return { stopped: result.stopped, threads, checkpoint };
    } finally {
      engine?.dispose();
    }
  },

  stop() {
    stop.abort();
  },
});

/** Milliseconds that a page is given for its first chart. */
const firstChart = 150;
/** Milliseconds between two episodes that are shown of a run under way. */
const between = 2500;

/** Plays an episode with the policies as they are, now and then; a game that cannot be drawn is not played. */
function filming(
  settings: Settings,
  play: (game: Game) => Player[],
  agents: readonly string[],
): (() => Replay | undefined) | undefined {
  const game = gameMaker(settings.game, settings.gameSettings)(1);
  if (!hasPictures(game)) return undefined;
  let last = Number.NEGATIVE_INFINITY;
  let number = 0;
  return () => {
    if (performance.now() - last < between) return undefined;
    last = performance.now();
    return freshEpisode(game, play(game), number++, agents);
  };
}

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
