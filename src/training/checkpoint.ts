/** Everything that a run needs to go on as if it had never stopped, as one block of bytes. Between iterations no row is open, so none is kept. */
import type { Learner } from '../algorithms/learner.ts';
import type { PolicySave } from '../net/types.ts';
import { BadInput } from '../recording/bad-input.ts';
import { fromBytes, toBytes } from './blob.ts';
import type { Collector } from './collect/collector.ts';
import type { Origins } from './lineup/origin.ts';
import type { Settings } from './settings.ts';

export interface Checkpoint {
  settings: Settings;
  /** The next iteration, and decisions of learning agents so far. */
  iteration: number;
  steps: number;
  kernel: string;
  learners: { name: string; policy: PolicySave; numbers: Float64Array }[];
  worlds: ReturnType<Collector['save']>;
  /** What accompanies the policies, where anything does. */
  crew: unknown;
  /** The frozen agents of a line-up, which come from other runs. */
  origins?: Origins;
  guard: [string, number][];
  /** Chunks per table of the recording at this moment. */
  recording: Record<string, number> | null;
  /** The fault that the run was begun with, where there is one. The recording says nothing of it. */
  fault?: BegunFault;
}

/** What a continuation needs to break the run in the same way again. */
export interface BegunFault {
  name: string;
  /** The settings as they were before the fault changed them. */
  settings: Settings;
}

export function saveLearner(learner: Learner): Checkpoint['learners'][number] {
  const numbers = Float64Array.from([learner.rateFactor, learner.updates, ...learner.normaliser.save()]);
  return { name: learner.name, policy: learner.policy.save(), numbers };
}

export function loadLearner(learner: Learner, saved: Checkpoint['learners'][number]): void {
  if (learner.name !== saved.name)
    throw new BadInput(`the checkpoint holds the policy ${saved.name} where the run has ${learner.name}`);
  adoptLearner(learner, saved);
}

/** Makes a learner what another was, whatever the other was called. */
export function adoptLearner(learner: Learner, saved: Checkpoint['learners'][number]): void {
  learner.policy.load(saved.policy);
  const [rateFactor, updates, ...normaliser] = saved.numbers;
  learner.rateFactor = rateFactor;
  learner.updates = updates;
  learner.normaliser.load(normaliser);
}

export function encodeCheckpoint(checkpoint: Checkpoint): Uint8Array {
  return toBytes(checkpoint);
}

export function decodeCheckpoint(bytes: Uint8Array): Checkpoint {
  return fromBytes(bytes) as Checkpoint;
}

/** These may differ between a run and its continuation: how long it goes on, and what does not touch the numbers. */
const free = ['steps', 'threads', 'checkpoint', 'guard', 'name'];

/** A run goes on with the settings it was begun with, or its numbers would not be its own. */
export function requireSameSettings(saved: Settings, given: Settings): void {
  const path = difference(saved, given, '');
  if (path)
    throw new BadInput(
      `the checkpoint was made with other settings: ${path}; resume with the same, or begin a new run`,
    );
}

function difference(saved: unknown, given: unknown, path: string): string | undefined {
  if (free.includes(path)) return undefined;
  const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
  if (isObject(saved) && isObject(given)) {
    for (const key of new Set([...Object.keys(saved), ...Object.keys(given)])) {
      const found = difference(saved[key], given[key], path ? `${path}.${key}` : key);
      if (found) return found;
    }
    return undefined;
  }
  return saved === given ? undefined : `${path} was ${JSON.stringify(saved)} and is now ${JSON.stringify(given)}`;
}
