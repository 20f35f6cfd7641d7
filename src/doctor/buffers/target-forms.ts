/** Targets of programs with a replay buffer, recomputed from the stored window under the formulas that programs use. `usual` is the healthy one; where the window is shorter than n, the buffer ended there. */

/** Where a window stops: at its own ends; never; at ends, but rewards after them count; where its first step ended only; at time limits as at terminations. */
export type Ends = 'own' | 'ignored' | 'rewards-cross' | 'first-only' | 'limit-is-end';

export interface TargetForm {
  readonly ends: Ends;
  /** Rewards more or fewer than n. */
  readonly rewards: number;
  /** The bootstrap's discount: gamma to the power of n and this many; `one`: gamma alone. */
  readonly power: number | 'one';
  /** What the entropy of the next action does to the bootstrap: it is added, taken off, or left out. */
  readonly entropy: 1 | -1 | 0;
}

export const usual: TargetForm = { ends: 'own', rewards: 0, power: 0, entropy: 1 };

export interface Stored {
  rewards: ArrayLike<number>;
  terminated: ArrayLike<number>;
  truncated: ArrayLike<number>;
  from: number;
  length: number;
  n: number;
  gamma: number;
  bootstrap: number;
  /** Temperature times the log-probability of the next action; 0 where targets are not soft. */
  soft: number;
}

export function targetOf({ ends, rewards, power, entropy }: TargetForm, row: Stored): number {
  const { from, length, n, gamma } = row;
  // A whole window of another length looks at its own ends; one that only adds up too little or too much at those of n steps.
  const whole = power === rewards ? n + rewards : n;
  const paid = Math.min(Math.max(1, n + rewards), length);
  const looked = Math.min(Math.max(1, whole), length);
  let [total, weight, taken] = [0, 1, 0];
  let [stopped, over] = [false, false];
  for (let k = 0; k < Math.max(paid, looked); k++) {
    if (k < paid) total += weight * row.rewards[from + k];
    weight *= gamma;
    if (stopped || k >= looked) continue;
    taken = k + 1;
    const [terminated, truncated] = [row.terminated[from + k] === 1, row.truncated[from + k] === 1];
    if (ends === 'ignored' || (ends === 'first-only' && k > 0) || !(terminated || truncated)) continue;
    over = terminated || ends === 'limit-is-end';
    stopped = true;
    if (ends !== 'rewards-cross') break;
  }
  if (over) return total;
  const steps = power === 'one' ? 1 : power === rewards ? taken : taken + power;
  return total + gamma ** Math.max(0, steps) * (row.bootstrap - entropy * row.soft);
}

/** All forms, those with the fewest departures from the usual one first. */
export function targetForms(steps: boolean, soft: boolean): TargetForm[] {
  const ends: Ends[] = ['own', 'limit-is-end', 'ignored', 'rewards-cross', 'first-only'];
  const counts: Pick<TargetForm, 'rewards' | 'power'>[] = [
    { rewards: 0, power: 0 },
    { rewards: 0, power: -1 },
    { rewards: 0, power: 1 },
    ...(steps
      ? ([
          { rewards: 0, power: 'one' },
          { rewards: -1, power: 0 },
          { rewards: -1, power: -1 },
          { rewards: 1, power: 0 },
          { rewards: 1, power: 1 },
        ] as const)
      : []),
  ];
  const entropies = soft ? ([1, 0, -1] as const) : ([1] as const);
  const all = ends.flatMap((end) =>
    counts.flatMap((count) => entropies.map((entropy): TargetForm => ({ ends: end, ...count, entropy }))),
  );
  const departures = (form: TargetForm) =>
    Number(form.ends !== 'own') + Number(form.rewards !== 0 || form.power !== 0) + Number(form.entropy !== 1);
  return all.sort((a, b) => departures(a) - departures(b));
}
