/** Diagnoses a recording and gathers everything that is shown beside the diagnosis, in both languages at once: whoever shows it chooses by `tell`. The server and the page's worker do the same. */
import { causeById } from '../../doctor/causes.ts';
import { checks } from '../../doctor/checks/index.ts';
import { diagnose } from '../../doctor/diagnose.ts';
import type { Diagnosis } from '../../doctor/diagnosis.ts';
import { inLanguage, type Language, speak, tell } from '../../language/language.ts';
import type { Recording } from '../../recording/recording.ts';
import { scalarsSentence } from '../logs/scalars-sentence.ts';
import { symptomPicture } from '../pages/log-section.ts';
import { Gatherer } from '../pictures/gather.ts';
import type { Examined } from './examined-short.ts';

export interface ExamineOptions {
  pictures: boolean;
  /** The run is still being written: its last iteration may be there in part only. */
  unfinished: boolean;
  progress?: (iteration: number) => void;
}

export async function examine(recording: Recording, options: ExamineOptions): Promise<Examined> {
  // The whole thread speaks so from now on.
  speak('both');
  const gatherer = options.pictures ? new Gatherer() : undefined;
  const diagnosis = await diagnose(recording, {
    ...(options.progress ? { progress: options.progress } : {}),
    unfinished: options.unfinished,
    ...(gatherer ? { watch: gatherer.watch, prove: gatherer.prove, tokens: gatherer.tokens } : {}),
  });
  const entries = diagnosis.causes.map(({ id }) => causeById(id)).filter((entry) => entry !== undefined);
  return {
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
  if (!scalars) return '';
  const own = JSON.parse(tell(JSON.stringify({ scalars, causes }), language)) as Required<
    Pick<Diagnosis, 'scalars' | 'causes'>
  >;
  return inLanguage(language, () => scalarsSentence(own.scalars, own.causes));
}
