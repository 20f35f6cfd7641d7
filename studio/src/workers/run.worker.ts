/** Reads runs away from the page's own thread: curves, diagnosis, episodes. One worker may have several runs; each is named in every call. */
import { speak, told } from '../../../src/language/language.ts';
import { type Inspection, inspect } from '../../../src/recording/check/inspect.ts';
import { Recording } from '../../../src/recording/recording.ts';
import { blobStore, type Store } from '../../../src/recording/source.ts';
import { CurveReader } from '../../../src/report/studio/curves.ts';
import { examine } from '../../../src/report/studio/examined.ts';
import { SeenChunks } from '../../../src/report/studio/seen.ts';
import { filesOf, replayable, replays } from '../lib/episode.ts';
import { storeOfFiles } from '../lib/files.ts';
import { type DroppedFile, remoteStore, setBase } from '../lib/stores.ts';
import { answer } from './rpc.ts';

export type RunSource =
  | { kind: 'remote'; id: string; base: string }
  | { kind: 'files'; name: string; files: DroppedFile[] };

interface Held {
  name: string;
  store: Store | undefined;
  /** Files of a run that is being written in the page. */
  growing: Map<string, Blob>;
  reader: CurveReader | undefined;
  seen: SeenChunks;
}

// What goes wrong is told in both languages too.
speak('both');

const held = new Map<string, Held>();

answer({
  async open([id, source]: [string, RunSource]) {
    const own: Held = { name: id, store: undefined, growing: new Map(), reader: undefined, seen: new SeenChunks() };
    held.set(id, own);
    if (source.kind === 'remote') {
      setBase(source.base);
      own.store = remoteStore(source.id);
    } else {
      own.name = source.name;
      // A run that is still to be written comes file by file.
      if (source.files.length === 0) return null;
      own.store = await storeOfFiles(source.name, source.files);
    }
    return opened(own.store);
  },

  close([id]: [string]) {
    held.delete(id);
  },

  async add([id, file]: [string, DroppedFile]) {
    const own = held.get(id)!;
    own.growing.set(file.path, file.blob);
    own.store = blobStore(
      own.name,
      [...own.growing].map(([path, blob]) => ({ path, blob })),
    );
    return file.path === 'manifest.json' ? opened(own.store) : null;
  },

  /** Curves with everything that was written since the last call. */
  async curves([id]: [string]) {
    const own = held.get(id)!;
    const store = storeOf(id);
    let rest = own.reader && (await own.seen.rest(store));
    if (!rest) {
      own.reader = undefined;
      own.seen = new SeenChunks();
      rest = store;
    }
    const recording = await Recording.open(rest);
    own.reader ??= new CurveReader(recording.manifest);
    const prefix = `${store.name}/`;
    await own.reader.read(recording, (file) =>
      own.seen.add(file.startsWith(prefix) ? file.slice(prefix.length) : file),
    );
    return own.reader.list();
  },

  /** As JSON in both languages. */
  async diagnose([id, drawn]: [string, boolean], progress): Promise<string> {
    const recording = await Recording.open(storeOf(id));
    // Nothing is drawn while a run is under way.
    const unfinished = !drawn && recording.manifest.ended === undefined;
    return JSON.stringify(await examine(recording, { pictures: drawn, unfinished, progress }));
  },

  async inspect([id]: [string]): Promise<Inspection> {
    return inspect(await Recording.open(storeOf(id)));
  },

  async episodes([id]: [string]) {
    return replayable(await Recording.open(storeOf(id)));
  },

  async replays([id, episodes]: [string, number[]]) {
    const store = storeOf(id);
    const files = await filesOf(await Recording.open(store), episodes);
    const needed = (path: string) => path === 'manifest.json' || files.has(`${store.name}/${path}`) || files.has(path);
    return replays(await Recording.open({ ...store, list: async () => (await store.list()).filter(needed) }), episodes);
  },
});

function storeOf(id: string): Store {
  const store = held.get(id)?.store;
  if (!store) throw new Error(told('Nothing of this run was written yet.', '这次训练还没有写下任何东西。'));
  return store;
}

async function opened(store: Store) {
  const recording = await Recording.open(store);
  return { manifest: recording.manifest, tables: recording.tables };
}
