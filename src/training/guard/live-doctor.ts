/** The doctor beside a run: what is recorded of some iterations is also kept in memory, and the doctor is asked about it. It reads what the recording holds and nothing else, and changes nothing. */
import { diagnose } from '../../doctor/diagnose.ts';
import type { Cause } from '../../doctor/diagnosis.ts';
import { told } from '../../language/language.ts';
import type { Manifest } from '../../recording/manifest.ts';
import { Recording } from '../../recording/recording.ts';
import { memoryStore } from '../../recording/source.ts';
import { type ColumnData, RecordingWriter } from '../../recording/writer.ts';
import type { RecordingSink } from '../record/recorder.ts';
import type { Guard } from './guard.ts';

/** Below this the doctor would name a cause, and the guard would not yet stop a run for it. */
const sureEnough = 0.75;
/** Two in a row of so many iterations that are kept whole are examined, because a cause must be named twice. */
export const examinedEvery = 8;

/** Whether the n-th iteration that is kept whole is examined, counted from 0: the first four are. */
export function isExamined(whole: number): boolean {
  return whole < 4 || whole % examinedEvery < 2;
}

interface Part {
  table: string;
  columns: Record<string, ColumnData>;
}

export class LiveDoctor {
  private whole = 0;
  private keeping = false;
  private latest: Part[] = [];
  /** What was kept of the last three iterations to be examined, the oldest first. */
  private kept: Part[][] = [];
  /** Causes that the last examination named; null where it was put off. */
  private suspected: ReadonlySet<string> | null = new Set();

  constructor(
    private readonly manifest: Manifest,
    private readonly guard: Guard,
  ) {}

  /** The same sink, with copies of what is to be examined kept aside. */
  tee(sink: RecordingSink): RecordingSink {
    return {
      append: (table, columns) => {
        if (this.keeping) this.latest.push({ table, columns: copied(columns) });
        return sink.append(table, columns);
      },
      flush: () => sink.flush(),
      position: () => sink.position(),
      ...(sink.snapshot ? { snapshot: sink.snapshot.bind(sink) } : {}),
      close: (patch) => sink.close(patch),
    };
  }

  /** `kept` says whether the iteration is recorded whole: only then there is enough to look at. */
  begin(kept: boolean): void {
    this.keeping = kept && isExamined(this.whole);
    if (kept) this.whole++;
  }

  /**
   * After the iteration is recorded. A cause is told when two examinations in a row name it. So one that follows an examination without findings
   * is put off: the next one can do without it, unless it finds something itself.
   */
  async examine(): Promise<void> {
    if (!this.keeping) return;
    this.keeping = false;
    this.kept = [...this.kept.slice(-2), this.latest];
    this.latest = [];
    if (this.suspected?.size === 0) {
      this.suspected = null;
      return;
    }
    const sure = await this.ask(this.kept.slice(-2));
    const before =
      this.suspected ?? new Set(sure.length > 0 ? (await this.ask(this.kept.slice(-3, -1))).map(({ id }) => id) : []);
    for (const { id, summary, remedy } of sure)
      if (before.has(id))
        this.guard.nameCause(
          id,
          told(
            `${summary} What to change: ${remedy} More: trueline explain ${id}`,
            `${summary}应改动：${remedy}详见：trueline explain ${id}`,
          ),
        );
    this.suspected = new Set(sure.map(({ id }) => id));
  }

  /** Of what the doctor says about these iterations, that which a guard may repeat. */
  private async ask(iterations: readonly Part[][]): Promise<Cause[]> {
    const store = memoryStore('the run');
    const writer = await RecordingWriter.create(store, this.manifest);
    for (const { table, columns } of iterations.flat()) await writer.append(table, columns);
    await writer.close();
    const { causes } = await diagnose(await Recording.open(store));
    // A few iterations prove what numbers contradict each other; whether a setting suits the task, only a whole run can show.
    return causes.filter(({ confidence, residual_after }) => confidence >= sureEnough && residual_after !== undefined);
  }
}

/** The trainer fills its arrays anew in every iteration. */
function copied(columns: Record<string, ColumnData>): Record<string, ColumnData> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, data]): [string, ColumnData] => {
      if (Array.isArray(data) || ArrayBuffer.isView(data)) return [name, data.slice()];
      return [name, { values: data.values.slice(), offsets: data.offsets.slice() }];
    }),
  );
}
