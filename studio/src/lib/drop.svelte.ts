/** What is dropped onto any view, or chosen with a button: each recording in it becomes a run of its own, is diagnosed, and is kept for the next visit. */
import { say } from '../texts/index.svelte.ts';
import { address } from './address.svelte.ts';
import { crossplay } from './crossplay.svelte.ts';
import { recordingsIn } from './files.ts';
import { keepRun, keptRuns } from './kept.ts';
import { OpenRun, openRuns } from './open-run.svelte.ts';
import { chosenFiles, type DroppedFile, droppedFiles } from './stores.ts';

class Dropping {
  /** Something is held over the page. */
  over = $state(false);
  error = $state('');

  async drop(event: DragEvent): Promise<void> {
    event.preventDefault();
    this.over = false;
    if (!event.dataTransfer) return;
    const name = event.dataTransfer.items[0]?.webkitGetAsEntry?.()?.name ?? event.dataTransfer.files[0]?.name ?? '';
    await this.take(await droppedFiles(event.dataTransfer), name);
  }

  async choose(event: Event): Promise<void> {
    const input = event.currentTarget as HTMLInputElement;
    const { files } = input;
    if (!files || files.length === 0) return;
    const name = files[0].webkitRelativePath.split('/')[0] || files[0].name;
    const taken = chosenFiles(files);
    // The same folder may be chosen again when it has changed.
    input.value = '';
    await this.take(taken, name);
  }

  async take(files: DroppedFile[], name: string): Promise<void> {
    this.error = '';
    if (files.length === 0) {
      this.error = say('drop.empty', { name });
      address.go('drop');
      return;
    }
    if (files.length === 1 && (await crossplay.offered(name, files[0].blob))) {
      address.go('crossplay');
      return;
    }
    const runs = recordingsIn(name, files).map((part) => ({
      ...part,
      run: openRuns.add(OpenRun.files(part.name, part.files)),
    }));
    if (runs.length === 1) address.go('drop', { run: runs[0].run.id });
    else
      address.go('runs', {
        runs: runs
          .slice(0, 8)
          .map(({ run }) => run.id)
          .join('|'),
      });
    for (const { run, name: own, files: parts } of runs) {
      await run.diagnose();
      if (!run.error) await keepRun({ id: run.id, name: own, files: parts, told: run.told });
    }
  }

  /** Opens what was dropped at an earlier visit. */
  async recall(): Promise<void> {
    try {
      for (const { id, name, files, told } of await keptRuns()) {
        if (openRuns.get(id)) continue;
        const run = openRuns.add(OpenRun.files(name, files));
        if (told) run.told = told;
        // Kept by an earlier version of the page.
        else void run.diagnose().then(() => keepRun({ id, name, files, told: run.told }));
      }
    } finally {
      openRuns.keeping = false;
    }
  }
}

export const dropping = new Dropping();
