/** Diagnoses a recording and gathers everything that is shown beside the diagnosis. The server and the page's worker do the same. */
import { causeById } from '../../doctor/causes.ts';
import { checks } from '../../doctor/checks/index.ts';
import { diagnose } from '../../doctor/diagnose.ts';
import type { Diagnosis } from '../../doctor/diagnosis.ts';
import { inLanguage, type Language, speak } from '../../language/language.ts';
import type { Recording } from '../../recording/recording.ts';
import { symptomPicture } from '../pages/log-section.ts';
import { Gatherer } from '../pictures/gather.ts';
import { scalarsSentence } from '../scalars-sentence.ts';
import type { Examined } from './examined-short.ts';

export interface ExamineOptions {
  /** The language that this whole thread speaks from now on. */
  language: Language;
  pictures: boolean;
  /** The run is still being written: its last iteration may be there in part only. */
  unfinished: boolean;
  progress?: (iteration: number) => void;
}

export async function examine(recording: Recording, options: ExamineOptions): Promise<Examined> {
  speak(options.language);
  const gatherer = options.pictures ? new Gatherer() : undefined;
  const diagnosis = await diagnose(recording, {
    ...(options.progress ? { progress: options.progress } : {}),
    unfinished: options.unfinished,
    ...(gatherer ? { watch: gatherer.watch, prove: gatherer.prove, tokens: gatherer.tokens } : {}),
  });
  const entries = diagnosis.causes.map(({ id }) => causeById(id)).filter((entry) => entry !== undefined);
  return {
    language: options.language,
    diagnosis,
    pictures: gatherer ? await gatherer.finish(recording, diagnosis) : null,
    ...(diagnosis.scalars
      ? {
          log: {
            sentence: [said('en', diagnosis), said('zh', diagnosis)],
            pictures: diagnosis.scalars.symptoms.map(symptomPicture).filter((picture) => picture !== null),
          },
        }
      : {}),
    entries: Object.fromEntries(entries.map((entry) => [entry.id, entry])),
    questions: Object.fromEntries(checks.map(({ id, question }) => [id, question])),
  };
}

function said(language: Language, { scalars, causes }: Diagnosis): string {
  return scalars ? inLanguage(language, () => scalarsSentence(scalars, causes)) : '';
}
