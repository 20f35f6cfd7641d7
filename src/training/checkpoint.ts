/** Everything that a run needs to go on as if it had never stopped, as one block of bytes. Between iterations no row is open, so none is kept. */

import type { Learner } from '../algorithms/learner.ts';
import { told } from '../language/language.ts';
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
    throw new BadInput(
      told(
        `the checkpoint holds the policy ${saved.name} where the run has ${learner.name}`,
        `检查点里的策略是 ${saved.name}，而训练的是 ${learner.name}`,
      ),
    );
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
const free = ['steps', 'engine', 'threads', 'checkpoint', 'guard', 'name'];

/** A run goes on with the settings it was begun with, or its numbers would not be its own. */
export function requireSameSettings(saved: Settings, given: Settings): void {
  const path = difference(saved, given, '');
  if (path)
    throw new BadInput(
      told(
        `the checkpoint was made with other settings: ${path}; resume with the same, or begin a new run`,
        `检查点是用其他设置生成的：${path}；请用相同设置继续，或重新开始训练`,
      ),
    );
}

/** Neither the fault nor the kernel that it was begun with may change on the way. */
export function requireSameMaker(checkpoint: Checkpoint, fault: string | undefined, kernel: string): void {
  const was = checkpoint.fault?.name;
  if (was !== fault)
    throw new BadInput(
      told(
        `the run was begun with ${was ? `the fault ${was}` : 'no fault'}, and is to go on with ${fault ?? 'none'}; it would be neither`,
        `训练开始时${was ? `带有故障 ${was}` : '没有故障'}，而现在要${fault ? `带着故障 ${fault}` : '不带故障'}继续；那样两者都不是`,
      ),
    );
  if (checkpoint.kernel !== kernel)
    throw new BadInput(
      told(
        `the checkpoint was made with the ${checkpoint.kernel} kernel and this machine runs ${kernel}; bits are promised per kernel, so resume with kernel ${checkpoint.kernel}`,
        `检查点是用 ${checkpoint.kernel} 内核生成的，而这台机器运行 ${kernel}；逐位一致只按内核保证，请用内核 ${checkpoint.kernel} 继续`,
      ),
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
  return saved === given
    ? undefined
    : told(
        `${path} was ${JSON.stringify(saved)} and is now ${JSON.stringify(given)}`,
        `${path} 原来是 ${JSON.stringify(saved)}，现在是 ${JSON.stringify(given)}`,
      );
}
