/** One run of the bench: train, diagnose, compare with the truth. The diagnosis sees the recording and nothing else. */
import { diagnose } from '../../doctor/diagnose.ts';
import type { Diagnosis, Verdict } from '../../doctor/diagnosis.ts';
import { createEngine } from '../../net/engine.ts';
import type { Engine } from '../../net/types.ts';
import { memoryStore, Recording, RecordingWriter } from '../../recording/index.ts';
import type { SettingsInput } from '../../training/settings.ts';
import { cleanStages, type Stages } from '../../training/stages.ts';
import { Trainer } from '../../training/trainer.ts';
import { effect } from '../effect.ts';
import type { Strength } from '../fault.ts';
import { applyFault, findFault } from '../index.ts';
import { type Job, runSettings } from './plan.ts';
import { iterations } from './setups.ts';

/** `first`: named first; `among`: named, not first; `open`: rows left unexplained, with the right cause among those that could still fit; `no-effect`: no recorded row differs from the clean twin's. */
export type Result =
  | 'first'
  | 'among'
  | 'open'
  | 'missed'
  | 'no-effect'
  | 'silent'
  | 'false-alarm'
  | 'not-enough-evidence';

export interface Outcome {
  job: Job;
  result: Result;
  /** The cause that should have been named; empty for a healthy run. */
  cause: string;
  verdict: Verdict;
  /** Causes, then remarks; a remark has no confidence. */
  named: { id: string; confidence?: number }[];
  /** What the fault's seed drew. */
  strength: Strength;
  /** Whether the agents and the onset that were named are those that the fault struck; absent where the cause was not named or the fault does not choose. */
  agentsRight?: boolean;
  onsetRight?: boolean;
  seconds: number;
}

/** Engines keep the memory of every policy they made, so one is used for so many runs. */
const runsPerEngine = 16;

/** Trains and diagnoses jobs one after the other; a clean twin is trained once for all faults of its setup. */
export class Bench {
  private engine: Engine | null = null;
  private runs = 0;
  private readonly twins = new Map<string, Recording>();

  async run(job: Job): Promise<Outcome> {
    const begun = performance.now();
    const outcome = job.fault === '' ? await this.healthy(job) : await this.faulty(job);
    return { ...outcome, seconds: Number(((performance.now() - begun) / 1000).toFixed(3)) };
  }

  dispose(): void {
    this.engine?.dispose();
    this.engine = null;
  }

  private async healthy(job: Job): Promise<Omit<Outcome, 'seconds'>> {
    const diagnosis = await diagnose(await this.record(runSettings(job), cleanStages));
    const results = {
      healthy: 'silent',
      faulty: 'false-alarm',
      unexplained: 'false-alarm',
      'not-enough-evidence': 'not-enough-evidence',
    } as const;
    return { job, result: results[diagnosis.verdict], cause: '', strength: {}, ...told(diagnosis) };
  }

  private async faulty(job: Job): Promise<Omit<Outcome, 'seconds'>> {
    const fault = findFault(job.fault);
    const settings = runSettings(job);
    const { stages, settings: broken, strength } = applyFault(fault, job.seed, cleanStages, settings);
    const recording = await this.record(broken, stages);
    const pure = fault.stage === 'settings';
    const twin = await this.twin(pure ? settings : broken);
    const touched = await effect(recording, twin);
    const diagnosis = await diagnose(recording);
    // A reading that misleads and drives nothing is rightly a remark.
    const place = told(diagnosis).named.findIndex(({ id }) => id === fault.cause);
    const open =
      diagnosis.verdict === 'unexplained' &&
      diagnosis.unexplained.some(({ candidates }) => candidates.includes(fault.cause));
    const result =
      touched.length === 0 ? 'no-effect' : place === 0 ? 'first' : place > 0 ? 'among' : open ? 'open' : 'missed';
    const named = diagnosis.causes[place];
    const names = recording.manifest.agents?.map(({ name }) => name) ?? [];
    const agents = typeof strength.agents === 'string' && strength.agents !== 'all' ? strength.agents : null;
    return {
      job,
      result,
      cause: fault.cause,
      strength,
      ...told(diagnosis),
      ...(named && agents !== null
        ? {
            agentsRight: sameNames(
              named.agents,
              agents.split(' ').map((agent) => names[Number(agent)]),
            ),
          }
        : {}),
      ...(named && typeof strength.onset === 'number' && strength.onset > 0
        ? { onsetRight: named.onset === strength.onset }
        : {}),
    };
  }

  private async twin(settings: SettingsInput): Promise<Recording> {
    const key = JSON.stringify(settings);
    const kept = this.twins.get(key);
    if (kept) return kept;
    const recording = await this.record(settings, cleanStages);
    if (this.twins.size >= 8) this.twins.delete(this.twins.keys().next().value as string);
    this.twins.set(key, recording);
    return recording;
  }

  private async record(settings: SettingsInput, stages: Stages): Promise<Recording> {
    if (this.runs++ % runsPerEngine === 0) {
      this.dispose();
      this.engine = await createEngine({ kernel: 'simd', threads: 1 });
    }
    const trainer = new Trainer(settings, { engine: this.engine!, stages });
    const store = memoryStore('run');
    const writer = await RecordingWriter.create(store, trainer.manifest());
    trainer.record(writer);
    for (let i = 0; i < iterations; i++) await trainer.iterate();
    await writer.close();
    return Recording.open(store);
  }
}

function told(diagnosis: Diagnosis): Pick<Outcome, 'verdict' | 'named'> {
  return {
    verdict: diagnosis.verdict,
    named: [
      ...diagnosis.causes.map(({ id, confidence }) => ({ id, confidence })),
      ...diagnosis.remarks.map(({ id }) => ({ id })),
    ],
  };
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name) => b.includes(name));
}
