/** An investigation that is looked at: read again whenever its file was written, stage by stage, so that a picture is drawn anew only where its stage has changed. */
import type { InvestigationState } from '../../../src/cli/investigation.ts';
import type { StageReport } from '../../../src/symmetry/stage.ts';
import type { SymmetryDiagnosis } from '../../../src/symmetry/stages/explanation.ts';
import { base } from './stores.ts';

class Investigation {
  state = $state.raw<InvestigationState | undefined>(undefined);
  error = $state('');
  private of = '';

  /** Reads it from the server. */
  async read(id: string): Promise<void> {
    if (id !== this.of) this.state = undefined;
    this.of = id;
    try {
      const path = id.split('/').map(encodeURIComponent).join('/');
      const response = await fetch(new URL(`file/${path}/investigation.json`, base()));
      if (!response.ok) throw new Error(`The server answered ${response.status} for ${id}.`);
      const text = await response.text();
      // Another may have been chosen meanwhile.
      if (id === this.of) this.take(JSON.parse(text));
    } catch (error) {
      this.error = (error as Error).message;
    }
  }

  /** Takes what `trueline symmetry --json` printed, or an investigation.json. */
  async open(file: File): Promise<void> {
    this.of = file.name;
    this.state = undefined;
    try {
      this.take(JSON.parse(await file.text()), file.name);
    } catch (error) {
      this.error = `${file.name}: ${(error as Error).message}`;
    }
  }

  private take(data: unknown, title = ''): void {
    const found = data as InvestigationState | SymmetryDiagnosis;
    if (found?.format === 'trueline/diagnosis/2' && Array.isArray(found.stages)) this.show(finished(found, title));
    else if (found?.format === 'trueline/investigation/1' && Array.isArray(found.stages)) this.show(found);
    else throw new Error('this is no investigation; give investigation.json or what trueline symmetry --json printed');
  }

  private show(next: InvestigationState): void {
    const before = new Map(this.state?.stages.map((stage) => [stage.id, { stage, text: JSON.stringify(stage) }]));
    const kept = (stage: StageReport) => {
      const old = before.get(stage.id);
      return old && old.text === JSON.stringify(stage) ? old.stage : stage;
    };
    this.error = '';
    this.state = { ...next, stages: next.stages.map(kept) };
  }
}

function finished(diagnosis: SymmetryDiagnosis, title: string): InvestigationState {
  return {
    format: 'trueline/investigation/1',
    title,
    command: diagnosis.stages[0]?.command ?? '',
    names: [],
    state: 'done',
    now: '',
    progress: null,
    plan: diagnosis.stages.map((stage) => ({ id: stage.id, title: stage.title })),
    stages: diagnosis.stages,
    diagnosis,
  };
}

export const investigation = new Investigation();
