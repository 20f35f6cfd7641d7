/** Rows on their way to the checks: read one iteration at a time, and judged as they come. What needs no check's memory happens here, so that a thread of its own may do it. */
import { RowJudge } from '../../../recording/check/judge.ts';
import { judgeRest } from '../../../recording/check/validate.ts';
import type { Recording } from '../../../recording/recording.ts';
import { iterations, type Slice } from './stream.ts';

export interface ReadingOptions {
  /** Whether policies are run on the rows, and need what they were run on. */
  withInputs: boolean;
  /** The run is still being written: its last iteration may be there in part only, and is left out. */
  unfinished: boolean;
}

export interface Reading {
  /** To be gone through once. */
  slices: AsyncIterable<Slice>;
  /** Once the slices were gone through: what is wrong with the recording itself. */
  problems(): Promise<readonly string[]>;
}

export function read(recording: Recording, { withInputs, unfinished }: ReadingOptions): Reading {
  const judge = new RowJudge(recording);
  async function* slices(): AsyncGenerator<Slice> {
    for await (const slice of iterations(recording, withInputs, judge)) {
      if (unfinished && slice.number === slice.last) return;
      const place = { file: `${recording.name}, iteration ${slice.number}` };
      for (const [table, chunk] of Object.entries(slice.chunks)) judge.see(table, chunk, place);
      const { samples, replays } = slice.chunks;
      if (samples && replays) judge.seeTogether(slice.number, samples, replays, place);
      yield slice;
    }
  }
  return {
    slices: slices(),
    problems: async () => {
      // What is still being written may point to rows that are not there yet.
      if (unfinished) return [];
      await judgeRest(recording, judge);
      return judge.problems;
    },
  };
}
