/** Five one-idea games that any learner must solve, each isolating one part. All but one last a single step, and every end is a termination. */
import { z } from 'zod';
import type { RandomStream } from '../math/random.ts';
import type { GameShape } from './game.ts';
import { IndependentSeats } from './independent.ts';

export const probeSettings = z.strictObject({
  seats: z.int().min(1).max(64).default(1).describe('How many seats play side by side, each for itself.'),
});
export type ProbeSettings = z.infer<typeof probeSettings>;

interface Probe {
  /** What the learner must be able to do. */
  readonly summary: string;
  readonly actions: number;
  readonly steps: number;
  /** Whether the observation is a fair draw of -1 or +1; otherwise it is the number of steps taken. */
  readonly cue: boolean;
  reward(cue: number, choice: number, last: boolean): number;
  /** Expected return of the best policy. */
  readonly optimum: number;
  /** Value of the best policy where the observation is seen. */
  value(observation: number, discount: number): number;
}

export const probes = {
  'probe-value': {
    summary: 'One action, nothing to see, always 1: the value must become 1.',
    actions: 1,
    steps: 1,
    cue: false,
    reward: () => 1,
    optimum: 1,
    value: () => 1,
  },
  'probe-observation': {
    summary: 'One action, a cue of -1 or +1, paid 1.5 plus half the cue: the value must follow the observation.',
    actions: 1,
    steps: 1,
    cue: true,
    reward: (cue) => 1.5 + cue / 2,
    optimum: 1.5,
    value: (cue) => 1.5 + cue / 2,
  },
  'probe-discount': {
    summary: 'One action, two steps, paid 1 at the end: the first value must be the discount.',
    actions: 1,
    steps: 2,
    cue: false,
    reward: (_cue, _choice, last) => (last ? 1 : 0),
    optimum: 1,
    value: (step, discount) => (step === 0 ? discount : 1),
  },
  'probe-action': {
    summary: 'Two actions, nothing to see, paid +1 for the second and -1 for the first: the policy must choose.',
    actions: 2,
    steps: 1,
    cue: false,
    reward: (_cue, choice) => (choice === 1 ? 1 : -1),
    optimum: 1,
    value: () => 1,
  },
  'probe-observation-action': {
    summary: 'Two actions and a cue of -1 or +1, paid +1 for the action that matches it and -1 for the other.',
    actions: 2,
    steps: 1,
    cue: true,
    reward: (cue, choice) => (choice === (cue > 0 ? 1 : 0) ? 1 : -1),
    optimum: 1,
    value: () => 1,
  },
} satisfies Record<string, Probe>;

export type ProbeName = keyof typeof probes;

export class ProbeGame extends IndependentSeats {
  private readonly probe: Probe;

  constructor(name: ProbeName, settings: ProbeSettings, worlds: number) {
    const probe: Probe = probes[name];
    const shape: Omit<GameShape, 'state'> = {
      seats: settings.seats,
      observation: 1,
      actions: probe.actions,
      candidates: probe.actions,
      features: 0,
      horizon: probe.steps,
    };
    super(name, settings, shape, worlds, 1);
    this.probe = probe;
  }

  protected begin(place: number, stream: RandomStream): void {
    this.obs[place] = this.probe.cue ? stream.below(2) * 2 - 1 : 0;
  }

  protected play(place: number, choice: number): void {
    const taken = ++this.memory[place];
    const last = taken === this.probe.steps;
    this.reward[place] = this.probe.reward(this.obs[place], choice, last);
    if (last) this.terminated[place] = 1;
    if (!this.probe.cue) this.obs[place] = taken;
  }
}
