/** An investigation's diary: one file in its folder, written anew as stages end, so that the studio shows them as they come. Stages speak both languages at once; the file is in one, with what each sentence is in the other. It is also touched now and then; one that is not belongs to a program that was killed. */
import { mkdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { type Language, tell } from '../language/language.ts';
import { writeWhole } from '../recording/node.ts';
import type { StageReport } from '../symmetry/stage.ts';
import type { SymmetryDiagnosis } from '../symmetry/stages/explanation.ts';

export const investigationFile = 'investigation.json';

export interface InvestigationProgress {
  what: 'runs' | 'portions of play';
  done: number;
  all: number;
  secondsLeft: number | null;
}

export interface InvestigationState {
  format: 'trueline/investigation/1';
  /** What is investigated. */
  title: string;
  /** What it is told in. */
  language: Language;
  command: string;
  names: readonly string[];
  state: 'running' | 'done' | 'stopped';
  /** The question under way. */
  now: string;
  progress: InvestigationProgress | null;
  /** Every stage, in the order of the plan. */
  plan: { id: string; title: string }[];
  /** Those that have ended, in the order in which they did. */
  stages: readonly StageReport[];
  diagnosis: SymmetryDiagnosis | null;
  /** Every sentence here in the other language, by what it is here. */
  otherwise?: Record<string, string>;
}

/** Milliseconds between two writings, and writings between two touches. */
const interval = 1000;
const quiet = 5;

/** As JSON: told in its language, with every sentence in the other one beside. */
export function inItsLanguage(state: InvestigationState): string {
  const { language } = state;
  const otherwise: Record<string, string> = {};
  // The last part is written when every other was told.
  return JSON.stringify({ ...state, otherwise }, (_, value: unknown) => {
    if (typeof value !== 'string') return value;
    const said = tell(value, language);
    if (said !== value) otherwise[said] = tell(value, language === 'zh' ? 'en' : 'zh');
    return said;
  });
}

export class InvestigationDiary {
  private readonly state: InvestigationState;
  private readonly file: string;
  private readonly timer: NodeJS.Timeout;
  private changed = true;
  private ticks = 0;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly folder: string,
    about: Pick<InvestigationState, 'title' | 'language' | 'command' | 'names' | 'plan'>,
  ) {
    this.file = join(folder, investigationFile);
    this.state = {
      format: 'trueline/investigation/1',
      ...about,
      state: 'running',
      now: '',
      progress: null,
      stages: [],
      diagnosis: null,
    };
    this.timer = setInterval(() => this.tick(), interval);
    this.timer.unref();
    this.tick();
  }

  /** A question is begun; the stages so far have ended. */
  begin(now: string, stages: readonly StageReport[]): void {
    Object.assign(this.state, { now, stages, progress: null });
    this.changed = true;
  }

  progress(progress: InvestigationProgress): void {
    this.state.progress = progress;
    this.changed = true;
  }

  /** The last writing; without a diagnosis it was stopped. */
  async end(diagnosis: SymmetryDiagnosis | null): Promise<void> {
    clearInterval(this.timer);
    Object.assign(this.state, { state: diagnosis ? 'done' : 'stopped', progress: null, diagnosis });
    if (diagnosis) this.state.stages = diagnosis.stages;
    this.write();
    await this.writing;
  }

  private tick(): void {
    if (this.changed) this.write();
    else if (++this.ticks % quiet === 0) void utimes(this.file, new Date(), new Date()).catch(() => undefined);
  }

  private write(): void {
    this.changed = false;
    const text = inItsLanguage(this.state);
    this.writing = this.writing.then(async () => {
      await mkdir(this.folder, { recursive: true });
      await writeWhole(this.file, [new TextEncoder().encode(text)]);
    });
    // A disk that is full is told at the end.
    this.writing.catch(() => undefined);
  }
}
