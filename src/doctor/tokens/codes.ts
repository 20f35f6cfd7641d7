/** The words of `samples.source` and `responses.finish` as numbers. */
import { finishes, sources } from '../../recording/tables/token-columns.ts';

const numbered = <Word extends string>(words: readonly Word[]) =>
  Object.fromEntries(words.map((word, i) => [word, i])) as Record<Word, number>;

export const source = numbered(sources);
export const finish = numbered(finishes);
