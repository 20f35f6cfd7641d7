/** The runs that a list shows, on the server and dropped alike: named by the settings in which they differ, filtered, and folded where they belong to one sweep or investigation. */

import type { ToldRun } from '../../../../src/cli/studio/news.ts';
import type { Manifest } from '../../../../src/recording/manifest.ts';
import { shortVerdict } from '../../../../src/report/studio/examined-short.ts';
import { runRow } from '../../../../src/report/studio/row.ts';
import { keeping } from '../news/same.ts';
import { openRuns } from '../open-run.svelte.ts';
import { server } from '../server.svelte.ts';
import { differing, type ListedRun, nameOf, plainSettings } from './names.ts';

class Listed {
  private readonly known = $derived(collect());
  private readonly keepSettings = keeping<Record<string, string>>();
  private readonly settings = $derived(this.keepSettings(this.known.map((run) => plainSettings(run.manifest))));
  /** Settings in which they differ. */
  readonly keys = $derived(differing(this.settings));
  private made = new Map<KnownRun, ListedRun>();
  /** Every run that there is, the newest first; one of which nothing new is known is the one from before, so that nobody draws it again. */
  readonly runs = $derived.by(() => {
    const before = this.made;
    this.made = new Map();
    for (const [i, run] of this.known.entries()) {
      const settings = this.settings[i];
      const name = nameOf(settings, this.keys);
      const old = before.get(run);
      this.made.set(run, old?.name === name ? old : { ...run, settings, name });
    }
    return [...this.made.values()];
  });
}

/** Worked out once for all who show it. */
export const listed = new Listed();

type KnownRun = Omit<ListedRun, 'settings' | 'name'>;

const remote = new WeakMap<ToldRun, KnownRun>();

function remoteRun(run: ToldRun): KnownRun {
  let known = remote.get(run);
  if (!known) {
    known = {
      id: run.id,
      manifest: run.manifest as Manifest,
      row: run.row,
      verdict: run.verdict,
      reading: run.reading === true,
      live: run.live,
      error: run.error ?? '',
      modified: run.modified,
      within: run.within ?? '',
      tags: run.tags ?? [],
      note: run.note ?? '',
      dropped: false,
    };
    remote.set(run, known);
  }
  return known;
}

function collect(): KnownRun[] {
  const dropped = openRuns.all
    .filter((run) => !server.entry(run.id))
    .map((run) => ({
      id: run.id,
      manifest: run.manifest,
      row: run.curves.length > 0 ? runRow(run.curves) : undefined,
      verdict: run.examined && shortVerdict(run.examined),
      reading: run.reading !== undefined,
      live: false,
      error: run.error,
      modified: Number.POSITIVE_INFINITY,
      within: '',
      tags: [],
      note: '',
      dropped: true,
    }));
  const all = [...dropped, ...server.runs.map(remoteRun)];
  return all.sort((a, b) => b.modified - a.modified || (a.id < b.id ? -1 : 1));
}
