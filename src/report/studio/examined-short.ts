/** What a page is told of a diagnosis. It knows nothing of the doctor's program, so that a page that only shows verdicts does not load it. */
import type { CauseEntry } from '../../doctor/causes/cause.ts';
import type { Diagnosis } from '../../doctor/diagnosis.ts';
import { type Pair, tell } from '../../language/language.ts';
import type { Lines, Pictures } from '../pictures/picture.ts';

/** A diagnosis with everything that is shown beside it, as plain JSON. */
export interface Examined {
  diagnosis: Diagnosis;
  /** Left out while a run is under way, where the verdict is wanted quickly. */
  pictures: Pictures | null;
  /** What is known about the causes that were found, by id. */
  entries: Record<string, CauseEntry>;
  /** Of a log: its decisive fact in a sentence, and the curves of its symptoms. */
  log?: { sentence: Pair; pictures: Lines[] };
  /** What each check asks, by id. */
  questions: Record<string, Pair>;
}

/** A verdict in a row of a list. */
export interface ShortVerdict {
  verdict: Diagnosis['verdict'];
  soFar: boolean;
  /** The cause to mend first, with its sentence in both languages. */
  cause?: { id: string; meaning: string; chinese: string };
}

export function shortVerdict({ diagnosis, entries }: Examined): ShortVerdict {
  const [first] = diagnosis.causes;
  const entry = first && entries[first.id];
  return {
    verdict: diagnosis.verdict,
    soFar: diagnosis.so_far === true,
    ...(first
      ? {
          cause: {
            id: first.id,
            meaning: entry?.meaning ?? tell(first.summary, 'en'),
            chinese: entry?.chinese.meaning ?? tell(first.summary, 'zh'),
          },
        }
      : {}),
  };
}
