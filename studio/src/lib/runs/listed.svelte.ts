/** The runs that a list shows, on the server and dropped alike: named by the settings in which they differ, filtered, and folded where they belong to one sweep or investigation. */
import type { Manifest } from '../../../../src/recording/manifest.ts';
import { shortVerdict } from '../../../../src/report/studio/examined-short.ts';
import { runRow } from '../../../../src/report/studio/row.ts';
import { openRuns } from '../open-run.svelte.ts';
import { server } from '../server.svelte.ts';
import { differing, type ListedRun, nameOf, plainSettings } from './names.ts';

class Listed {
  /** Every run that there is, the newest first. */
  readonly runs = $derived(listRuns());
}

/** Worked out once for all who show it. */
export const listed = new Listed();

function listRuns(): ListedRun[] {
  const remote = server.runs.map((run) => ({
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
  }));
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
  const all = [...dropped, ...remote].sort((a, b) => b.modified - a.modified || (a.id < b.id ? -1 : 1));
  const settings = all.map((run) => plainSettings(run.manifest));
  const keys = differing(settings);
  return all.map((run, i) => ({ ...run, settings: settings[i], name: nameOf(settings[i], keys) }));
}
