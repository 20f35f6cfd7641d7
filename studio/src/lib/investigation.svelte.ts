/** An investigation that is looked at: read again whenever its file was written, stage by stage, so that a picture is drawn anew only where its stage has changed. */
import type { InvestigationState } from '../../../src/cli/investigation.ts';
import type { StageReport } from '../../../src/symmetry/stage.ts';
import type { SymmetryDiagnosis } from '../../../src/symmetry/stages/explanation.ts';
import { say, words } from '../texts/index.svelte.ts';
import { answered, base } from './stores.ts';

class Investigation {
  private written = $state.raw<InvestigationState | undefined>(undefined);
  /** In the language that is spoken. */
  readonly state = $derived(
    this.written && this.written.language !== words.language ? inOther(this.written) : this.written,
  );
  error = $state('');
  private of = '';

  /** Reads it from the server. */
  async read(id: string): Promise<void> {
    if (id !== this.of) this.written = undefined;
    this.of = id;
    try {
      const path = id.split('/').map(encodeURIComponent).join('/');
      const response = await fetch(new URL(`file/${path}/investigation.json`, base()));
      if (!response.ok) throw new Error(`${id}: ${answered(response.status)}`);
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
    this.written = undefined;
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
    else throw new Error(say('symmetry.wrong'));
  }

  private show(next: InvestigationState): void {
    const before = new Map(this.written?.stages.map((stage) => [stage.id, { stage, text: JSON.stringify(stage) }]));
    const kept = (stage: StageReport) => {
      const old = before.get(stage.id);
      return old && old.text === JSON.stringify(stage) ? old.stage : stage;
    };
    this.error = '';
    this.written = { ...next, stages: next.stages.map(kept) };
  }
}

function finished(diagnosis: SymmetryDiagnosis, title: string): InvestigationState {
  return {
    format: 'trueline/investigation/1',
    title,
    language: words.language,
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

const others = new WeakMap<object, unknown>();

/** The same where another language is spoken than it was written in. What was told once is the same object, so that no picture is drawn again. */
function inOther(written: InvestigationState): InvestigationState {
  const { otherwise = {}, now, stages, diagnosis } = written;
  const other = <T extends object>(part: T): T => {
    if (!others.has(part)) {
      const told = (_: string, value: unknown) => (typeof value === 'string' ? (otherwise[value] ?? value) : value);
      others.set(part, JSON.parse(JSON.stringify(part), told));
    }
    return others.get(part) as T;
  };
  return {
    ...written,
    now: otherwise[now] ?? now,
    stages: stages.map(other),
    diagnosis: diagnosis && other(diagnosis),
  };
}

export const investigation = new Investigation();
