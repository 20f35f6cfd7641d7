/** Reads one run away from the page's own thread: curves, diagnosis, episodes. One worker, one run. */
import { type CauseEntry, causeById } from '../../../src/doctor/causes.ts';
import { checks } from '../../../src/doctor/checks/index.ts';
import { diagnose } from '../../../src/doctor/diagnose.ts';
import type { Diagnosis } from '../../../src/doctor/diagnosis.ts';
import { type Inspection, inspect } from '../../../src/recording/check/inspect.ts';
import { Recording } from '../../../src/recording/recording.ts';
import { blobStore, type Store } from '../../../src/recording/source.ts';
import { Gatherer } from '../../../src/report/pictures/gather.ts';
import type { Pictures } from '../../../src/report/pictures/picture.ts';
import { CurveReader } from '../lib/charts/curves.ts';
import { replay, replayable } from '../lib/episode.ts';
import { storeOfFiles } from '../lib/files.ts';
import { type DroppedFile, remoteStore, setBase, unseen } from '../lib/stores.ts';
import { answer } from './rpc.ts';

export type RunSource =
  | { kind: 'remote'; id: string; base: string }
  | { kind: 'files'; name: string; files: DroppedFile[] };

/** A diagnosis with everything that is shown beside it, so that the page need not know the doctor. */
export interface Examined {
  diagnosis: Diagnosis;
  /** Left out while a run is under way, where the verdict is wanted quickly. */
  pictures: Pictures | null;
  /** What is known about the causes that were found, by id. */
  entries: Record<string, CauseEntry>;
  /** What each check asks, by id. */
  questions: Record<string, string>;
}

let store: Store;
let name = '';
/** Files of a run that is being written in the page. */
const growing = new Map<string, Blob>();
let reader: CurveReader | undefined;
/** Chunk files whose rows are in the curves already. */
const seen = new Set<string>();

answer({
  async open([source]: [RunSource]) {
    if (source.kind === 'remote') {
      setBase(source.base);
      store = remoteStore(source.id);
    } else if (source.files.length > 0) {
      store = await storeOfFiles(source.name, source.files);
    } else {
      // A run that is still to be written, file by file.
      name = source.name;
      return null;
    }
    return opened();
  },

  async add([file]: [DroppedFile]) {
    growing.set(file.path, file.blob);
    store = blobStore(
      name,
      [...growing].map(([path, blob]) => ({ path, blob })),
    );
    return file.path === 'manifest.json' ? opened() : null;
  },

  /** Curves with everything that was written since the last call. */
  async curves() {
    const recording = await Recording.open(unseen(store, seen));
    reader ??= new CurveReader(recording.manifest);
    await reader.read(recording, (file) => seen.add(relative(file)));
    return reader.list();
  },

  async diagnose([drawn]: [boolean], progress): Promise<Examined> {
    const recording = await Recording.open(store);
    const gatherer = drawn ? new Gatherer() : undefined;
    const diagnosis = await diagnose(recording, {
      progress,
      // Nothing is drawn while a run is under way; its last iteration may be there in part only.
      unfinished: !drawn && recording.manifest.ended === undefined,
      ...(gatherer ? { watch: gatherer.watch, prove: gatherer.prove } : {}),
    });
    const entries = diagnosis.causes.map(({ id }) => causeById(id)).filter((entry) => entry !== undefined);
    return {
      diagnosis,
      pictures: gatherer ? await gatherer.finish(recording, diagnosis) : null,
      entries: Object.fromEntries(entries.map((entry) => [entry.id, entry])),
      questions: Object.fromEntries(checks.map(({ id, question }) => [id, question])),
    };
  },

  async inspect(): Promise<Inspection> {
    return inspect(await Recording.open(store));
  },

  async episodes() {
    return replayable(await Recording.open(store));
  },

  async replay([episode]: [number]) {
    return replay(await Recording.open(store), episode);
  },
});

async function opened() {
  const recording = await Recording.open(store);
  return { manifest: recording.manifest, tables: recording.tables };
}

/** A chunk's name starts with its store's. */
function relative(file: string): string {
  const prefix = `${store.name}/`;
  return file.startsWith(prefix) ? file.slice(prefix.length) : file;
}
