/** What a fault of the zoo is: one stage of the flow broken from outside, in one way, with a strength that its seed draws. A recording never names it. */
import type { NetworkSettings, PpoSettings } from '../algorithms/ppo/settings.ts';
import { told } from '../language/language.ts';
import type { RandomStream } from '../math/random.ts';
import type { Settings } from '../training/settings.ts';
import type { Stages } from '../training/stages.ts';
import type { Need, Traits } from './traits.ts';

/** `settings` where the run is broken by what it was told, not by code. */
export type StageName = keyof Stages | 'settings';

export interface FaultContext {
  settings: Settings;
  traits: Traits;
  /** How many iterations the run will about have. */
  iterations: number;
}

/** What a fault does to the settings, over what the user gave. */
export interface SettingsChange {
  ppo?: Partial<PpoSettings>;
  network?: Partial<NetworkSettings>;
}

export type Strength = Record<string, number | string>;

/** Who watches a fault that begins late must know that there is nothing to see before. */
export function onsetNotice({ onset }: Strength): string | undefined {
  if (typeof onset !== 'number' || onset === 0) return undefined;
  const first = onset.toLocaleString('en-US');
  return told(
    `the fault begins in iteration ${first}; until then the run is as it would be without it`,
    `故障从第 ${first} 次迭代开始；在此之前训练与没有故障时一样`,
  );
}

/** A fault with its numbers drawn. State that it keeps between iterations lives here, so one is made per run. */
export interface MadeFault {
  /** The stages that it replaces; those it wraps are called as `clean`. */
  stages?: (clean: Stages) => Partial<Stages>;
  settings?: SettingsChange;
  /** The numbers drawn, for tables and tests; not for the recording. */
  strength: Strength;
}

export interface Fault {
  readonly id: string;
  /** The cause that a diagnosis must name. */
  readonly cause: string;
  readonly stage: StageName;
  /** What goes wrong, in one sentence. */
  readonly sentence: string;
  /** The recorded columns, as `table.column`, in which it shows directly. */
  readonly shows: readonly string[];
  /** What the game and the settings must have for the fault to mean anything. */
  readonly needs?: readonly Need[];
  make(stream: RandomStream, context: FaultContext): MadeFault;
}

/** Uniform in [low, high). */
export function between(stream: RandomStream, low: number, high: number): number {
  return low + (high - low) * stream.uniform();
}

/** Log-uniform in [low, high): every order of magnitude is equally likely. */
export function magnitude(stream: RandomStream, low: number, high: number): number {
  return Math.exp(between(stream, Math.log(low), Math.log(high)));
}

/** A whole number from low to high, both included. */
export function whole(stream: RandomStream, low: number, high: number): number {
  return low + stream.below(high - low + 1);
}

/** Three significant digits, so that a strength reads well and is exactly what was used. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
